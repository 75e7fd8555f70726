//! Readers, and what happens when one is preempted.

use crate::cell::SharedCell;
use crate::node::{BlockedReader, READERS};
use crate::platform::Platform;
use crate::state::Rcu;
use core::cell::Cell;

/// The state that RCU keeps for each task. It goes with the task from CPU to CPU.
///
/// ```
/// use rcu::Reader;
///
/// let task = Reader::new(7);
/// assert_eq!((task.id(), task.is_reading()), (7, false));
/// ```
#[derive(Debug)]
pub struct Reader {
    id: u32,
    nesting: Cell<u32>,
    /// The leaf that lists it as preempted inside a read section.
    blocked_in: Cell<Option<usize>>,
}

impl Reader {
    /// A task that reads nothing. No two tasks may have the same id.
    pub const fn new(id: u32) -> Self {
        Self {
            id,
            nesting: Cell::new(0),
            blocked_in: Cell::new(None),
        }
    }

    /// The id, as a stall report names it.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// True if the task is inside a read section.
    pub fn is_reading(&self) -> bool {
        self.nesting.get() > 0
    }
}

impl<P: Platform> Rcu<P> {
    /// A read section of the running task starts. They nest. It costs one addition, and no memory
    /// that CPUs share.
    #[inline(always)]
    pub fn read_lock(&self, reader: &Reader) {
        reader.nesting.set(reader.nesting.get() + 1);
    }

    /// A read section of the running task ends. An end without a start does nothing.
    #[inline(always)]
    pub fn read_unlock(&self, p: &P, reader: &Reader) {
        let nesting = reader.nesting.get().saturating_sub(1);
        reader.nesting.set(nesting);
        if nesting == 0
            && let Some(leaf) = reader.blocked_in.take()
        {
            self.unblock(p, reader.id, leaf);
        }
    }

    /// The reader that a leaf lists has left its read section.
    #[cold]
    fn unblock(&self, p: &P, id: u32, leaf: usize) {
        let node = &self.nodes[leaf];
        node.lock.acquire(p);
        let now = node.sequence.load_relaxed(p);
        node.blocked
            .borrow_mut(p)
            .retain(|blocked| blocked.reader != id);
        let holds_up = node
            .blocked
            .borrow(p)
            .iter()
            .any(|blocked| blocked.from <= now);
        let mask = node.mask.load_relaxed(p);
        if mask & READERS != 0 && !holds_up {
            node.mask.store_relaxed(p, mask & !READERS);
            self.report_upwards(p, leaf);
        } else {
            node.lock.release(p);
        }
    }

    /// This CPU switches from the task of `outgoing` to another, or to the idle task: a quiescent
    /// state of the CPU. If the task is inside a read section, the leaf keeps it on a list until it
    /// leaves.
    pub fn context_switch(&self, p: &P, outgoing: &Reader) {
        let cpu = self.this(p);
        if outgoing.is_reading() && outgoing.blocked_in.get().is_none() {
            let leaf = &self.nodes[cpu.leaf];
            leaf.lock.acquire(p);
            let now = leaf.sequence.load_relaxed(p);
            let mask = leaf.mask.load_relaxed(p);
            // As long as the CPU has not reported, the reader may have started before the grace
            // period; afterwards it is too young for it.
            let waits_for_us = mask & cpu.bit != 0;
            let from = if waits_for_us { now } else { (now + 1) | 1 };
            leaf.blocked.borrow_mut(p).push(BlockedReader {
                reader: outgoing.id,
                from,
            });
            if waits_for_us {
                leaf.mask.store_relaxed(p, mask | READERS);
            }
            leaf.lock.release(p);
            outgoing.blocked_in.set(Some(cpu.leaf));
        }
        cpu.quiescent.set(true);
    }

    /// This CPU enters or leaves user space, where no reader can be: a quiescent state. Linux does
    /// so only on CPUs that run without a tick; elsewhere the tick notices ([`Rcu::tick`]).
    pub fn user(&self, p: &P) {
        self.this(p).quiescent.set(true);
    }
}
