//! The events of one iteration, sorted by CPU, and who held what when.

use recording::{Event, Recording, Series};
use std::collections::BTreeMap;

/// What an event means here; points of other instruments mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    EnterPsci,
    ExitPsci,
    EnterLowPower,
    ExitLowPower,
    EnterFlush,
    ExitFlush,
    FlushL2,
    LockWait,
    LockAcquired,
    LockReleased,
    ScpWait,
    ScpWaitEnd,
    OrderWait,
    OrderWaitEnd,
    ScpTakes,
    ScpDone,
    Interconnect,
    InterconnectEnd,
    ResetDone,
}

const MARKS: [(&str, Mark); 19] = [
    ("enter-psci", Mark::EnterPsci),
    ("exit-psci", Mark::ExitPsci),
    ("enter-hw-low-pwr", Mark::EnterLowPower),
    ("exit-hw-low-pwr", Mark::ExitLowPower),
    ("enter-cflush", Mark::EnterFlush),
    ("exit-cflush", Mark::ExitFlush),
    ("flushed-l2-lines", Mark::FlushL2),
    ("lock-wait", Mark::LockWait),
    ("lock-acquired", Mark::LockAcquired),
    ("lock-released", Mark::LockReleased),
    ("scp-wait", Mark::ScpWait),
    ("scp-wait-end", Mark::ScpWaitEnd),
    ("order-wait", Mark::OrderWait),
    ("order-wait-end", Mark::OrderWaitEnd),
    ("scp-takes", Mark::ScpTakes),
    ("scp-done", Mark::ScpDone),
    ("interconnect", Mark::Interconnect),
    ("interconnect-end", Mark::InterconnectEnd),
    ("reset-done", Mark::ResetDone),
];

impl Mark {
    /// The mark of a point, by its name.
    pub(crate) fn of_point(point: &str) -> Option<Self> {
        MARKS.iter().find(|(name, _)| *name == point).map(|&(_, mark)| mark)
    }
}

/// One event of interest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) mark: Mark,
    pub(crate) ticks: u64,
    pub(crate) argument: u32,
}

/// A span in which a CPU had a thing for itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) cpu: u16,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// One iteration of one series.
#[derive(Default)]
pub(crate) struct Timeline {
    /// Each CPU's events in order.
    pub(crate) steps: BTreeMap<u16, Vec<Step>>,
    /// Who held which lock, by its id.
    pub(crate) locks: BTreeMap<u32, Vec<Held>>,
    /// Whose command the SCP had in hand, by channel.
    pub(crate) served: BTreeMap<u32, Vec<Held>>,
}

/// All iterations of a recording, by series and iteration.
pub(crate) fn timelines(recording: &Recording) -> BTreeMap<(Series, u32), Timeline> {
    let marks: Vec<_> = MARKS.iter().filter_map(|&(name, mark)| Some((recording.find_point(name)?, mark))).collect();
    let mut timelines: BTreeMap<(Series, u32), Timeline> = BTreeMap::new();
    let same = |a: &Event, b: &Event| (a.series, a.iteration) == (b.series, b.iteration);
    // Events of an iteration lie together: one look-up serves them all.
    for events in recording.events().chunk_by(same) {
        let timeline = timelines.entry((events[0].series, events[0].iteration)).or_default();
        for event in events {
            if let Some(&(_, mark)) = marks.iter().find(|&&(point, _)| point == event.point) {
                timeline.add(event, mark);
            }
        }
    }
    timelines
}

impl Timeline {
    fn add(&mut self, event: &Event, mark: Mark) {
        let step = Step { mark, ticks: event.ticks, argument: event.argument };
        let (table, opens) = match mark {
            Mark::LockAcquired => (Some(&mut self.locks), true),
            Mark::LockReleased => (Some(&mut self.locks), false),
            Mark::ScpTakes => (Some(&mut self.served), true),
            Mark::ScpDone => (Some(&mut self.served), false),
            _ => (None, false),
        };
        if let Some(table) = table {
            let held = table.entry(event.argument).or_default();
            if opens {
                held.push(Held { cpu: event.cpu, from: event.ticks, to: u64::MAX });
            } else if let Some(open) = held.iter_mut().rev().find(|held| held.cpu == event.cpu && held.to == u64::MAX) {
                open.to = event.ticks;
            }
        }
        self.steps.entry(event.cpu).or_default().push(step);
    }
}
