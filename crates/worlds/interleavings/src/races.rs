//! Data races: accesses of plain data by two processes, one of them a write, that nothing orders.
//!
//! Each process has a clock of what it knows of the others' work, as the memory model of Rust and
//! C++ has it ("happens before"): an acquiring load takes over the clock that a releasing store
//! left with the value, a read-modify-write hands on what it found, and fences do it for the
//! relaxed accesses around them. Lamport's clocks as vectors (Fidge 1988, Mattern 1989), with one
//! epoch for each access of plain data (Flanagan and Freund, "FastTrack", 2009).

use crate::options::MOST_CPUS;
use crate::place::OperationIndex;
use std::panic::Location;

/// The number of the clock that came with a value; 0 for none.
pub(crate) type Tag = u16;

/// Processes that have a clock: the CPUs, and the one that is none.
const PROCESSES: usize = MOST_CPUS + 1;

/// The part of each process's work that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock([u32; PROCESSES]);

impl Clock {
    const NOTHING: Self = Self([0; PROCESSES]);

    fn join(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = (*own).max(other);
        }
    }
}

/// An access of plain data.
#[derive(Clone, Copy, Debug)]
struct Access {
    process: usize,
    /// The process's own time.
    at: u32,
    operation: OperationIndex,
    place: Option<&'static Location<'static>>,
}

impl Access {
    fn words(self, does: &str) -> String {
        let place = self.place.map_or_else(String::new, |place| format!(" in {}:{}", place.file(), place.line()));
        format!("CPU {} {does}{place} after its operation {}", self.process, self.operation)
    }
}

/// Plain data that several processes touch.
#[derive(Clone, Debug, Default)]
struct Plain {
    write: Option<Access>,
    /// The last read of each process since that write.
    reads: Vec<Access>,
}

/// The clocks of a run.
#[derive(Clone, Debug)]
pub(crate) struct Races {
    known: Vec<Clock>,
    /// The clocks that relaxed loads brought, for an acquiring fence.
    loaded: Vec<Clock>,
    /// The clocks at the last releasing fence.
    fenced: Vec<Clock>,
    tags: Vec<Clock>,
    plain: Vec<Plain>,
}

impl Races {
    pub(crate) fn new() -> Self {
        let none = vec![Clock::NOTHING; PROCESSES];
        let mut races =
            Self { known: none.clone(), loaded: none.clone(), fenced: none, tags: Vec::new(), plain: Vec::new() };
        races.begin();
        races
    }

    /// Forgets a run.
    pub(crate) fn begin(&mut self) {
        for clocks in [&mut self.known, &mut self.loaded, &mut self.fenced] {
            clocks.fill(Clock::NOTHING);
        }
        for (process, clock) in self.known.iter_mut().enumerate() {
            clock.0[process] = 1;
        }
        self.tags.clear();
        self.tags.push(Clock::NOTHING);
        self.plain.clear();
    }

    fn tag(&mut self, clock: Clock) -> Tag {
        if clock == Clock::NOTHING {
            return 0;
        }
        // A run with more clocks than that keeps the last one: it may miss a race, and reports none
        // that is not there.
        if self.tags.len() <= usize::from(Tag::MAX) {
            self.tags.push(clock);
        } else if let Some(last) = self.tags.last_mut() {
            last.join(&clock);
        }
        (self.tags.len() - 1) as Tag
    }

    /// The clock that a store leaves; `found` is that of the value which it replaces in one step.
    pub(crate) fn stores(&mut self, process: usize, releases: bool, found: Tag) -> Tag {
        let mut clock = self.tags[usize::from(found)];
        clock.join(if releases { &self.known[process] } else { &self.fenced[process] });
        if releases {
            self.known[process].0[process] += 1;
        }
        self.tag(clock)
    }

    /// A load returns a value that came with this clock.
    pub(crate) fn loads(&mut self, process: usize, acquires: bool, tag: Tag) {
        let clock = self.tags[usize::from(tag)];
        self.loaded[process].join(&clock);
        if acquires {
            self.known[process].join(&clock);
        }
    }

    /// A fence that acquires, releases, or both.
    pub(crate) fn fence(&mut self, process: usize, acquires: bool, releases: bool) {
        if acquires {
            let loaded = self.loaded[process];
            self.known[process].join(&loaded);
        }
        if releases {
            self.fenced[process] = self.known[process];
            self.known[process].0[process] += 1;
        }
    }

    /// A process learns all that another one knows.
    pub(crate) fn learns_from(&mut self, process: usize, other: usize) {
        let clock = self.known[other];
        self.known[process].join(&clock);
        self.known[other].0[other] += 1;
    }

    /// Another piece of plain data, written by the process that makes it.
    pub(crate) fn make_plain(&mut self) -> u32 {
        self.plain.push(Plain::default());
        (self.plain.len() - 1) as u32
    }

    /// A process accesses plain data; the race in words, if it is one.
    pub(crate) fn access(
        &mut self,
        process: usize,
        plain: u32,
        writes: bool,
        operation: OperationIndex,
        place: Option<&'static Location<'static>>,
    ) -> Option<String> {
        let known = self.known[process];
        let access = Access { process, at: known.0[process], operation, place };
        let data = self.plain.get_mut(plain as usize)?;
        let unordered = |other: &&Access| other.process != process && other.at > known.0[other.process];
        let first = data.write.as_ref().filter(unordered).map(|other| (*other, "writes"));
        let first = first.or_else(|| {
            let read = data.reads.iter().find(unordered).filter(|_| writes);
            read.map(|other| (*other, "reads"))
        });
        if let Some((other, did)) = first {
            let does = if writes { "writes" } else { "reads" };
            return Some(format!(
                "plain data {plain}: {}, and nothing orders that behind what came before: {}",
                access.words(does),
                other.words(did)
            ));
        }
        if writes {
            data.write = Some(access);
            data.reads.clear();
        } else {
            match data.reads.iter_mut().find(|read| read.process == process) {
                Some(read) => *read = access,
                None => data.reads.push(access),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Races;
    use crate::place::OperationIndex;

    #[test]
    fn what_a_release_hands_over_is_no_race() {
        let at = OperationIndex::default();
        for (releases, acquires) in [(true, true), (true, false), (false, true)] {
            let mut races = Races::new();
            let data = races.make_plain();
            assert_eq!(races.access(0, data, true, at, None), None);
            let tag = races.stores(0, releases, 0);
            races.loads(1, acquires, tag);
            let race = races.access(1, data, false, at, None);
            assert_eq!(race.is_none(), releases && acquires, "{race:?}");
        }
        // A fence on either side does as well.
        let mut races = Races::new();
        let data = races.make_plain();
        races.access(0, data, false, at, None);
        races.fence(0, false, true);
        let tag = races.stores(0, false, 0);
        // Handed on by somebody who knows nothing of it.
        let tag = races.stores(2, false, tag);
        races.loads(1, false, tag);
        races.fence(1, true, false);
        assert_eq!(races.access(1, data, true, at, None), None);
        // The reader may not come back.
        assert!(races.access(0, data, false, at, None).unwrap().contains("CPU 1 writes"));
    }
}
