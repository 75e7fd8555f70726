//! A recording's PSCI latencies, one cell per CPU and metric, with causes.

use crate::causes::Cause;
use crate::split::Split;
use crate::timeline::{Mark, Timeline};
use evidence::Iterations;
use recording::metrics::{self, Metric};
use recording::{Measure, Recording, Series, total_order};
use std::collections::{BTreeMap, BTreeSet};

/// One cell of a table: a metric of a CPU in a case, over all iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct CellResult {
    /// Release or configuration.
    pub variant: String,
    /// Case.
    pub case: String,
    /// Mode.
    pub mode: String,
    /// The CPU's number.
    pub cpu: u16,
    /// Cluster of the cell.
    pub cluster: u16,
    /// Core of the cell within the cluster.
    pub core: u16,
    /// `lead` or `non-lead`.
    pub role: String,
    /// Place among the CPUs of its cluster by powerdown, from 1: the n-th to get the cluster's lock
    /// or the SCP.
    pub rank_in_cluster: usize,
    /// Place among all CPUs by powerdown, from 1.
    pub rank: usize,
    /// True if it flushed the L2: the last of its cluster to go down.
    pub last_man: bool,
    /// True if CPUs went down in different orders in different iterations. A CPU's figures are then
    /// of iterations in which it had different parts, and those of one row or one cluster need not
    /// belong together.
    pub order_varies: bool,
    /// `powerdown`, `wakeup`, `cache_flush` or `latency`.
    pub metric: String,
    /// The median over the iterations, a value that occurred (the lower of the middle two), in
    /// microseconds.
    pub value: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// Number of iterations.
    pub count: usize,
    /// Causes of the median iteration, in ticks; where it has no events, of the one next to it that
    /// has.
    pub split: Split,
    /// Length of a tick in microseconds.
    pub tick_us: f64,
}

impl CellResult {
    /// The time that the median iteration spent on a cause, in microseconds; `None` if it did not.
    pub fn microseconds_of(&self, cause: Cause) -> Option<f64> {
        self.split
            .causes
            .get(&cause)
            .map(|&ticks| ticks as f64 * self.tick_us)
    }
}

/// True if the order of locks decides which CPU has which figures, so that CPUs match by rank and
/// not by number (2017 document, Method: "the values for each CPU are sometimes interchanged,
/// depending on the order in which locks are acquired").
pub fn lock_order_decides(case: &str, mode: &str) -> bool {
    mode != "serial" && case.starts_with("suspend")
}

/// A measure in microseconds, if it is a time: an imported log keeps its nanoseconds, and an
/// emulator that counts instructions knows no time at all.
pub fn microseconds(recording: &Recording, measure: &Measure) -> Option<f64> {
    let factor = recording::units::factor(recording.text(measure.unit), "us")?;
    Some(measure.value * factor)
}

/// Values in order, from the lower of the middle two outwards.
fn nearest_first(values: &[(f64, u32)]) -> impl Iterator<Item = (f64, u32)> + '_ {
    let middle = values.len().saturating_sub(1) / 2;
    let (before, from) = values.split_at(middle);
    let pairs = before.iter().rev().map(Some).chain(std::iter::repeat(None));
    let outwards = from
        .iter()
        .map(Some)
        .chain(std::iter::repeat(None))
        .zip(pairs)
        .take(values.len());
    // The middle itself comes first, then its neighbours by turns.
    outwards
        .flat_map(|(after, before)| [after, before])
        .flatten()
        .copied()
}

/// All cells of a recording's `psci-latency` measures that are times, in order of series, CPU and
/// metric.
pub fn cells(
    recording: &Recording,
    timelines: &BTreeMap<(Series, u32), Timeline>,
) -> Vec<CellResult> {
    let tick_us = recording
        .header
        .time
        .counter_hz
        .map_or(0.0, |hz| 1e6 / hz as f64);

    let intervals: Vec<Metric> = metrics::intervals().collect();
    let mut groups = Groups::new();
    let mut places = BTreeMap::new();
    let mut roles: BTreeMap<(Series, u16), String> = BTreeMap::new();
    for measure in recording.measures() {
        let metric = intervals
            .iter()
            .position(|metric| metric.name == recording.text(measure.metric));
        let (Some(cpu), Some(metric)) = (measure.cpu, metric) else {
            continue;
        };
        let Some(microseconds) = microseconds(recording, measure) else {
            continue;
        };
        groups
            .entry((measure.series, cpu, metric))
            .or_default()
            .push((microseconds, measure.iteration));
        places.insert(
            cpu,
            (measure.cluster.unwrap_or(0), measure.core.unwrap_or(cpu)),
        );
        if let Some(role) = measure.role {
            roles.insert((measure.series, cpu), recording.text(role).to_owned());
        }
    }

    let varies = orders_that_vary(recording, &groups, &intervals);
    let mut cells = Vec::new();
    for ((series, cpu, metric), mut values) in groups {
        values.sort_by_key(|of| (total_order(of.0), of.1));
        let (value, _) = values[(values.len() - 1) / 2];
        let (variant, case, mode) = recording.series_texts(series);
        let (cluster, core) = places[&cpu];
        cells.push(CellResult {
            variant: variant.to_owned(),
            case: case.to_owned(),
            mode: mode.to_owned(),
            cpu,
            cluster,
            core,
            role: roles.get(&(series, cpu)).cloned().unwrap_or_default(),
            rank_in_cluster: 0,
            rank: 0,
            last_man: false,
            order_varies: varies.contains(&series),
            metric: intervals[metric].name.to_owned(),
            value,
            min: values[0].0,
            max: values[values.len() - 1].0,
            count: values.len(),
            split: split(timelines, series, cpu, intervals[metric].name, &values),
            tick_us,
        });
    }
    rank(&mut cells);
    cells
}

/// The causes of the iteration nearest to the median that has a timeline.
fn split(
    timelines: &BTreeMap<(Series, u32), Timeline>,
    series: Series,
    cpu: u16,
    metric: &str,
    values: &[(f64, u32)],
) -> Split {
    nearest_first(values)
        .find_map(|(_, iteration)| {
            let timeline = timelines.get(&(series, iteration))?;
            let (from, to) = window(timeline, cpu, metric)?;
            Some(Split::new(timeline, cpu, from, to))
        })
        .unwrap_or_default()
}

/// Microseconds with their iteration, by series, CPU and place among the intervals.
type Groups = BTreeMap<(Series, u16, usize), Vec<(f64, u32)>>;

/// The series in which locks decide the order of the powerdowns, and decided it differently in
/// different iterations.
fn orders_that_vary(
    recording: &Recording,
    groups: &Groups,
    intervals: &[Metric],
) -> BTreeSet<Series> {
    let varies = |&series: &Series| {
        let (_, case, mode) = recording.series_texts(series);
        let each = groups
            .range((series, 0, 0)..=(series, u16::MAX, usize::MAX))
            .filter(|((.., metric), _)| intervals[*metric] == metrics::POWERDOWN)
            .flat_map(|((_, cpu, _), values)| {
                values.iter().map(|(us, iteration)| (*iteration, *cpu, *us))
            });
        lock_order_decides(case, mode) && each.collect::<Iterations<_, _>>().orders().len() > 1
    };
    let series: BTreeSet<Series> = groups.keys().map(|(series, ..)| *series).collect();
    series.into_iter().filter(varies).collect()
}

/// Fills in the places by powerdown and who was the last man.
fn rank(cells: &mut [CellResult]) {
    let series = |cell: &CellResult| (cell.variant.clone(), cell.case.clone(), cell.mode.clone());
    // Each with its CPU, its cluster and whether the CPU was the last man.
    let mut powerdowns: BTreeMap<_, Vec<(f64, u16, u16, bool)>> = BTreeMap::new();
    for cell in cells
        .iter()
        .filter(|cell| cell.metric == metrics::POWERDOWN.name)
    {
        let last_man = cell.split.causes.contains_key(&Cause::FlushL2);
        let powerdown = (cell.value, cell.cpu, cell.cluster, last_man);
        powerdowns.entry(series(cell)).or_default().push(powerdown);
    }
    for table in powerdowns.values_mut() {
        table.sort_by_key(|of| (total_order(of.0), of.1));
    }
    for cell in cells {
        let Some(table) = powerdowns.get(&series(cell)) else {
            continue;
        };
        let Some(place) = table.iter().position(|(_, cpu, ..)| *cpu == cell.cpu) else {
            continue;
        };
        cell.last_man = table[place].3;
        cell.rank = place + 1;
        let in_cluster = table[..=place].iter().filter(|of| of.2 == cell.cluster);
        cell.rank_in_cluster = in_cluster.count();
    }
}

/// The places of the events that bound a metric of a CPU, in the call that the case measures: for a
/// suspend its first one; without one its first CPU_OFF. The interval starts before the CPU calls
/// again.
pub fn window(timeline: &Timeline, cpu: u16, metric: &str) -> Option<(usize, usize)> {
    let steps = timeline.steps.get(&cpu)?;
    let interval = metrics::by_name(metric)?.interval?;
    let (first_mark, last_mark) = (
        Mark::of_point(interval.first)?,
        Mark::of_point(interval.last)?,
    );
    let enters = |function: &&str| {
        steps.iter().position(|step| {
            step.mark == Mark::ENTER_PSCI && smc::name(step.argument) == Some(function)
        })
    };
    let enter = interval.calls.iter().find_map(enters)?;
    let end = steps[enter + 1..]
        .iter()
        .position(|step| step.mark == Mark::ENTER_PSCI)
        .map_or(steps.len(), |after| enter + 1 + after);
    let first = enter
        + steps[enter..end]
            .iter()
            .position(|step| step.mark == first_mark)?;
    let last = first
        + steps[first..]
            .iter()
            .position(|step| step.mark == last_mark)?;
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Timelines;
    use crate::testing::{SUSPEND, add, empty, of_events};
    use crate::timeline::timelines;
    use recording::Header;

    /// Powerdowns of two CPUs in two iterations.
    fn recording(mode: &str, powerdowns: [[f64; 2]; 2]) -> Recording {
        let mut recording = empty();
        let series = recording.series("v", "suspend-level0", mode);
        for (iteration, values) in (0..).zip(powerdowns) {
            for (cpu, value) in (0..).zip(values) {
                let measure = recording.measure(series, iteration, "powerdown", "us", value);
                (measure.cpu, measure.cluster, measure.core) = (Some(cpu), Some(0), Some(cpu));
            }
        }
        recording
    }

    /// CPUs 0 to 2 of cluster 1 and CPU 3 of cluster 0; each flushes in its call, CPU 2 the L2 as
    /// well.
    #[test]
    fn places_are_by_powerdown_and_the_last_man_is_who_flushed_the_l2() {
        let mut recording = empty();
        recording.header.time.counter_hz = Some(1_000_000);
        let series = recording.series("v", "suspend-deepest", "parallel");
        for (cpu, cluster, powerdown) in [(0, 1, 30), (1, 1, 10), (2, 1, 40), (3, 0, 30)] {
            let l2 = if cpu == 2 {
                Some((3, "flushed-l2-lines"))
            } else {
                None
            };
            let begin = [(0, "enter-psci"), (1, "enter-cflush")];
            let end = [(5, "exit-cflush"), (powerdown, "enter-hw-low-pwr")];
            for (ticks, point) in begin.into_iter().chain(l2).chain(end) {
                let argument = if point == "enter-psci" { SUSPEND } else { 0 };
                add(&mut recording, series, 0, &[(cpu, ticks, point, argument)]);
            }
            for (metric, value) in [("powerdown", powerdown as f64), ("cache_flush", 4.0)] {
                let measure = recording.measure(series, 0, metric, "us", value);
                (measure.cpu, measure.cluster, measure.core) =
                    (Some(cpu), Some(cluster), Some(cpu));
            }
        }
        for cell in Timelines::new(&recording).cells() {
            let (rank, in_cluster, last_man) =
                [(2, 2, false), (1, 1, false), (4, 3, true), (3, 1, false)][usize::from(cell.cpu)];
            let found = (cell.rank, cell.rank_in_cluster, cell.last_man);
            assert_eq!(
                found,
                (rank, in_cluster, last_man),
                "CPU {} {}",
                cell.cpu,
                cell.metric
            );
            let ticks: u64 = cell.split.causes.values().sum();
            assert_eq!(ticks as f64, cell.value, "CPU {} {}", cell.cpu, cell.metric);
        }
    }

    /// A CPU that turns another on, suspends, wakes, and suspends again without a flush.
    #[test]
    fn a_window_is_in_the_first_call_that_its_metric_is_of() {
        let (recording, series) = of_events(&[
            (0, 0, "enter-psci", smc::CPU_ON | smc::SMC64),
            (0, 5, "exit-psci", 0),
            (0, 10, "enter-psci", SUSPEND),
            (0, 12, "enter-cflush", 0),
            (0, 20, "exit-cflush", 0),
            (0, 25, "enter-hw-low-pwr", 0),
            (0, 40, "exit-hw-low-pwr", 0),
            (0, 49, "exit-psci", 0),
            (0, 60, "enter-psci", SUSPEND),
            (0, 70, "enter-hw-low-pwr", 0),
        ]);
        let timelines = timelines(&recording);
        let timeline = &timelines[&(series, 0)];
        let bounds = |metric: &str| {
            window(timeline, 0, metric)
                .map(|(from, to)| (timeline.steps[&0][from].ticks, timeline.steps[&0][to].ticks))
        };
        assert_eq!(bounds("powerdown"), Some((10, 25)));
        assert_eq!(bounds("cache_flush"), Some((12, 20)));
        assert_eq!(bounds("wakeup"), Some((40, 49)));
        assert_eq!(bounds("latency"), None, "it is of PSCI_VERSION");
        assert_eq!(bounds("no such metric"), None);
        assert_eq!(window(timeline, 1, "powerdown"), None, "no such CPU");
    }

    /// The point that is missing from a call is not taken from the next one.
    #[test]
    fn a_window_ends_before_the_cpu_calls_again() {
        let (recording, series) = of_events(&[
            (0, 0, "enter-psci", SUSPEND),
            (0, 5, "exit-psci", 0),
            (0, 10, "enter-psci", SUSPEND),
            (0, 12, "enter-cflush", 0),
            (0, 20, "exit-cflush", 0),
            (0, 25, "enter-hw-low-pwr", 0),
        ]);
        let timelines = timelines(&recording);
        assert_eq!(
            window(&timelines[&(series, 0)], 0, "cache_flush"),
            None,
            "the first call left early"
        );
    }

    /// Times in either unit, an even and an odd number of them: the median is one that occurred.
    #[test]
    fn a_cells_figures_are_in_microseconds_and_its_median_occurred() {
        for (unit, values, expected) in [
            ("us", &[4.0, 1.0, 9.0, 2.0][..], (2.0, 1.0, 9.0, 4)),
            ("us", &[4.0, 1.0, 9.0, 2.0, 3.0], (3.0, 1.0, 9.0, 5)),
            ("ns", &[2500.0, 1500.0, 7500.0], (2.5, 1.5, 7.5, 3)),
        ] {
            let mut recording = Recording::new(Header::new("psci-latency", "import", "ticks"));
            let series = recording.series("v", "cpu-off", "serial");
            for (iteration, &value) in (0..).zip(values) {
                recording
                    .measure(series, iteration, "powerdown", unit, value)
                    .cpu = Some(0);
            }
            recording
                .measure(series, 0, "powerdown", "instructions", 1.0)
                .cpu = Some(1);
            let cells = Timelines::new(&recording).cells();
            assert_eq!(cells.len(), 1, "instructions are no time");
            assert_eq!(
                (cells[0].value, cells[0].min, cells[0].max, cells[0].count),
                expected,
                "{unit}"
            );
        }
    }

    /// Ticks of a counter of 50 MHz are 0.02 us each.
    #[test]
    fn a_cause_is_told_in_microseconds() {
        let (mut recording, series) = of_events(&[
            (0, 100, "enter-psci", smc::CPU_OFF),
            (0, 150, "enter-cflush", 0),
            (0, 450, "enter-hw-low-pwr", 0),
        ]);
        recording.header.time.counter_hz = Some(50_000_000);
        recording.measure(series, 0, "powerdown", "us", 7.0).cpu = Some(0);
        let cells = Timelines::new(&recording).cells();
        let of = |cause| cells[0].microseconds_of(cause);
        assert_eq!(
            (of(Cause::Code), of(Cause::FlushL1), of(Cause::LockWait)),
            (Some(1.0), Some(6.0), None)
        );
    }

    /// A log lost the return from the first call: what is known is that the CPU woke up in that
    /// call.
    #[test]
    fn a_window_may_begin_at_the_last_event_of_its_call() {
        let (recording, series) = of_events(&[
            (0, 0, "enter-psci", SUSPEND),
            (0, 10, "exit-hw-low-pwr", 0),
            (0, 20, "enter-psci", SUSPEND),
            (0, 29, "exit-psci", 0),
        ]);
        assert_eq!(
            window(&timelines(&recording)[&(series, 0)], 0, "wakeup"),
            Some((1, 3))
        );
    }

    #[test]
    fn an_order_varies_where_locks_decide_it_and_did_so_differently() {
        let varies = |mode, powerdowns| {
            Timelines::new(&recording(mode, powerdowns))
                .cells()
                .iter()
                .all(|cell| cell.order_varies)
        };
        assert!(varies("parallel", [[1.0, 2.0], [4.0, 3.0]]));
        assert!(!varies("parallel", [[1.0, 2.0], [3.0, 4.0]]));
        assert!(
            !varies("serial", [[1.0, 2.0], [4.0, 3.0]]),
            "alone, each CPU has its own figures"
        );
    }
}
