//! The content of a timeline: tracks, spans, axes and critical paths of one iteration, before
//! anything is drawn.

use crate::html::detail::Detail;
use attribution::{Activity, Actor, Call, Cause, Iteration, LaneSpan, PathPart};
use itertools::Itertools;
use recording::metrics::{LATENCY, Metric};
use std::collections::{BTreeMap, BTreeSet};

/// The subject of a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    Cause(Cause),
    NormalWorld,
    LowPower,
    /// This many AFFINITY_INFO calls, one after the other.
    Polls(u32),
    /// The SCP has a command of this CPU in hand.
    Serves(u16),
    /// The SCP has yet to take a command of this CPU.
    Takes(u16),
}

/// A span of a lane; times in ticks.
#[derive(Clone, Debug)]
pub struct Span {
    pub from: u64,
    pub to: u64,
    pub what: What,
    pub on: Option<u32>,
    pub holder: Option<u16>,
}

impl Span {
    fn new(from: u64, to: u64, what: What) -> Self {
        Self {
            from,
            to,
            what,
            on: None,
            holder: None,
        }
    }
}

/// A CPU, or a channel of the SCP.
pub struct Lane {
    pub place: Actor,
    /// `1.3`, `SCP`.
    pub name: String,
    /// `CPU 3`, `channel 0`.
    pub sub: String,
    pub spans: Vec<Span>,
    pub calls: Vec<Call>,
}

/// A way to look at the iteration: some times are kept, what lies between is folded away.
pub struct Axis {
    pub title: &'static str,
    /// The metric whose times are kept; `None` where it is everything.
    pub metric: Option<Metric>,
    /// Tick from which times are counted.
    pub zero: u64,
    /// Kept times, in order; ticks.
    pub kept: Vec<(u64, u64)>,
    /// Critical path by CPU.
    pub paths: BTreeMap<u16, Vec<PathPart>>,
    /// The CPU that took longest; its path is drawn first.
    pub slowest: Option<u16>,
}

/// A fold is as wide as this share of the kept time.
const FOLD: f64 = 0.015;

impl Axis {
    /// The name of its metric; empty where it is everything.
    pub fn metric_name(&self) -> &'static str {
        self.metric.map_or("", |metric| metric.name)
    }

    fn kept_ticks(&self) -> u64 {
        self.kept.iter().map(|(from, to)| to - from).sum()
    }

    /// Width of a fold, in ticks.
    pub fn fold(&self) -> f64 {
        self.kept_ticks() as f64 * FOLD
    }

    /// True if some of the span is kept.
    pub fn shows(&self, from: u64, to: u64) -> bool {
        self.kept
            .iter()
            .any(|&(begin, end)| from < end && to > begin)
    }
}

/// One iteration as it is drawn.
pub struct Picture {
    pub lanes: Vec<Lane>,
    pub axes: Vec<Axis>,
    pub tick_us: f64,
    /// CPUs that have no lane for want of room.
    pub left_out: usize,
}

/// The way in which a CPU is called.
pub type Names = BTreeMap<u16, (u16, u16)>;

/// `1.3`, or `CPU 3` where cluster and core are not known.
pub fn cpu_name(names: &Names, cpu: u16) -> String {
    names.get(&cpu).map_or_else(
        || format!("CPU {cpu}"),
        |(cluster, core)| format!("{cluster}.{core}"),
    )
}

impl Picture {
    pub fn new(
        iteration: &Iteration<'_>,
        names: &Names,
        tick_us: f64,
        metrics: &[Metric],
        detail: Detail,
    ) -> Self {
        let us = |us: f64| (us / tick_us) as u64;
        let mut axes: Vec<Axis> = metrics
            .iter()
            .filter_map(|metric| measured(iteration, *metric, us(1.0).max(1), us(5.0).max(1)))
            .collect();
        let mut cpus = iteration.cpus();
        cpus.sort_by_key(|cpu| (names.get(cpu).copied(), *cpu));
        let all = cpus.len();
        if all > detail.most_cpus {
            let chosen = most_telling(iteration, &axes, detail.most_cpus);
            cpus.retain(|cpu| chosen.contains(cpu));
        }
        for axis in &mut axes {
            axis.paths = iteration.paths(&cpus, axis.metric_name());
        }
        let mut lanes = cpus
            .iter()
            .map(|&cpu| {
                let calls = iteration.calls(cpu);
                Lane {
                    place: Actor::Cpu(cpu),
                    name: cpu_name(names, cpu),
                    sub: if names.contains_key(&cpu) {
                        format!("CPU {cpu}")
                    } else {
                        String::new()
                    },
                    spans: fold_polls(&iteration.lane(cpu), &calls),
                    calls: calls.into_iter().filter(|call| !call.is_poll()).collect(),
                }
            })
            .collect_vec();
        lanes.extend(scp(iteration));
        if detail.whole {
            axes.extend(whole(&lanes, iteration.extent(), us(1.0).max(1)));
        } else {
            for lane in &mut lanes {
                lane.spans
                    .retain(|span| axes.iter().any(|axis| axis.shows(span.from, span.to)));
                lane.calls
                    .retain(|call| axes.iter().any(|axis| axis.shows(call.from, call.to)));
            }
        }
        Self {
            left_out: all - cpus.len(),
            lanes,
            axes,
            tick_us,
        }
    }

    /// Number of a lane.
    pub fn lane_of(&self, place: Actor) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.place == place)
    }

    /// The causes of the lanes' spans, in the order of tables.
    pub fn causes(&self) -> Vec<Cause> {
        let spans = || self.lanes.iter().flat_map(|lane| &lane.spans);
        Cause::ALL
            .into_iter()
            .filter(|cause| spans().any(|span| span.what == What::Cause(*cause)))
            .collect()
    }
}

/// The axis of a metric: the times in which some CPU has it.
fn measured(iteration: &Iteration<'_>, metric: Metric, margin: u64, join: u64) -> Option<Axis> {
    let windows = iteration
        .cpus()
        .into_iter()
        .filter_map(|cpu| Some((iteration.window(cpu, metric.name)?, cpu)))
        .collect_vec();
    let slowest = windows
        .iter()
        .max_by_key(|((from, to), _)| to - from)
        .map(|&(_, cpu)| cpu);
    let zero = windows.iter().map(|((from, _), _)| *from).min()?;
    // Room for what stands at the edges.
    let span: u64 = united(windows.iter().map(|(window, _)| *window), join)
        .iter()
        .map(|(from, to)| to - from)
        .sum();
    let margin = margin.max(span / 150);
    let kept = united(
        windows
            .iter()
            .map(|((from, to), _)| (from.saturating_sub(margin), to + margin)),
        join,
    );
    // What is no power management is a call, and nothing more.
    let title = if metric == LATENCY {
        "Call"
    } else {
        metric.title
    };
    Some(Axis {
        title,
        metric: Some(metric),
        zero,
        kept,
        paths: BTreeMap::new(),
        slowest,
    })
}

/// The axis of everything: all but the times in which CPUs sleep, poll or run the normal world.
fn whole(lanes: &[Lane], (first, last): (u64, u64), margin: u64) -> Option<Axis> {
    let busy = || {
        lanes
            .iter()
            .flat_map(|lane| &lane.spans)
            .filter_map(|span| match span.what {
                What::Cause(_) | What::Serves(_) | What::Takes(_) => {
                    Some((span.from.saturating_sub(margin), span.to + margin))
                }
                _ => None,
            })
    };
    let mut join = margin * 20;
    let mut kept = united(busy(), join);
    // Each fold takes room of its own.
    while kept.len() > 16 {
        join *= 2;
        kept = united(busy(), join);
    }
    let zero = kept.first()?.0.max(first);
    (last > first).then_some(Axis {
        title: "Whole iteration",
        metric: None,
        zero,
        kept,
        paths: BTreeMap::new(),
        slowest: None,
    })
}

/// Times in order, those that overlap or are nearer than `join` made one.
fn united(times: impl Iterator<Item = (u64, u64)>, join: u64) -> Vec<(u64, u64)> {
    let mut times = times.collect_vec();
    times.sort_unstable();
    let mut united: Vec<(u64, u64)> = Vec::new();
    for (from, to) in times {
        match united.last_mut() {
            Some(last) if from <= last.1.saturating_add(join) => last.1 = last.1.max(to),
            _ => united.push((from, to)),
        }
    }
    united
}

/// The CPUs on the slowest CPU's path of each axis, then those that took longest.
fn most_telling(iteration: &Iteration<'_>, axes: &[Axis], most: usize) -> BTreeSet<u16> {
    let mut wanted = Vec::new();
    for axis in axes {
        let Some(slowest) = axis.slowest else {
            continue;
        };
        wanted.push(slowest);
        wanted.extend(
            iteration
                .path(slowest, axis.metric_name())
                .iter()
                .rev()
                .filter_map(|part| match part.place {
                    Actor::Cpu(cpu) => Some(cpu),
                    Actor::Scp(_) => part.serves,
                }),
        );
    }
    for axis in axes {
        let length = |cpu: &u16| {
            iteration
                .window(*cpu, axis.metric_name())
                .map_or(0, |(from, to)| to - from)
        };
        let mut slow = iteration.cpus();
        slow.sort_by_cached_key(|cpu| (std::cmp::Reverse(length(cpu)), *cpu));
        wanted.extend(slow.into_iter().take(most));
    }
    let mut chosen = BTreeSet::new();
    for cpu in wanted {
        if chosen.len() < most {
            chosen.insert(cpu);
        }
    }
    chosen
}

/// A lane with each run of polls as one span.
fn fold_polls(spans: &[LaneSpan], calls: &[Call]) -> Vec<Span> {
    let mut runs: Vec<(u64, u64, u32)> = Vec::new();
    let mut last_was_poll = false;
    for call in calls {
        match runs.last_mut() {
            Some(run) if call.is_poll() && last_was_poll => (run.1, run.2) = (call.to, run.2 + 1),
            _ if call.is_poll() => runs.push((call.from, call.to, 1)),
            _ => {}
        }
        last_was_poll = call.is_poll();
    }
    runs.retain(|run| run.2 > 1);
    let mut folded = Vec::new();
    let mut runs = runs.into_iter().peekable();
    for span in spans {
        while runs.peek().is_some_and(|run| run.1 <= span.from) {
            runs.next();
        }
        if let Some(&(from, to, polls)) = runs.peek().filter(|run| run.0 < span.to) {
            // Spans begin and end with calls, so one that touches a run lies in it; the run is
            // drawn with its first.
            if span.from <= from {
                folded.push(Span::new(from, to, What::Polls(polls)));
            }
            continue;
        }
        let what = match span.activity {
            Activity::Cause(cause) => What::Cause(cause),
            Activity::NormalWorld => What::NormalWorld,
            Activity::LowPower => What::LowPower,
        };
        folded.push(Span {
            from: span.from,
            to: span.to,
            what,
            on: span.on,
            holder: span.holder,
        });
    }
    folded
}

fn scp(iteration: &Iteration<'_>) -> Vec<Lane> {
    let services = iteration.services();
    let channels: BTreeSet<u32> = services.iter().map(|service| service.channel).collect();
    channels
        .into_iter()
        .map(|channel| Lane {
            place: Actor::Scp(channel),
            name: "SCP".to_owned(),
            sub: format!("channel {channel}"),
            spans: services
                .iter()
                .filter(|service| service.channel == channel)
                .flat_map(|service| {
                    let cpu = service.cpu;
                    [
                        Span::new(service.turned, service.from, What::Takes(cpu)),
                        Span::new(service.from, service.to, What::Serves(cpu)),
                    ]
                })
                .filter(|span| span.from < span.to)
                .collect(),
            calls: Vec::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_times_are_united() {
        let times = [(50, 60), (0, 10), (12, 20), (5, 8)];
        assert_eq!(united(times.into_iter(), 3), [(0, 20), (50, 60)]);
    }

    #[test]
    fn a_run_of_polls_is_one_span() {
        let code = |from, to| LaneSpan {
            from,
            to,
            activity: Activity::Cause(Cause::Code),
            on: None,
            holder: None,
        };
        let world = |from, to| LaneSpan {
            activity: Activity::NormalWorld,
            ..code(from, to)
        };
        let poll = |from, to| Call {
            function: Some(0xc400_0004),
            from,
            to,
        };
        let spans = [
            world(0, 10),
            code(10, 12),
            world(12, 20),
            code(20, 22),
            world(22, 30),
            code(30, 40),
        ];
        let calls = [
            poll(10, 12),
            poll(20, 22),
            Call {
                function: Some(0xc400_0001),
                ..poll(30, 40)
            },
        ];
        let folded: Vec<_> = fold_polls(&spans, &calls)
            .iter()
            .map(|span| (span.from, span.to, span.what))
            .collect();
        assert_eq!(
            folded,
            [
                (0, 10, What::NormalWorld),
                (10, 22, What::Polls(2)),
                (22, 30, What::NormalWorld),
                (30, 40, What::Cause(Cause::Code))
            ]
        );
    }
}
