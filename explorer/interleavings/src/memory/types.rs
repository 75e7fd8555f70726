//! What a CPU asks of memory, what is chosen of the answer, and what it is told.

use super::history::Moment;
use super::races::Tag;
use crate::limits::MOST_CPUS;

/// The order that an access asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `LDR`, `STR`.
    Relaxed,
    /// `LDAR`, `STLR`.
    Ordered,
    /// `LDAPR`: acquires, and does not wait for releasing stores. Loads only.
    AcquirePc,
}

/// The order that a read-modify-write asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOrder {
    /// `LDADD`, or `LDXR` and `STXR`.
    Relaxed,
    /// `LDADDA`, or `LDAXR` and `STXR`.
    Acquire,
    /// `LDADDL`, or `LDXR` and `STLXR`.
    Release,
    /// `LDADDAL`, or `LDAXR` and `STLXR`.
    AcquireRelease,
    /// A fully ordered atomic of Linux: `LDADDAL`, or `LDXR`, `STLXR` and then `DMB`.
    Full,
}

impl AtomicOrder {
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease | Self::Full)
    }

    pub(crate) fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease | Self::Full)
    }
}

/// An effect that may come later than the operation that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// A store.
    Store,
    /// The maintenance of a line.
    Maintenance,
}

/// The choices of memory: the plainest by default.
pub trait Answers {
    /// The age of the value that a load returns, below `choices`; `in_order` of the newer values
    /// came since the CPU's last step.
    fn age(&mut self, choices: u32, in_order: u32) -> u32;

    /// The number of operations of the CPU for which an effect stays in the buffer; [`u8::MAX`] for
    /// as long as nothing drives it out.
    fn delay(&mut self, what: Delay) -> u8;
}

/// The plainest answers: a load returns the newest value, and nothing is put off.
pub struct Newest;

impl Answers for Newest {
    fn age(&mut self, _: u32, _: u32) -> u32 {
        0
    }

    fn delay(&mut self, _: Delay) -> u8 {
        0
    }
}

/// The store of an address that a CPU has loaded. What lies there comes after it (DDI 0487, B2.3:
/// Dependency-ordered-before).
#[derive(Clone, Copy, Debug)]
pub struct AddressStore {
    pub(crate) cell: u16,
    pub(crate) at: Moment,
    pub(super) tag: Tag,
}

/// The result of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadResult {
    /// The value.
    pub value: u64,
    /// The writer of the newest value that the load could have returned at best, and that value;
    /// `None` if the load returned it.
    pub newest_elsewhere: Option<(u8, u64)>,
    /// Nothing newer can be had where the CPU looks.
    pub is_newest_here: bool,
    /// It had older values to choose from, had its address not come from where it did.
    pub rests_on_address: bool,
    /// When the value came; of the CPU's own store that the others cannot see yet, when that came
    /// on which the store depends, 0 for nothing.
    pub at: Moment,
}

/// Data that was lost: a line was dirty in a cache whose power went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostData {
    /// The word.
    pub cell: u16,
    /// The CPU that had stored it.
    pub writer: u8,
}

/// A happens-before edge outside memory, such as a wake-up: the view of the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signal {
    /// Receivers see nothing that had been replaced by then.
    pub(super) at: Moment,
    pub(super) tag: Tag,
}

/// An access by a step, for runs that differ: of a word, of an event, or of hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The word.
    pub(crate) cell: u16,
    /// It stored.
    pub(crate) writes: bool,
}

impl Touch {
    /// All that is no word.
    pub(crate) const HARDWARE: Self = Self {
        cell: u16::MAX,
        writes: true,
    };

    /// The event of a CPU; `takes` if the CPU looks at it or takes it, and not if it is sent.
    pub(crate) fn event(cpu: usize, takes: bool) -> Self {
        Self {
            cell: u16::MAX - 1 - cpu as u16,
            writes: takes,
        }
    }

    /// The late load of a CPU; `pays` if it gets its value, and not if the CPU goes on without.
    pub(crate) fn debt(cpu: usize, pays: bool) -> Self {
        Self {
            cell: u16::MAX - 1 - (MOST_CPUS + cpu) as u16,
            writes: pays,
        }
    }
}
