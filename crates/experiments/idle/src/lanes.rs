//! The timeline of a replay: what each governor chose, beside the trace, about the interval that
//! decided most.
//!
//! A trace has more intervals than anybody looks at, and a replay has a dozen governors: only the
//! CPUs of one domain are kept, and some milliseconds.

use crate::platform::Platform;
use crate::replay::GovernorReplay;
use crate::trace::TracedIntervals;
use crate::trial::{Given, Row};
use itertools::Itertools;
use recording::{Lane, Recording};
use sleeps::{SleepLength, Waker};
use std::collections::BTreeMap;

/// The time that is shown before the interval that decided, and after it, in nanoseconds.
const AROUND_NS: u64 = 10_000_000;
/// Longest part of an interval that is shown, in nanoseconds.
const MOST_NS: u64 = 60_000_000;

const CASE: &str = "timeline";
const CHOSEN: [&str; 2] = ["idle-enter", "idle-exit"];
const TRACED: [&str; 2] = ["traced-enter", "traced-exit"];
const DUE: &str = "timer-due";

/// Adds the events of the timeline, and declares its lanes.
pub fn add(recording: &mut Recording, given: &Given, rows: &[Row]) {
    let Given {
        platform,
        traced,
        oracle,
        ..
    } = given;
    let shown = rows
        .iter()
        .filter(|row| row.state_names.len() == platform.domains[0].states.len())
        .filter_map(|row| Some((row, &row.replays.first()?.1)))
        .collect_vec();
    let Some((cpu, from_ns, to_ns)) = window(traced, &shown) else {
        return;
    };
    declare(recording, platform, traced);
    let place = platform.place(cpu);
    let cpus = (0..traced.cpus.len() as u16)
        .filter(|&cpu| platform.place(cpu) == place)
        .collect_vec();
    trace(recording, traced, &cpus, (from_ns, to_ns));
    for (name, chosen) in shown
        .iter()
        .map(|(row, replayed)| (row.name(), &replayed.chosen))
        .chain([("oracle".to_owned(), &oracle.chosen)])
    {
        let series = recording.series(&name, CASE, "");
        let [enter, exit] = CHOSEN.map(|point| recording.point(point));
        for &cpu in &cpus {
            for (sleep, &state) in traced.cpus[usize::from(cpu)]
                .iter()
                .zip(&chosen[usize::from(cpu)])
            {
                if sleep.exit_ns > from_ns && sleep.enter_ns < to_ns {
                    recording.event(
                        series,
                        0,
                        cpu,
                        sleep.enter_ns.max(from_ns),
                        0,
                        enter,
                        state.into(),
                    );
                    recording.event(
                        series,
                        0,
                        cpu,
                        sleep.exit_ns.min(to_ns),
                        0,
                        exit,
                        state.into(),
                    );
                }
            }
        }
    }
}

/// The CPU that is shown, and from when to when: about the first sleep in which a file chose
/// otherwise, or the interval that cost any governor most.
fn window(traced: &TracedIntervals, shown: &[(&Row, &GovernorReplay)]) -> Option<(u16, u64, u64)> {
    let yardstick = |row: &Row| matches!(row.name().as_str(), "never-deep" | "always-deepest");
    let worst_of =
        |(row, _): &(&Row, &GovernorReplay)| row.worst.map(|excess| (!yardstick(row), excess));
    let worst = || {
        let all = shown.iter().filter_map(worst_of);
        let worst = all.max_by_key(|(real, excess)| (*real, excess.energy));
        worst.map(|(_, excess)| (excess.cpu, excess.at))
    };
    let mut changed = shown.iter().filter_map(|(row, _)| row.changed.as_ref()?.1);
    let (cpu, at) = changed.next().or_else(worst).unwrap_or((0, 0));
    let sleep = traced.cpus.get(usize::from(cpu))?.get(at)?;
    let end_ns = sleep.exit_ns.min(sleep.enter_ns + MOST_NS);
    Some((
        cpu,
        sleep.enter_ns.saturating_sub(AROUND_NS),
        end_ns + AROUND_NS,
    ))
}

fn declare(recording: &mut Recording, platform: &Platform, traced: &TracedIntervals) {
    let header = &mut recording.header;
    let lane = |title: &str, [begin, end]: [&str; 2], names: &mut dyn Iterator<Item = &str>| Lane {
        title: title.to_owned(),
        begin: begin.to_owned(),
        end: Some(end.to_owned()),
        names: (0..).zip(names.map(str::to_owned)).collect(),
        ..Lane::default()
    };
    // A trace that does not name its states has them by number.
    let deepest = traced
        .all()
        .map(|sleep| usize::from(sleep.state) + 1)
        .max()
        .unwrap_or(0);
    let states = (0..deepest.max(traced.states.len()))
        .map(|state| {
            traced
                .states
                .get(state)
                .cloned()
                .unwrap_or_else(|| format!("state {state} of the trace"))
        })
        .collect_vec();
    let mut of_trace = lane(
        "idle state in the trace",
        TRACED,
        &mut states.iter().map(String::as_str),
    );
    of_trace.marks = marks()
        .into_iter()
        .map(|(point, name)| (point.to_owned(), name.to_owned()))
        .collect();
    header.lanes = vec![
        of_trace,
        lane("idle state chosen", CHOSEN, &mut platform.state_names()),
    ];
}

/// Marks of the trace's lane.
fn marks() -> BTreeMap<&'static str, &'static str> {
    [
        Waker::Timer,
        Waker::Tick,
        Waker::Interrupt(0),
        Waker::Ipi,
        Waker::Scheduler,
    ]
    .map(mark)
    .into_iter()
    .chain([(DUE, "the next timer is due")])
    .collect()
}

/// The mark of a waker, with its words.
const fn mark(waker: Waker) -> (&'static str, &'static str) {
    match waker {
        Waker::Timer => ("woken-timer", "woken by a timer"),
        Waker::Tick => ("woken-tick", "woken by the tick"),
        Waker::Interrupt(_) => ("woken-interrupt", "woken by an interrupt"),
        Waker::Ipi => ("woken-ipi", "woken by another CPU"),
        Waker::Scheduler => ("woken-scheduler", "woken by the scheduler"),
        Waker::Unknown => (
            "woken-unknown",
            "woken by something that is not in the trace",
        ),
    }
}

/// The trace itself: states, what ended them, and when the next timer was due.
fn trace(
    recording: &mut Recording,
    traced: &TracedIntervals,
    cpus: &[u16],
    (from_ns, to_ns): (u64, u64),
) {
    let series = recording.series("trace", CASE, "");
    let [enter, exit] = TRACED.map(|point| recording.point(point));
    for &cpu in cpus {
        let mut events = Vec::new();
        for sleep in traced.cpus[usize::from(cpu)]
            .iter()
            .filter(|s| s.exit_ns > from_ns && s.enter_ns < to_ns)
        {
            events.push((sleep.enter_ns.max(from_ns), enter, sleep.state.into()));
            let number = if let Waker::Interrupt(number) = sleep.waker {
                number
            } else {
                0
            };
            if sleep.exit_ns <= to_ns {
                events.push((sleep.exit_ns, recording.point(mark(sleep.waker).0), number));
            }
            events.push((sleep.exit_ns.min(to_ns), exit, sleep.state.into()));
            if let SleepLength::Known { timer_ns, .. } = sleep.length {
                let due_ns = sleep.enter_ns.saturating_add(timer_ns);
                if due_ns <= sleep.exit_ns.min(to_ns) && due_ns >= from_ns {
                    events.push((due_ns, recording.point(DUE), 0));
                }
            }
        }
        events.sort_by_key(|(at, ..)| *at);
        for (at, point, argument) in events {
            recording.event(series, 0, cpu, at, 0, point, argument);
        }
    }
}
