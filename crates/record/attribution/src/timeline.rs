//! The events of one iteration, sorted by CPU, and who held what when.

use crate::causes::Cause;
use recording::{Event, Recording, Series};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Points that say what a CPU does, or what it holds, beside those by which causes are recognised.
const POINTS: [&str; 8] = [
    "enter-psci",
    "exit-psci",
    "enter-hw-low-pwr",
    "exit-hw-low-pwr",
    "lock-acquired",
    "lock-released",
    "scp-takes",
    "scp-done",
];

/// The points that mean something here, by their numbers: [`POINTS`], then begin and end of each
/// cause. A point that stands there more than once goes by its first number.
static MARKS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let causes = Cause::ALL
        .into_iter()
        .filter_map(|cause| cause.row().recognition);
    let ends = causes.flat_map(|recognition| [recognition.begin, recognition.end]);
    POINTS.into_iter().chain(ends).collect()
});

/// A point that means something here; points of other instruments have none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark(u8);

impl Mark {
    // By their places in `POINTS`.
    pub(crate) const ENTER_PSCI: Self = Self(0);
    pub(crate) const EXIT_PSCI: Self = Self(1);
    pub(crate) const ENTER_LOW_POWER: Self = Self(2);
    pub(crate) const EXIT_LOW_POWER: Self = Self(3);
    const LOCK_ACQUIRED: Self = Self(4);
    const LOCK_RELEASED: Self = Self(5);
    pub(crate) const SCP_TAKES: Self = Self(6);
    pub(crate) const SCP_DONE: Self = Self(7);

    /// The mark of a point, by its name.
    pub(crate) fn of_point(point: &str) -> Option<Self> {
        let place = MARKS.iter().position(|mark| *mark == point)?;
        Some(Self(place as u8))
    }
}

/// One event of interest.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) mark: Mark,
    pub(crate) ticks: u64,
    pub(crate) argument: u32,
}

/// A span in which a CPU had a thing for itself.
pub(crate) struct HeldSpan {
    pub(crate) cpu: u16,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// The CPUs that had a thing for themselves, in order of when they got it.
#[derive(Default)]
pub(crate) struct Holders {
    held: Vec<HeldSpan>,
    /// True if each got it no earlier, and let it go no earlier, than the one before; an imported
    /// log may say otherwise.
    follow: bool,
}

impl Holders {
    /// All of them.
    pub(crate) fn all(&self) -> &[HeldSpan] {
        &self.held
    }

    /// Those among whom all are who had it at any time between `from` and `to`.
    pub(crate) fn between(&self, from: u64, to: u64) -> &[HeldSpan] {
        if !self.follow {
            return &self.held;
        }
        let first = self.held.partition_point(|held| held.to <= from);
        let rest = &self.held[first..];
        &rest[..rest.partition_point(|held| held.from < to)]
    }

    fn settle(&mut self) {
        self.follow = self
            .held
            .is_sorted_by(|one, next| one.from <= next.from && one.to <= next.to);
    }
}

/// One iteration of one series.
#[derive(Default)]
pub(crate) struct Timeline {
    /// Each CPU's events in order.
    pub(crate) steps: BTreeMap<u16, Vec<Step>>,
    /// The holders of each lock, by its id.
    pub(crate) locks: BTreeMap<u32, Holders>,
    /// Whose command the SCP had in hand, by channel.
    pub(crate) served: BTreeMap<u32, Holders>,
}

/// All iterations of a recording, by series and iteration.
pub fn timelines(recording: &Recording) -> BTreeMap<(Series, u32), Timeline> {
    let marks: Vec<_> = MARKS
        .iter()
        .filter_map(|name| Some((recording.find_point(name)?, Mark::of_point(name)?)))
        .collect();
    let mut timelines: BTreeMap<(Series, u32), Timeline> = BTreeMap::new();
    // Events of an iteration lie together: one look-up serves them all.
    for events in recording
        .events()
        .chunk_by(|a, b| (a.series, a.iteration) == (b.series, b.iteration))
    {
        let timeline = timelines
            .entry((events[0].series, events[0].iteration))
            .or_default();
        for event in events {
            if let Some(&(_, mark)) = marks.iter().find(|&&(point, _)| point == event.point) {
                timeline.add(event, mark);
            }
        }
    }
    for timeline in timelines.values_mut() {
        timeline
            .locks
            .values_mut()
            .chain(timeline.served.values_mut())
            .for_each(Holders::settle);
    }
    timelines
}

impl Timeline {
    fn add(&mut self, event: &Event, mark: Mark) {
        let step = Step {
            mark,
            ticks: event.ticks,
            argument: event.argument,
        };
        let (table, opens) = match mark {
            Mark::LOCK_ACQUIRED => (Some(&mut self.locks), true),
            Mark::LOCK_RELEASED => (Some(&mut self.locks), false),
            Mark::SCP_TAKES => (Some(&mut self.served), true),
            Mark::SCP_DONE => (Some(&mut self.served), false),
            _ => (None, false),
        };
        if let Some(table) = table {
            let held = &mut table.entry(event.argument).or_default().held;
            if opens {
                held.push(HeldSpan {
                    cpu: event.cpu,
                    from: event.ticks,
                    to: u64::MAX,
                });
            } else if let Some(open) = held
                .iter_mut()
                .rev()
                .find(|held| held.cpu == event.cpu && held.to == u64::MAX)
            {
                open.to = event.ticks;
            }
        }
        self.steps.entry(event.cpu).or_default().push(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::of_events;

    /// Recordings hold points of other instruments too: those mean nothing here.
    #[test]
    fn a_point_has_a_mark_if_causes_or_holders_are_told_by_it() {
        for name in POINTS.into_iter().chain(["lock-wait", "exit-cflush"]) {
            assert_eq!(
                Mark::of_point(name).map(|mark| MARKS[usize::from(mark.0)]),
                Some(name)
            );
        }
        for name in ["enter", "enter-psci-twice", "frame-start"] {
            assert_eq!(Mark::of_point(name), None, "{name}");
        }
    }

    /// A lock that goes from hand to hand: the next one's stamp may come first in the recording. A
    /// release without an acquire ends nothing.
    #[test]
    fn a_release_ends_what_its_own_cpu_held() {
        let (recording, series) = of_events(&[
            (0, 5, "lock-acquired", 7),
            (1, 20, "lock-acquired", 7),
            (0, 20, "lock-released", 7),
            (2, 25, "lock-released", 7),
            (1, 30, "lock-released", 7),
            (0, 40, "lock-acquired", 7),
        ]);
        let timelines = timelines(&recording);
        let held: Vec<_> = timelines[&(series, 0)].locks[&7]
            .all()
            .iter()
            .map(|held| (held.cpu, held.from, held.to))
            .collect();
        assert_eq!(held, [(0, 5, 20), (1, 20, 30), (0, 40, u64::MAX)]);
    }

    /// The holder of a thing in a span is found whether or not its holders follow each other: a log
    /// may have lost a release.
    #[test]
    fn holders_of_a_span_are_found_by_a_search_or_among_all() {
        let held = |holders: &[(u64, u64)]| {
            let held = holders
                .iter()
                .map(|&(from, to)| HeldSpan { cpu: 0, from, to })
                .collect();
            let mut holders = Holders {
                held,
                follow: false,
            };
            holders.settle();
            holders
        };
        let follow = held(&[(0, 10), (10, 20), (20, 30), (40, 50)]);
        let lost = held(&[(0, u64::MAX), (10, 20), (20, 30), (40, 50)]);
        for (from, to, found) in [
            (10, 20, 1),
            (9, 21, 3),
            (30, 40, 0),
            (30, 41, 1),
            (50, 60, 0),
            (0, 60, 4),
        ] {
            assert_eq!(follow.between(from, to).len(), found, "{from} to {to}");
            assert_eq!(lost.between(from, to).len(), 4, "{from} to {to}");
        }
    }
}
