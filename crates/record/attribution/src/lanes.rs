//! The CPU timeline of an iteration: the activity of each CPU at each time.

use crate::activity::{Activity, LaneSpan};
use crate::causes::{Cause, WaitFor};
use crate::cells::{CellResult, cells, microseconds, window};
use crate::each::{SpanSplit, each};
use crate::split::spans;
use crate::timeline::{Mark, Timeline, timelines};
use evidence::{Iterations, Rank, Ranked};
use recording::metrics::METRICS;
use recording::{Recording, Series};
use std::collections::BTreeMap;

/// A call into PSCI as the events show it.
#[derive(Clone, Copy)]
pub struct Call {
    /// SMC function id; `None` for the way back from a reset to the normal world.
    pub function: Option<u32>,
    /// Start, in ticks.
    pub from: u64,
    /// End, in ticks: the return to the normal world, or the last instruction before WFI.
    pub to: u64,
}

impl Call {
    /// The function's name in its specification, "call" if it has none; "wakeup" for the way back
    /// from a reset.
    pub fn name(&self) -> &'static str {
        self.function
            .map_or("wakeup", |function| smc::name(function).unwrap_or("call"))
    }

    /// True if it asks for another CPU's state: callers repeat it until the answer pleases them.
    pub fn is_poll(&self) -> bool {
        self.function
            .is_some_and(|function| function & !smc::SMC64 == smc::AFFINITY_INFO)
    }
}

/// A command that the SCP had in hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// The SCP's channel.
    pub channel: u32,
    /// The CPU that the command is of.
    pub cpu: u16,
    /// From when it was this command that the SCP had to turn to: it had been sent, and the one
    /// before was done. In ticks.
    pub turned: u64,
    /// When the SCP took it, in ticks.
    pub from: u64,
    /// When it was done with it, in ticks.
    pub to: u64,
}

/// Two iterations that stand for all.
#[derive(Clone)]
pub struct Chosen {
    /// The metric that they were chosen by: `powerdown` or `latency`, of the CPU that took longest.
    pub metric: &'static str,
    /// That figure over the iterations, in microseconds.
    pub longest: Ranked<u32, u16>,
    /// The iteration with the median.
    pub median: u32,
    /// The iteration with the largest.
    pub worst: u32,
}

/// All iterations of a recording.
pub struct Timelines<'a> {
    recording: &'a Recording,
    iterations: BTreeMap<(Series, u32), Timeline>,
    /// The longest of each iteration, in microseconds, by the metric's place in the table.
    longest: BTreeMap<(Series, usize), Ranked<u32, u16>>,
}

impl<'a> Timelines<'a> {
    /// Reads a recording's events.
    pub fn new(recording: &'a Recording) -> Self {
        let mut measured: BTreeMap<_, Vec<(u32, u16, f64)>> = BTreeMap::new();
        for measure in recording.measures() {
            let name = recording.text(measure.metric);
            let metric = METRICS.iter().position(|metric| metric.name == name);
            if let (Some(metric), Some(cpu), Some(us)) =
                (metric, measure.cpu, microseconds(recording, measure))
            {
                measured.entry((measure.series, metric)).or_default().push((
                    measure.iteration,
                    cpu,
                    us,
                ));
            }
        }
        let longest = |(of, values): (_, Vec<_>)| {
            let iterations: Iterations<_, _> = values.into_iter().collect();
            Some((of, iterations.ranked(Rank::Longest)?))
        };
        Self {
            recording,
            iterations: timelines(recording),
            longest: measured.into_iter().filter_map(longest).collect(),
        }
    }

    /// The longest of each iteration of a series by a metric, whichever CPU it is, in
    /// microseconds; `None` where no CPU has the metric in a unit of time.
    pub fn longest(&self, series: Series, metric: &str) -> Option<&Ranked<u32, u16>> {
        let metric = METRICS.iter().position(|known| known.name == metric)?;
        self.longest.get(&(series, metric))
    }

    /// The recording that they are of.
    pub fn recording(&self) -> &'a Recording {
        self.recording
    }

    /// Splits the span of every `psci-latency` measure whose events were recorded, in the order of
    /// the measures.
    pub fn each(&self) -> Vec<SpanSplit> {
        each(self.recording, &self.iterations)
    }

    /// All cells of the recording's measures that are times, in order of series, CPU and metric.
    pub fn cells(&self) -> Vec<CellResult> {
        cells(self.recording, &self.iterations)
    }

    /// Length of a tick in microseconds; `None` where the recording does not know the counter's
    /// frequency.
    pub fn tick_us(&self) -> Option<f64> {
        self.recording
            .header
            .time
            .counter_hz
            .filter(|&hz| hz > 0)
            .map(|hz| 1e6 / hz as f64)
    }

    /// The series that have events, in order.
    pub fn series(&self) -> Vec<Series> {
        let mut series: Vec<Series> = self.iterations.keys().map(|&(series, _)| series).collect();
        series.dedup();
        series
    }

    /// Numbers of a series' iterations that have events.
    pub fn iterations(&self, series: Series) -> Vec<u32> {
        self.iterations
            .range((series, 0)..=(series, u32::MAX))
            .map(|(&(_, iteration), _)| iteration)
            .collect()
    }

    /// An iteration, if it has events.
    pub fn iteration(&self, series: Series, iteration: u32) -> Option<Iteration<'_>> {
        self.iterations
            .get(&(series, iteration))
            .map(|timeline| Iteration { timeline })
    }

    /// The median and the worst iteration of a series by its slowest CPU; `None` without such
    /// measures. Where only some iterations have events, the worst is one of them, and the median
    /// the one of them that is nearest to that of all.
    pub fn chosen(&self, series: Series) -> Option<Chosen> {
        let mut principal = METRICS.iter().filter(|metric| metric.principal);
        let of = |metric: &recording::metrics::Metric| {
            Some((metric.name, self.longest(series, metric.name)?.clone()))
        };
        let (metric, longest) = principal.find_map(of)?;
        let mut sorted = longest.each.clone();
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let middle = (longest.iteration, longest.median);
        let has_events =
            |&(iteration, _): &(u32, f64)| self.iterations.contains_key(&(series, iteration));
        if sorted.iter().any(has_events) {
            sorted.retain(has_events);
        }
        let distance = |of: &(u32, f64)| ((of.1 - middle.1).abs(), of.0 != middle.0);
        let median = sorted
            .iter()
            .min_by(|a, b| {
                let (a, b) = (distance(a), distance(b));
                a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
            })?
            .0;
        // Of several that took as long, the first.
        let most = sorted.last()?.1;
        let worst = sorted.iter().find(|&&(_, value)| value == most)?.0;
        Some(Chosen {
            metric,
            longest,
            median,
            worst,
        })
    }
}

/// The marks that begin and end waits for the SCP.
fn marks_of_scp_waits() -> Vec<Mark> {
    Cause::ALL
        .into_iter()
        .filter(|cause| cause.wait() == Some(WaitFor::Scp))
        .filter_map(|cause| cause.row().recognition)
        .flat_map(|recognition| [recognition.begin, recognition.end])
        .filter_map(Mark::of_point)
        .collect()
}

/// One iteration of a series.
#[derive(Clone, Copy)]
pub struct Iteration<'a> {
    pub(crate) timeline: &'a Timeline,
}

impl Iteration<'_> {
    /// The CPUs that have events, in order.
    pub fn cpus(&self) -> Vec<u16> {
        self.timeline.steps.keys().copied().collect()
    }

    /// First and last tick of all events.
    pub fn extent(&self) -> (u64, u64) {
        let steps = self.timeline.steps.values();
        let first = steps
            .clone()
            .filter_map(|steps| steps.first())
            .map(|step| step.ticks)
            .min();
        let last = steps
            .filter_map(|steps| steps.last())
            .map(|step| step.ticks)
            .max();
        (first.unwrap_or(0), last.unwrap_or(0))
    }

    /// The activity of a CPU, from its first event to its last, without holes.
    pub fn lane(&self, cpu: u16) -> Vec<LaneSpan> {
        let Some(steps) = self.timeline.steps.get(&cpu) else {
            return Vec::new();
        };
        // Until its first call a CPU that is on runs the normal world; one that comes out of reset
        // was off.
        let before = match steps[0].mark {
            Mark::EXIT_LOW_POWER | Mark::SCP_TAKES | Mark::SCP_DONE => Activity::LowPower,
            _ => Activity::NormalWorld,
        };
        spans(self.timeline, cpu, 0, steps.len() - 1, before)
    }

    /// A CPU's calls, in order; a call that the iteration cuts off is left out.
    pub fn calls(&self, cpu: u16) -> Vec<Call> {
        let mut calls = Vec::new();
        let mut open = None;
        for step in self.timeline.steps.get(&cpu).map_or(&[][..], Vec::as_slice) {
            match step.mark {
                Mark::ENTER_PSCI => open = Some((Some(step.argument), step.ticks)),
                Mark::EXIT_LOW_POWER => open = Some((None, step.ticks)),
                Mark::EXIT_PSCI | Mark::ENTER_LOW_POWER => {
                    if let Some((function, from)) = open.take() {
                        calls.push(Call {
                            function,
                            from,
                            to: step.ticks,
                        });
                    }
                }
                _ => {}
            }
        }
        calls
    }

    /// The commands that the SCP had in hand, in the order in which it took them; one without an
    /// end is left out.
    pub fn services(&self) -> Vec<Service> {
        let mut services = Vec::new();
        for (&channel, served) in &self.timeline.served {
            let mut before = 0;
            for held in served.all().iter().filter(|held| held.to != u64::MAX) {
                let sent = self.sent(channel, held.cpu, held.from);
                let turned = sent.map_or(held.from, |sent| sent.max(before).min(held.from));
                services.push(Service {
                    channel,
                    cpu: held.cpu,
                    turned,
                    from: held.from,
                    to: held.to,
                });
                before = held.to;
            }
        }
        services.sort_by_key(|service| (service.from, service.channel));
        services
    }

    /// When the command that the SCP took at `taken` lay before it: its CPU had the slot, or
    /// started to wait for the response (whose end may be in the same tick as the taking).
    fn sent(&self, channel: u32, cpu: u16, taken: u64) -> Option<u64> {
        let steps = self.timeline.steps.get(&cpu)?;
        let signs = marks_of_scp_waits();
        let before = &steps[..steps.partition_point(|step| step.ticks < taken)];
        before
            .iter()
            .rev()
            .find(|step| signs.contains(&step.mark) && step.argument == channel)
            .map(|step| step.ticks)
    }

    /// The CPU that took longest by a metric, of several the one with the highest number; `None` if
    /// no CPU has the metric.
    pub fn slowest(&self, metric: &str) -> Option<u16> {
        self.timeline
            .steps
            .keys()
            .filter_map(|&cpu| Some((self.window(cpu, metric)?, cpu)))
            .map(|((from, to), cpu)| (to - from, cpu))
            .max()
            .map(|(_, cpu)| cpu)
    }

    /// From when to when, in ticks, a metric of a CPU was taken (`powerdown`, `wakeup`,
    /// `cache_flush`, `latency`).
    pub fn window(&self, cpu: u16, metric: &str) -> Option<(u64, u64)> {
        let (from, to) = window(self.timeline, cpu, metric)?;
        let steps = &self.timeline.steps[&cpu];
        Some((steps[from].ticks, steps[to].ticks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Split;
    use crate::testing::{SUSPEND, add, empty, of_events};

    #[test]
    fn an_iteration_knows_its_cpus_and_from_when_to_when_it_lasts() {
        let (recording, series) = of_events(&[
            (7, 14, "enter-psci", SUSPEND),
            (7, 60, "enter-hw-low-pwr", 0),
            (3, 12, "enter-psci", SUSPEND),
            (3, 40, "enter-hw-low-pwr", 0),
        ]);
        let timelines = Timelines::new(&recording);
        let iteration = timelines.iteration(series, 0).unwrap();
        assert_eq!(
            (iteration.cpus(), iteration.extent()),
            (vec![3, 7], (12, 60))
        );
        assert!(
            iteration.lane(5).is_empty() && iteration.calls(5).is_empty(),
            "CPU 5 has no events"
        );
    }

    #[test]
    fn the_slowest_cpu_is_the_last_of_those_that_took_longest() {
        let down = |cpu, from, to| {
            [
                (cpu, from, "enter-psci", SUSPEND),
                (cpu, to, "enter-hw-low-pwr", 0),
            ]
        };
        let (recording, series) = of_events(
            &[
                down(5, 0, 20),
                down(2, 3, 30),
                down(3, 13, 40),
                down(4, 50, 51),
            ]
            .concat(),
        );
        let timelines = Timelines::new(&recording);
        let iteration = timelines.iteration(series, 0).unwrap();
        assert_eq!(
            (iteration.slowest("powerdown"), iteration.slowest("wakeup")),
            (Some(3), None)
        );
    }

    /// Five iterations take 10 to 50 us, of which the first two and the slowest but one left
    /// events.
    #[test]
    fn what_is_chosen_has_events() {
        let mut recording = empty();
        let series = recording.series("a", "c", "serial");
        for (iteration, us) in [(0, 10.0), (1, 20.0), (2, 30.0), (3, 40.0), (4, 50.0)] {
            recording
                .measure(series, iteration, "powerdown", "us", us)
                .cpu = Some(0);
        }
        let chosen = |recording: &Recording| {
            let chosen = Timelines::new(recording).chosen(series).unwrap();
            (chosen.median, chosen.worst, chosen.longest.each.len())
        };
        assert_eq!(
            chosen(&recording),
            (2, 4, 5),
            "without events every iteration may stand for the case"
        );
        for iteration in [0, 1, 3] {
            add(
                &mut recording,
                series,
                iteration,
                &[(0, 1, "enter-psci", SUSPEND)],
            );
        }
        assert_eq!(
            chosen(&recording),
            (1, 3, 5),
            "20 us is as near to 30 as 40, and comes first"
        );
        add(&mut recording, series, 2, &[(0, 1, "enter-psci", SUSPEND)]);
        assert_eq!(chosen(&recording), (2, 3, 5));
    }

    #[test]
    fn a_series_has_the_iterations_that_left_events() {
        let mut recording = empty();
        let (one, other) = (
            recording.series("a", "c", "serial"),
            recording.series("b", "c", "serial"),
        );
        for (series, iteration) in [(one, 3), (one, 5), (other, 4)] {
            add(
                &mut recording,
                series,
                iteration,
                &[(0, 1, "enter-psci", SUSPEND)],
            );
        }
        let timelines = Timelines::new(&recording);
        assert_eq!(
            (
                timelines.series(),
                timelines.iterations(one),
                timelines.iterations(other)
            ),
            (vec![one, other], vec![3, 5], vec![4])
        );
    }

    #[test]
    fn a_tick_has_a_length_if_the_counters_frequency_is_known() {
        for (hz, tick) in [
            (None, None),
            (Some(0), None),
            (Some(50_000_000), Some(0.02)),
        ] {
            let mut recording = empty();
            recording.header.time.counter_hz = hz;
            assert_eq!(Timelines::new(&recording).tick_us(), tick, "{hz:?}");
        }
    }

    /// The median of five figures 1 to 5 is the third.
    #[test]
    fn the_median_iteration_has_as_many_below_as_above() {
        let mut recording = empty();
        let series = recording.series("r", "c", "serial");
        for (iteration, value) in (0..).zip([4.0, 1.0, 3.0, 5.0, 2.0]) {
            recording
                .measure(series, iteration, "powerdown", "us", value)
                .cpu = Some(0);
        }
        let timelines = Timelines::new(&recording);
        let chosen = timelines.chosen(series).unwrap();
        assert_eq!((chosen.median, chosen.worst), (2, 3));
        assert_eq!(timelines.cells().len(), 1);
    }

    /// A CPU calls PSCI_VERSION, suspends, is woken, and calls something that has no name; the last
    /// call is cut off.
    #[test]
    fn calls_are_those_with_a_begin_and_an_end() {
        let (recording, series) = of_events(&[
            (0, 2, "exit-psci", 0),
            (0, 10, "enter-psci", smc::PSCI_VERSION),
            (0, 13, "exit-psci", 0),
            (0, 20, "enter-psci", SUSPEND),
            (0, 24, "lock-wait", 1),
            (0, 30, "enter-hw-low-pwr", 0),
            (0, 40, "exit-hw-low-pwr", 0),
            (0, 49, "exit-psci", 0),
            (0, 50, "enter-psci", 0x8600_0000),
            (0, 51, "exit-psci", 0),
            (0, 60, "enter-psci", SUSPEND),
        ]);
        let timelines = Timelines::new(&recording);
        let calls = timelines.iteration(series, 0).unwrap().calls(0);
        let found: Vec<_> = calls
            .iter()
            .map(|call| (call.name(), call.from, call.to))
            .collect();
        assert_eq!(
            found,
            [
                ("PSCI_VERSION", 10, 13),
                ("CPU_SUSPEND", 20, 30),
                ("wakeup", 40, 49),
                ("call", 50, 51)
            ]
        );
    }

    /// The state that a track shows before the first event which says what the CPU does.
    #[test]
    fn a_cpu_is_off_until_it_leaves_reset_and_else_runs_the_normal_world() {
        for (point, before) in [
            ("scp-takes", Some(Activity::LowPower)),
            ("scp-done", Some(Activity::LowPower)),
            ("lock-released", Some(Activity::NormalWorld)),
        ] {
            let (recording, series) = of_events(&[(0, 3, point, 0), (0, 9, "enter-psci", SUSPEND)]);
            let timelines = Timelines::new(&recording);
            let lane = timelines.iteration(series, 0).unwrap().lane(0);
            assert_eq!(lane.first().map(|span| span.activity), before, "{point}");
            assert_eq!((lane[0].from, lane[0].to), (3, 9), "{point}");
        }
    }

    /// A CPU that asks for the version, runs the normal world for a while, and suspends; the other
    /// one only has the lock, twice.
    #[test]
    fn a_lane_tells_normal_world_and_low_power_from_calls() {
        let (recording, series) = of_events(&[
            (1, 0, "lock-acquired", 1),
            (0, 0, "enter-psci", smc::PSCI_VERSION),
            (0, 5, "exit-psci", 0),
            (0, 20, "enter-psci", SUSPEND),
            (0, 21, "lock-wait", 1),
            (1, 26, "lock-released", 1),
            (0, 26, "lock-acquired", 1),
            (0, 27, "lock-released", 1),
            (1, 28, "lock-acquired", 1),
            (0, 29, "lock-wait", 1),
            (1, 36, "lock-released", 1),
            (0, 36, "lock-acquired", 1),
            (0, 40, "enter-hw-low-pwr", 0),
            (0, 90, "exit-hw-low-pwr", 0),
        ]);
        let timelines = Timelines::new(&recording);
        let iteration = timelines.iteration(series, 0).unwrap();
        let (code, lock) = (
            Activity::Cause(Cause::Code),
            Activity::Cause(Cause::LockWait),
        );
        let lane: Vec<_> = iteration
            .lane(0)
            .iter()
            .map(|span| (span.from, span.to, span.activity))
            .collect();
        assert_eq!(
            lane,
            [
                (0, 5, code),
                (5, 20, Activity::NormalWorld),
                (20, 21, code),
                (21, 26, lock),
                (26, 29, code),
                (29, 36, lock),
                (36, 40, code),
                (40, 90, Activity::LowPower),
            ]
        );
        // Both waits of the call for the same holder are one entry.
        let (from, to) = window(iteration.timeline, 0, "powerdown").unwrap();
        let waits = Split::new(iteration.timeline, 0, from, to).waits;
        assert_eq!(
            waits
                .iter()
                .map(|wait| (wait.holder, wait.ticks))
                .collect::<Vec<_>>(),
            [(1, 12)]
        );
    }

    /// A command lay before the SCP from when its CPU waited for this channel; waits for other
    /// things are none of its.
    #[test]
    fn the_scp_turns_to_a_command_when_its_cpu_waits_for_that_channel() {
        let (recording, series) = of_events(&[
            (0, 1, "enter-psci", SUSPEND),
            (0, 4, "scp-wait", 1),
            (0, 6, "scp-wait", 0),
            (0, 8, "lock-wait", 1),
            (0, 10, "scp-takes", 1),
            (0, 20, "scp-done", 1),
            (0, 22, "scp-takes", 1),
        ]);
        let timelines = Timelines::new(&recording);
        let services = timelines.iteration(series, 0).unwrap().services();
        assert_eq!(
            services,
            [Service {
                channel: 1,
                cpu: 0,
                turned: 4,
                from: 10,
                to: 20
            }]
        );
    }
}
