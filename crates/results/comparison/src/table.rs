//! The rows of one recording.

use attribution::{Cause, Split, Timelines};
use findings::compared::ordinal;
use itertools::Itertools;
use recording::metrics::{POWERDOWN, PRINTED_CHANGE};
use recording::{Measure, Name, Recording, Series, total_order};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Whom a row is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// Nobody in particular.
    Whole,
    /// A CPU of which only the number is known.
    Cpu(u16),
    /// A CPU by its place.
    Place {
        /// Cluster of the CPU.
        cluster: u16,
        /// Number of the CPU in its cluster.
        core: u16,
    },
    /// The n-th CPU of a cluster to get the lock that decides, from 1; not its last man.
    Nth {
        /// The cluster.
        cluster: u16,
        /// From 1.
        n: u16,
    },
    /// The CPU that took the cluster down.
    LastMan {
        /// The cluster.
        cluster: u16,
    },
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Cpu(cpu) => write!(f, "CPU {cpu}"),
            Self::Place { cluster, core } => write!(f, "{cluster}.{core}"),
            Self::Nth { cluster, n } => write!(f, "{} of {cluster}", ordinal(usize::from(*n))),
            Self::LastMan { cluster } => write!(f, "last man of {cluster}"),
        }
    }
}

/// The key by which rows match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Release or configuration; empty where the recordings' only ones are compared, whatever they
    /// are called.
    pub variant: String,
    /// Case.
    pub case: String,
    /// Mode; empty where the case has none.
    pub mode: String,
    /// The quantity that was measured.
    pub metric: String,
    /// The subject that it is a measure of besides; empty where there is none.
    pub subject: String,
    /// The part that the subject played; empty where it played none.
    pub role: String,
    /// Whom.
    pub who: Who,
}

/// The release, the case and the mode of a table of rows.
pub type TableName = [String; 3];

/// The parts that are not empty, parted by spaces.
pub fn spaced(parts: &[String]) -> String {
    parts.iter().filter(|part| !part.is_empty()).join(" ")
}

impl Key {
    /// The table that the row stands in.
    pub fn table(&self) -> TableName {
        [&self.variant, &self.case, &self.mode].map(String::clone)
    }

    /// The last part of the row's label, as tables print it: the CPU or its role, the subject and
    /// its.
    pub fn row(&self) -> String {
        spaced(&[
            self.who.to_string(),
            self.subject.clone(),
            self.role.clone(),
        ])
    }

    /// The whole label, as in `suspend-deepest parallel, powerdown, last man of 1`.
    pub fn label(&self) -> String {
        let table = spaced(&self.table());
        let row = self.row();
        let tail = if row.is_empty() {
            String::new()
        } else {
            format!(", {row}")
        };
        format!("{table}, {}{tail}", self.metric)
    }
}

/// The values of a row, with the causes of its median where events tell them.
#[derive(Clone, Default, PartialEq)]
pub struct Samples {
    pub unit: String,
    /// Values in the order of the iterations.
    pub values: Vec<f64>,
    places: Vec<(Series, u32, u16)>,
    /// Microseconds by cause of the median iteration, a value that occurred (the lower of the
    /// middle two).
    pub causes: BTreeMap<Cause, f64>,
}

/// Indices of values, in their order.
fn in_order(values: &[f64]) -> Vec<usize> {
    let mut order = (0..values.len()).collect_vec();
    order.sort_by_key(|&at| (total_order(values[at]), at));
    order
}

/// Index of the lower median.
fn median_index(values: &[f64]) -> Option<usize> {
    in_order(values)
        .get(values.len().checked_sub(1)? / 2)
        .copied()
}

/// A recording's rows.
#[derive(Default)]
pub struct Table {
    /// Rows in the order in which people read them.
    pub rows: Vec<(Key, Samples)>,
    /// Clusters in the order in which their CPUs went down, in the median of each table where lock
    /// order decides: case, order.
    pub orders: BTreeMap<TableName, Vec<u16>>,
}

/// The causes of spans, by series, iteration, CPU and metric.
type Splits<'m> = HashMap<(Series, u32, u16, &'m str), Split>;

impl Samples {
    /// The causes of the median, in microseconds. Of a long run only some iterations have events:
    /// then those of the value next to the median that has some.
    fn add_causes(&mut self, metric: &str, splits: &Splits<'_>, tick_us: f64) {
        let Some(median) = median_index(&self.values) else {
            return;
        };
        let split_of = |index: usize| {
            let (series, iteration, cpu) = self.places[index];
            splits.get(&(series, iteration, cpu, metric))
        };
        let mut nearest = Vec::new();
        if split_of(median).is_none() {
            nearest = in_order(&self.values);
            let from = |index: usize| (self.values[index] - self.values[median]).abs();
            nearest.sort_by(|&a, &b| from(a).total_cmp(&from(b)));
        }
        if let Some(split) = std::iter::once(median).chain(nearest).find_map(split_of) {
            self.causes = split
                .causes
                .iter()
                .map(|(&cause, &ticks)| (cause, ticks as f64 * tick_us))
                .collect();
        }
    }
}

impl Table {
    /// The samples of each row.
    pub fn by_key(&self) -> HashMap<&Key, &Samples> {
        self.rows
            .iter()
            .map(|(key, samples)| (key, samples))
            .collect()
    }

    /// The rows of the variants that `variant` renames; those for which it has nothing are left
    /// out.
    pub fn new(timelines: &Timelines<'_>, variant: impl Fn(&str) -> Option<String>) -> Self {
        let recording = timelines.recording();
        let splits = timelines
            .each()
            .into_iter()
            .map(|span| {
                (
                    (span.series, span.iteration, span.cpu, span.metric),
                    span.split,
                )
            })
            .collect();
        let roles = roles(recording, &splits);
        let tick_us = recording
            .header
            .time
            .counter_hz
            .map_or(0.0, |hz| 1e6 / hz as f64);
        let points = points(recording);
        let mut places = HashMap::new();
        let mut rows = Vec::new();
        for measure in recording.measures() {
            let metric = recording.text(measure.metric);
            let (named, case, mode) = recording.series_texts(measure.series);
            let Some(variant) = variant(named) else {
                continue;
            };
            if metric.ends_with(PRINTED_CHANGE) {
                continue;
            }
            let [subject, role] = findings::names(recording, measure).map(str::to_owned);
            let key = Key {
                variant,
                case: case.to_owned(),
                mode: mode.to_owned(),
                metric: metric.to_owned(),
                subject: measure
                    .subject
                    .and_then(|name| points.get(&(measure.series, measure.metric, name)).cloned())
                    .unwrap_or(subject),
                role,
                who: who(&roles, measure),
            };
            let place = *places.entry(key.clone()).or_insert_with(|| {
                let unit = recording.text(measure.unit).to_owned();
                rows.push((
                    key,
                    Samples {
                        unit,
                        ..Samples::default()
                    },
                ));
                rows.len() - 1
            });
            let samples = &mut rows[place].1;
            samples.values.push(measure.value);
            samples.places.push((
                measure.series,
                measure.iteration,
                measure.cpu.unwrap_or(u16::MAX),
            ));
        }
        for (key, samples) in &mut rows {
            samples.add_causes(&key.metric, &splits, tick_us);
        }
        sort(&mut rows);
        let orders = orders(&rows);
        Self { rows, orders }
    }
}

/// The subjects that are points of a range, by their place in it: `round trip 0.0020` is the second
/// of nine. What the run came to there, another run has elsewhere.
fn points(recording: &Recording) -> HashMap<(Series, Name, Name), String> {
    let mut ranges: BTreeMap<_, Vec<(f64, Name)>> = BTreeMap::new();
    for measure in recording.measures() {
        let Some(name) = measure.subject else {
            continue;
        };
        let Some((range, Ok(at))) = recording
            .text(name)
            .rsplit_once(' ')
            .filter(|(_, number)| number.contains('.'))
            .map(|(range, number)| (range, number.parse::<f64>()))
        else {
            continue;
        };
        let points = ranges
            .entry((measure.series, measure.metric, range))
            .or_default();
        if !points.contains(&(at, name)) {
            points.push((at, name));
        }
    }
    let mut places = HashMap::new();
    for ((series, metric, range), mut points) in ranges {
        points.sort_by_key(|of| total_order(of.0));
        let count = points.len();
        for (place, (_, name)) in (1..).zip(points) {
            places.insert(
                (series, metric, name),
                format!("{range}, {} of {count}", ordinal(place)),
            );
        }
    }
    places
}

/// The number of rows that a comparison makes of a recording.
pub fn row_count(recording: &Recording) -> usize {
    Table::new(&Timelines::new(recording), |variant| {
        Some(variant.to_owned())
    })
    .rows
    .len()
}

/// Tables stay in the order in which they were recorded; within one, roles stand in their order.
fn sort(rows: &mut [(Key, Samples)]) {
    let mut tables: HashMap<TableName, usize> = HashMap::new();
    let mut metrics: HashMap<String, usize> = HashMap::new();
    for (key, _) in rows.iter() {
        let next = tables.len();
        tables.entry(key.table()).or_insert(next);
        let next = metrics.len();
        metrics.entry(key.metric.clone()).or_insert(next);
    }
    rows.sort_by_cached_key(|(key, _)| {
        let table = tables[&key.table()];
        let who = match key.who {
            Who::Whole => (0, 0),
            Who::Cpu(cpu) => (0, cpu),
            Who::Place { cluster, core } => (cluster, core),
            Who::Nth { cluster, n } => (cluster, n),
            Who::LastMan { cluster } => (cluster, u16::MAX),
        };
        (table, metrics[&key.metric], who)
    });
}

/// The clusters of a table's roles, by median powerdown.
fn orders(rows: &[(Key, Samples)]) -> BTreeMap<TableName, Vec<u16>> {
    let mut tables: BTreeMap<_, Vec<(f64, u16)>> = BTreeMap::new();
    for (key, samples) in rows.iter().filter(|(key, _)| key.metric == POWERDOWN.name) {
        if let Who::Nth { cluster, .. } | Who::LastMan { cluster } = key.who {
            let median = evidence::median(&samples.values).unwrap_or(f64::NAN);
            let table = tables.entry(key.table()).or_default();
            table.push((median, cluster));
        }
    }
    tables
        .into_iter()
        .map(|(table, mut order)| {
            order.sort_by_key(|of| total_order(of.0));
            (
                table,
                order.into_iter().map(|(_, cluster)| cluster).collect(),
            )
        })
        .collect()
}

/// The roles of CPUs, by iteration.
type Roles = HashMap<(Series, u32, u16), Who>;

/// CPUs of a cluster by their powerdown in the iteration: the one that waited longest got the
/// lock last. The last man is the one that flushed the L2, by its events; without events, the
/// last of a suspend to the deepest level.
fn roles(recording: &Recording, splits: &Splits<'_>) -> Roles {
    let mut tables: BTreeMap<(Series, u32, u16), Vec<(f64, u16)>> = BTreeMap::new();
    for measure in recording.measures() {
        let (_, case, mode) = recording.series_texts(measure.series);
        if recording.text(measure.metric) != POWERDOWN.name
            || !attribution::lock_order_decides(case, mode)
        {
            continue;
        }
        if let (Some(cpu), Some(cluster)) = (measure.cpu, measure.cluster) {
            tables
                .entry((measure.series, measure.iteration, cluster))
                .or_default()
                .push((measure.value, cpu));
        }
    }
    let mut roles = HashMap::new();
    for ((series, iteration, cluster), mut table) in tables {
        table.sort_by_key(|of| (total_order(of.0), of.1));
        let (_, case, _) = recording.series_texts(series);
        let flushed = |cpu: u16| {
            let split = splits.get(&(series, iteration, cpu, POWERDOWN.name));
            split.map(|split| split.causes.contains_key(&Cause::FlushL2))
        };
        let cpus = table.iter().map(|&(_, cpu)| cpu);
        let last_man = if cpus.clone().any(|cpu| flushed(cpu).is_some()) {
            cpus.clone().find(|&cpu| flushed(cpu) == Some(true))
        } else {
            let last = cpus.clone().next_back();
            last.filter(|_| case == "suspend-deepest")
        };
        let others = cpus.filter(|&cpu| Some(cpu) != last_man);
        for (n, cpu) in (1..).zip(others) {
            roles.insert((series, iteration, cpu), Who::Nth { cluster, n });
        }
        if let Some(cpu) = last_man {
            roles.insert((series, iteration, cpu), Who::LastMan { cluster });
        }
    }
    roles
}

fn who(roles: &Roles, measure: &Measure) -> Who {
    let role = measure
        .cpu
        .and_then(|cpu| roles.get(&(measure.series, measure.iteration, cpu)));
    match (role, measure.cluster.zip(measure.core), measure.cpu) {
        // A CPU's time in a state is over all iterations: it is the CPU's and not the role's.
        (Some(role), _, _) if measure.subject.is_none() => role.clone(),
        (_, Some((cluster, core)), _) => Who::Place { cluster, core },
        (_, None, Some(cpu)) => Who::Cpu(cpu),
        _ => Who::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::Header;

    #[test]
    fn a_row_says_whom_it_is_of() {
        for (n, ordinal) in [
            (1, "1st"),
            (2, "2nd"),
            (3, "3rd"),
            (4, "4th"),
            (10, "10th"),
            (11, "11th"),
            (12, "12th"),
            (13, "13th"),
            (21, "21st"),
            (22, "22nd"),
            (23, "23rd"),
            (101, "101st"),
            (111, "111th"),
            (112, "112th"),
            (113, "113th"),
        ] {
            assert_eq!(
                Who::Nth { cluster: 7, n }.to_string(),
                format!("{ordinal} of 7")
            );
        }
        let places = [
            Who::Whole,
            Who::Cpu(3),
            Who::Place {
                cluster: 1,
                core: 2,
            },
            Who::LastMan { cluster: 1 },
        ];
        assert_eq!(
            places.map(|who| who.to_string()),
            ["", "CPU 3", "1.2", "last man of 1"]
        );
        let named = str::to_owned;
        let key = |variant: &str, mode: &str, subject: &str, who| Key {
            variant: named(variant),
            case: named("forward"),
            mode: named(mode),
            metric: named("clocks"),
            subject: named(subject),
            role: named(""),
            who,
        };
        for (key, label) in [
            (key("", "", "", Who::Whole), "forward, clocks"),
            (
                key("v1", "serial", "ip4-lookup", Who::Whole),
                "v1 forward serial, clocks, ip4-lookup",
            ),
            (key("v1", "", "", Who::Cpu(3)), "v1 forward, clocks, CPU 3"),
            (
                key("", "", "ip4-lookup", Who::Cpu(3)),
                "forward, clocks, CPU 3 ip4-lookup",
            ),
        ] {
            assert_eq!(key.label(), label);
        }
    }

    /// The median that causes are told of is a value that occurred: of an even number the lower of
    /// the middle two.
    #[test]
    fn a_median_that_occurred_is_in_the_middle() {
        for (values, median) in [
            (&[5.0, 1.0, 4.0, 2.0, 3.0][..], 3.0),
            (&[9.0, 1.0, 4.0, 2.0], 2.0),
            (&[7.0], 7.0),
        ] {
            let found = median_index(values).map(|at| values[at]);
            assert_eq!(found, Some(median), "{values:?}");
        }
    }

    fn table(recording: &Recording) -> Table {
        Table::new(&Timelines::new(recording), |variant| {
            (variant != "other").then(|| variant.to_owned())
        })
    }

    fn labels(table: &Table) -> Vec<String> {
        table.rows.iter().map(|(key, _)| key.label()).collect()
    }

    /// Two clusters of two CPUs, suspended together; the second cluster is the first to be down. A
    /// document's own changes are no rows.
    #[test]
    fn rows_stand_by_table_metric_and_role_and_clusters_by_when_they_were_down() {
        let mut recording = Recording::new(Header::new("psci-latency", "import", "ticks"));
        let series = recording.series("v", "suspend-deepest", "parallel");
        for (cpu, cluster, core, powerdown) in [
            (0, 0, 0, 50.0),
            (1, 0, 1, 40.0),
            (2, 1, 0, 10.0),
            (3, 1, 1, 20.0),
        ] {
            for (metric, value) in [
                ("wakeup", 7.0),
                ("powerdown", powerdown),
                ("powerdown_printed_change", 1.0),
            ] {
                let measure = recording.measure(series, 0, metric, "us", value);
                (measure.cpu, measure.cluster, measure.core) =
                    (Some(cpu), Some(cluster), Some(core));
            }
        }
        let (state, role) = (recording.name("off"), recording.name("last-man"));
        let measure = recording.measure(series, 0, "time_in_state", "us", 5.0);
        (measure.cpu, measure.cluster, measure.core) = (Some(1), Some(0), Some(1));
        (measure.subject, measure.role) = (Some(state), Some(role));
        let other = recording.series("other", "suspend-deepest", "parallel");
        recording.measure(other, 0, "wakeup", "us", 1.0).cpu = Some(0);
        let serial = recording.series("v", "cpu-off", "serial");
        recording.measure(serial, 0, "powerdown", "us", 1.0).cpu = Some(5);
        recording.measure(serial, 0, "powerdown", "us", 1.0).cpu = Some(4);
        let table = table(&recording);
        let parallel = "v suspend-deepest parallel";
        let roles = ["1st of 0", "last man of 0", "1st of 1", "last man of 1"];
        let mut expected: Vec<String> = Vec::new();
        for metric in ["wakeup", "powerdown"] {
            expected.extend(roles.map(|who| format!("{parallel}, {metric}, {who}")));
        }
        expected.push(format!("{parallel}, time_in_state, 0.1 off"));
        expected
            .extend(["CPU 4", "CPU 5"].map(|who| format!("v cpu-off serial, powerdown, {who}")));
        assert_eq!(labels(&table), expected);
        let orders: Vec<_> = table.orders.into_values().collect();
        assert_eq!(orders, [[1, 1, 0, 0]]);
    }

    #[test]
    fn percentiles_of_a_subject_are_rows_of_their_own() {
        let mut recording = Recording::new(Header::new("placement", "sim", "ps"));
        let series = recording.series("v", "apart", "");
        let task = recording.name("render");
        for (role, value) in [("p50", 1.0), ("p99", 9.0)] {
            let role = recording.name(role);
            let measure = recording.measure(series, 0, "wake_latency", "us", value);
            (measure.subject, measure.role) = (Some(task), Some(role));
        }
        let expected = [
            "v apart, wake_latency, render p50",
            "v apart, wake_latency, render p99",
        ];
        assert_eq!(
            (labels(&table(&recording)), row_count(&recording)),
            (expected.map(str::to_owned).to_vec(), 2)
        );
    }

    /// Points of a range match by their place in it: where a run has them is its own.
    #[test]
    fn a_point_of_a_range_goes_by_its_place() {
        let mut recording = Recording::new(Header::new("idle-replay", "sim", "ns"));
        let series = recording.series("v", "idle-replay", "");
        for name in [
            "round trip 0.0029",
            "round trip 0.0000",
            "p99.9",
            "little 800 MHz",
        ] {
            let subject = recording.name(name);
            recording
                .measure(series, 0, "idle_energy", "J", 1.0)
                .subject = Some(subject);
        }
        let rows: Vec<_> = table(&recording)
            .rows
            .into_iter()
            .map(|(key, _)| key.row())
            .collect();
        assert_eq!(
            rows,
            [
                "round trip, 2nd of 2",
                "round trip, 1st of 2",
                "p99.9",
                "little 800 MHz"
            ]
        );
    }

    /// The CPU that flushed the L2 is the last man, whenever it came; where nobody did, nobody is.
    #[test]
    fn events_tell_the_last_man() {
        for (flusher, expected) in [
            (Some(0), ["last man of 0", "1st of 0"]),
            (None, ["1st of 0", "2nd of 0"]),
        ] {
            let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
            recording.header.time.counter_hz = Some(10_000_000);
            let series = recording.series("v", "suspend-deepest", "parallel");
            for cpu in 0..2 {
                let flush = (flusher == Some(cpu)).then_some((10, "flushed-l2-lines"));
                let events = [(0, "enter-psci"), (5, "enter-cflush")]
                    .into_iter()
                    .chain(flush);
                for (ticks, point) in events.chain([
                    (20, "exit-cflush"),
                    (30 + u64::from(cpu), "enter-hw-low-pwr"),
                ]) {
                    let argument = if point == "enter-psci" {
                        smc_of_a_suspend()
                    } else {
                        0
                    };
                    let point = recording.point(point);
                    recording.event(series, 0, cpu, ticks, ticks, point, argument);
                }
                let measure =
                    recording.measure(series, 0, "powerdown", "us", 3.0 + f64::from(cpu) / 10.0);
                (measure.cpu, measure.cluster, measure.core) = (Some(cpu), Some(0), Some(cpu));
            }
            let table = table(&recording);
            let mut found: Vec<_> = table
                .rows
                .iter()
                .map(|(key, samples)| (samples.values[0], key.who.to_string()))
                .collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(
                found
                    .iter()
                    .map(|(_, who)| who.as_str())
                    .collect::<Vec<_>>(),
                expected
            );
            // A tick is 0.1 us: 5 + 10 or 11 of them are code.
            let (key, samples) = &table.rows[0];
            let code = samples.causes[&Cause::Code];
            assert!(
                (code - 1.5).abs() < 1e-9 || (code - 1.6).abs() < 1e-9,
                "{}: {code}",
                key.label()
            );
        }
    }

    /// The function id of a CPU_SUSPEND (DEN0022, 5.1).
    fn smc_of_a_suspend() -> u32 {
        0xc400_0001
    }
}
