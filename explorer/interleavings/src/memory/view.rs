//! The view of a CPU: what it knows of the order, and its store buffer.

use super::history::Moment;
use super::races::Tag;

/// Entries of a store buffer.
pub const BUFFER: usize = 8;

/// An entry of a store buffer.
#[derive(Clone, Copy)]
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

impl Entry {
    /// An entry that is no store.
    pub(super) fn other(what: EntryKind, cell: u16, left: u8, asked: u32) -> Self {
        Self {
            what,
            cell,
            value: 0,
            left,
            tag: 0,
            reserved: false,
            overtaken: false,
            age: 0,
            after: 0,
            asked,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
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
#[derive(Clone)]
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
        let empty = Entry::other(EntryKind::Store, 0, 0, 0);
        Self {
            floor: 0,
            loaded: 0,
            stored: 0,
            released: 0,
            maintained: 0,
            last_step: 0,
            entered: 0,
            coherent: false,
            cluster,
            buffer: [empty; BUFFER],
            buffered: 0,
        }
    }

    /// The entries of the buffer, oldest first.
    #[inline(always)]
    pub(super) fn entries(&self) -> &[Entry] {
        &self.buffer[..usize::from(self.buffered)]
    }
}
