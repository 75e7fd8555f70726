//! Data races: accesses of plain data by two processes, one of them a write, that nothing orders.
//!
//! Each process has a clock of what it knows of the others' work, as the memory model of Rust and
//! C++ has it ("happens before"): an acquiring load takes over the clock that a releasing store
//! left with the value, a read-modify-write hands on what it found, and fences do it for the
//! relaxed accesses around them. Lamport's clocks as vectors (Fidge 1988, Mattern 1989), with one
//! epoch for each access of plain data (Flanagan and Freund, "FastTrack", 2009).

use crate::limits::MOST_CPUS;
use crate::operation::OperationIndex;
use std::panic::Location;

/// The number of the clock that came with a value; 0 for none.
pub type Tag = u16;

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

/// The clock that came with a value.
#[derive(Clone, Copy, Debug)]
struct TaggedClock {
    clock: Clock,
    /// A process and its own time: whoever knows of that knows all of the clock.
    by: Option<(u8, u32)>,
}

/// An access of plain data.
#[derive(Clone, Copy, Debug)]
struct Access {
    process: usize,
    /// The process's own time.
    at: u32,
    operation: OperationIndex,
    place: &'static Location<'static>,
}

impl Access {
    fn words(self, who: &str, does: &str) -> String {
        let (file, line) = (self.place.file(), self.place.line());
        let place = match file.rsplit_once("/out/") {
            // A build has made the source of another one: its lines are nobody's.
            Some((_, file)) => file.to_owned(),
            None => format!("{file}:{line}"),
        };
        format!(
            "{who} {} {does} in {place} after its operation {}",
            self.process, self.operation
        )
    }
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    /// Both, in words.
    pub(crate) words: String,
    /// The first one: its process, and the operation after which it came.
    pub(crate) first: (u8, OperationIndex),
    /// It would be none if the load of the data's address had acquired.
    pub(crate) by_address: bool,
}

/// Plain data that several processes touch.
#[derive(Clone, Debug, Default)]
struct Plain {
    /// The process that alone has touched it since its own last write, or since the start; none if
    /// there are several.
    only: Option<u8>,
    /// Last read and last write of the only process.
    own: [Option<Access>; 2],
    /// The last write where there are several, and the last read of each process since.
    write: Option<Access>,
    reads: Vec<Access>,
}

impl Plain {
    fn forget(&mut self) {
        self.only = None;
        self.own = [None; 2];
        self.write = None;
        self.reads.clear();
    }
}

/// The clocks of a run.
#[derive(Clone, Debug)]
pub(crate) struct Races {
    /// What a process is called.
    who: &'static str,
    known: Vec<Clock>,
    /// The clocks that relaxed loads brought, for an acquiring fence.
    loaded: Vec<Clock>,
    /// The tags of the clocks at the last releasing fence, and the process's own time then.
    fenced: Vec<(Tag, u32)>,
    tags: Vec<TaggedClock>,
    /// Pieces of plain data; the first `made` belong to the run.
    plain: Vec<Plain>,
    made: usize,
}

impl Races {
    pub(crate) fn new(processes: usize, who: &'static str) -> Self {
        let none = vec![Clock::NOTHING; processes];
        let mut races = Self {
            who,
            known: none.clone(),
            loaded: none,
            fenced: vec![(0, 0); processes],
            tags: Vec::new(),
            plain: Vec::new(),
            made: 0,
        };
        races.begin();
        races
    }

    /// Forgets a run.
    pub(crate) fn begin(&mut self) {
        for clocks in [&mut self.known, &mut self.loaded] {
            clocks.fill(Clock::NOTHING);
        }
        self.fenced.fill((0, 0));
        for (process, clock) in self.known.iter_mut().enumerate() {
            clock.0[process] = 1;
        }
        self.tags.clear();
        self.tags.push(TaggedClock {
            clock: Clock::NOTHING,
            by: None,
        });
        self.made = 0;
    }

    fn tag(&mut self, clock: Clock, by: Option<(u8, u32)>) -> Tag {
        // A run with more clocks than that keeps the last one: it may miss a race, and reports none
        // that is not there.
        if self.tags.len() <= usize::from(Tag::MAX) {
            self.tags.push(TaggedClock { clock, by });
        } else if let Some(last) = self.tags.last_mut() {
            last.clock.join(&clock);
            last.by = None;
        }
        (self.tags.len() - 1) as Tag
    }

    /// True if a process knows all of a clock.
    #[inline(always)]
    fn knows(&self, process: usize, tag: Tag) -> bool {
        let by = self.tags[usize::from(tag)].by;
        tag == 0 || by.is_some_and(|(by, at)| self.known[process].0[usize::from(by)] >= at)
    }

    /// The clock that a store leaves; `found` is that of the value which it replaces in one step.
    #[inline]
    pub(crate) fn stores(&mut self, process: usize, releases: bool, found: Tag) -> Tag {
        if !releases {
            let (fenced, at) = self.fenced[process];
            return match (fenced, found) {
                (_, 0) => fenced,
                (0, _) => found,
                _ if self.tags[usize::from(found)].clock.0[process] >= at => found,
                _ => {
                    let mut clock = self.tags[usize::from(found)].clock;
                    clock.join(&self.tags[usize::from(fenced)].clock);
                    self.tag(clock, None)
                }
            };
        }
        let mut clock = self.known[process];
        let mut by = Some((process as u8, clock.0[process]));
        if !self.knows(process, found) {
            clock.join(&self.tags[usize::from(found)].clock);
            by = None;
        }
        self.known[process].0[process] += 1;
        self.tag(clock, by)
    }

    /// A load returns a value that came with this clock.
    #[inline]
    pub(crate) fn loads(&mut self, process: usize, acquires: bool, tag: Tag) {
        if !self.knows(process, tag) {
            let clock = &self.tags[usize::from(tag)].clock;
            let knowing = if acquires {
                &mut self.known
            } else {
                &mut self.loaded
            };
            knowing[process].join(clock);
        }
    }

    /// A fence that acquires, releases, or both.
    pub(crate) fn fence(&mut self, process: usize, acquires: bool, releases: bool) {
        if acquires {
            let loaded = self.loaded[process];
            self.known[process].join(&loaded);
        }
        if releases {
            let clock = self.known[process];
            let at = clock.0[process];
            self.fenced[process] = (self.tag(clock, Some((process as u8, at))), at);
            self.known[process].0[process] += 1;
        }
    }

    /// A process learns all that another one knows.
    pub(crate) fn learns_from(&mut self, process: usize, other: usize) {
        let clock = self.known[other];
        self.known[process].join(&clock);
        self.known[other].0[other] += 1;
    }

    /// All that a process knows, for somebody whom it tells outside memory.
    pub(crate) fn tells(&mut self, process: usize) -> Tag {
        self.stores(process, true, 0)
    }

    /// Another piece of plain data, written by the process that makes it.
    pub(crate) fn make_plain(&mut self) -> u32 {
        match self.plain.get_mut(self.made) {
            Some(plain) => {
                plain.forget();
            }
            None => self.plain.push(Plain::default()),
        }
        self.made += 1;
        (self.made - 1) as u32
    }

    /// A process accesses plain data; the race, if it is one.
    #[inline]
    pub(crate) fn access(
        &mut self,
        process: usize,
        plain: u32,
        writes: bool,
        operation: OperationIndex,
        place: &'static Location<'static>,
    ) -> Option<Race> {
        let access = Access {
            process,
            at: self.known[process].0[process],
            operation,
            place,
        };
        let data = self.plain[..self.made].get_mut(plain as usize)?;
        if data.only == Some(process as u8) {
            data.own[usize::from(writes)] = Some(access);
            return None;
        }
        self.access_of_others(access, plain, writes)
    }

    fn access_of_others(&mut self, access: Access, plain: u32, writes: bool) -> Option<Race> {
        let Access { process, .. } = access;
        let known = &self.known[process];
        let data = self.plain.get_mut(plain as usize)?;
        if data.only.take().is_some() {
            let [read, write] = std::mem::take(&mut data.own);
            data.write = write;
            data.reads.clear();
            data.reads.extend(read);
        }
        let unordered =
            |other: &&Access| other.process != process && other.at > known.0[other.process];
        let first = data
            .write
            .as_ref()
            .filter(unordered)
            .map(|other| (*other, "writes"));
        let first = first.or_else(|| {
            data.reads
                .iter()
                .find(unordered)
                .filter(|_| writes)
                .map(|other| (*other, "reads"))
        });
        if let Some((other, did)) = first {
            let does = if writes { "writes" } else { "reads" };
            let words = format!(
                "{}, and nothing orders that behind what came before: {}",
                access.words(self.who, does),
                other.words(self.who, did)
            );
            return Some(Race {
                words,
                first: (other.process as u8, other.operation),
                by_address: false,
            });
        }
        if writes || data.write.is_none() && data.reads.is_empty() {
            data.only = Some(process as u8);
            data.own[usize::from(writes)] = Some(access);
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
    use crate::operation::OperationIndex;
    use std::panic::Location;

    #[test]
    fn what_a_release_hands_over_is_no_race() {
        let (at, here) = (OperationIndex::default(), Location::caller());
        for (releases, acquires) in [(true, true), (true, false), (false, true)] {
            let mut races = Races::new(3, "CPU");
            let data = races.make_plain();
            assert_eq!(races.access(0, data, true, at, here), None);
            let tag = races.stores(0, releases, 0);
            races.loads(1, acquires, tag);
            let race = races.access(1, data, false, at, here);
            assert_eq!(race.is_none(), releases && acquires, "{race:?}");
        }
        // A fence on either side does as well.
        let mut races = Races::new(3, "CPU");
        let data = races.make_plain();
        races.access(0, data, false, at, here);
        races.fence(0, false, true);
        let tag = races.stores(0, false, 0);
        // Handed on by somebody who knows nothing of it.
        let tag = races.stores(2, false, tag);
        races.loads(1, false, tag);
        races.fence(1, true, false);
        assert_eq!(races.access(1, data, true, at, here), None);
        // The reader may not come back.
        assert!(
            races
                .access(0, data, false, at, here)
                .unwrap()
                .words
                .contains("CPU 1 writes")
        );
    }
}
