//! The view of a CPU: what it knows of the order, and its store buffer.

use super::history::Moment;
use super::races::Tag;

/// Entries of a store buffer.
pub const BUFFER: usize = 8;

/// An entry of a store buffer.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    pub(super) what: EntryKind,
    pub(super) cell: u16,
    pub(super) value: u64,
    /// Operations of the CPU until it leaves on its own.
    pub(super) left: u8,
    /// The clock that it leaves, for data races.
    pub(super) tag: Tag,
    /// The store of a read-modify-write: nobody else may store in between.
    pub(super) reserved: bool,
    /// A younger store of the CPU has left before it.
    pub(super) overtaken: bool,
    /// Number of the entry among those of the CPU.
    pub(super) age: u32,
    /// Moment of the newest value on which address and data of a store depend.
    pub(super) after: Moment,
    /// The number of the choice of how long it stays, from 1; 0 if there was none.
    pub(super) asked: u32,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum EntryKind {
    #[default]
    Store,
    Release,
    Clean,
    CleanInvalidate,
    /// A `DMB ST`.
    StoreBarrier,
}

impl EntryKind {
    pub(super) fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::Release)
    }

    pub(super) fn is_maintenance(self) -> bool {
        matches!(self, Self::Clean | Self::CleanInvalidate)
    }
}

/// The view of a CPU: its knowledge of the order, and what it has not let go of yet.
#[derive(Clone, Default)]
pub(super) struct View {
    /// Loads return nothing that was replaced up to here.
    pub(super) floor: Moment,
    /// The newest value that a load has returned.
    pub(super) loaded: Moment,
    /// The newest of its own stores, of those that release, and of its maintenance, that the others
    /// can see.
    pub(super) stored: Moment,
    pub(super) released: Moment,
    pub(super) maintained: Moment,
    /// When its last step ended.
    pub(super) last_step: Moment,
    /// Entries that its buffer has had.
    pub(super) entered: u32,
    pub(super) coherent: bool,
    pub(super) cluster: u8,
    pub(super) buffer: [Entry; BUFFER],
    pub(super) buffered: u8,
}

impl View {
    pub(super) fn new(cluster: u8) -> Self {
        Self {
            cluster,
            ..Self::default()
        }
    }

    /// Forgets a run. What lies behind the buffer's end may stay.
    pub(super) fn begin(&mut self) {
        for moment in [
            &mut self.floor,
            &mut self.loaded,
            &mut self.stored,
            &mut self.released,
            &mut self.maintained,
            &mut self.last_step,
            &mut self.entered,
        ] {
            *moment = 0;
        }
        (self.coherent, self.buffered) = (false, 0);
    }

    /// Loads return nothing that was replaced up to here, either.
    #[inline(always)]
    pub(super) fn raise_floor(&mut self, to: Moment) {
        self.floor = self.floor.max(to);
    }

    /// The entries of the buffer, oldest first.
    #[inline(always)]
    pub(super) fn entries(&self) -> &[Entry] {
        &self.buffer[..usize::from(self.buffered)]
    }
}
