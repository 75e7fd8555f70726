//! The reach of an exploration, and what lies beyond it.

use crate::machine::{Deviation, Kind};

/// Something that a subject counts in every run, such as a call with its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The kind of thing: the heading under which it is told.
    pub group: &'static str,
    /// The subject of the count: a call, a domain.
    pub of: &'static str,
    /// Outcome of the call, or state of the domain.
    pub what: &'static str,
}

/// An access of a shared word, as far as it matters who met whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The word.
    pub cell: u16,
    /// The kind of word, from 0.
    pub word: u16,
    /// The actor, from 0: the call that made it, and whether it stored.
    pub actor: u16,
    /// It changed the word.
    pub stores: bool,
    /// The process.
    pub process: u8,
}

/// The numbers of kinds of words and of actors a subject has; both 0 where nobody watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Kinds of words.
    pub words: u16,
    /// Number of actors.
    pub actors: u16,
    /// Branches of the library.
    pub places: usize,
}

/// The reach of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Counters of every run.
    pub counted: Vec<Counter>,
    /// Their counts, in the same order.
    pub counts: Vec<u64>,
    /// Deviations of each [`Kind`], by its number.
    pub chosen: [u64; Kind::COUNT],
    /// Runs in which branches and pairs were watched as well: one in sixteen.
    pub watched: u64,
    /// Watched runs that took each branch.
    pub places: Vec<u64>,
    kinds: Kinds,
    /// True for each pair of actors that met in that order at a kind of word.
    met: Vec<bool>,
    last: Vec<Option<Access>>,
}

impl Coverage {
    /// Nothing is reached yet.
    pub(crate) fn new(counted: Vec<Counter>, kinds: Kinds) -> Self {
        let pairs =
            usize::from(kinds.words) * usize::from(kinds.actors) * usize::from(kinds.actors);
        Self {
            counts: vec![0; counted.len()],
            counted,
            places: vec![0; kinds.places],
            met: vec![false; pairs],
            kinds,
            ..Self::default()
        }
    }

    /// Adds what other runs have reached.
    pub(crate) fn add(&mut self, other: &Self) {
        let add = |to: &mut [u64], from: &[u64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from)
        };
        add(&mut self.counts, &other.counts);
        add(&mut self.chosen, &other.chosen);
        add(&mut self.places, &other.places);
        self.watched += other.watched;
        self.met
            .iter_mut()
            .zip(&other.met)
            .for_each(|(to, from)| *to |= from);
    }

    /// Counts the deviations of a run.
    pub(crate) fn note_schedule(&mut self, schedule: &[Deviation]) {
        for deviation in schedule {
            self.chosen[deviation.kind as usize] += 1;
        }
    }

    /// A watched run begins.
    pub(crate) fn begin_run(&mut self) {
        self.watched += 1;
        self.last.clear();
    }

    /// An access of a watched run, in order: it meets the one before at the same word, if that was
    /// another process's and one of the two changed the word.
    pub(crate) fn note_access(&mut self, access: Access) {
        let cell = usize::from(access.cell);
        if self.last.len() <= cell {
            self.last.resize(cell + 1, None);
        }
        let before = self.last[cell].replace(access);
        if let Some(before) = before.filter(|before| before.process != access.process)
            && (before.stores || access.stores)
        {
            let at = self.pair(access.word, before.actor, access.actor);
            self.met[at] = true;
        }
    }

    fn pair(&self, word: u16, first: u16, second: u16) -> usize {
        let actors = usize::from(self.kinds.actors);
        (usize::from(word) * actors + usize::from(first)) * actors + usize::from(second)
    }

    /// Of each pair of operations on a word, by who made them, that met: whether it met in both
    /// orders.
    pub fn pairs(&self) -> impl Iterator<Item = bool> {
        let actors = self.kinds.actors;
        let firsts =
            (0..self.kinds.words).flat_map(move |word| (0..actors).map(move |first| (word, first)));
        firsts.flat_map(move |(word, first)| {
            (0..actors).filter_map(move |second| {
                let there = self.met[self.pair(word, first, second)];
                let back = self.met[self.pair(word, second, first)];
                // Of a pair in both orders one is enough; two of the same actor meet at once.
                (there && (!back || first <= second)).then_some(back)
            })
        })
    }

    /// Branches that were taken.
    pub fn places_taken(&self) -> usize {
        self.places.iter().filter(|&&count| count > 0).count()
    }
}
