//! Groups of offloaded CPUs that share a grace-period thread, in the modern form.

use crate::cell::SharedWord;
use crate::lock::Spin;
use crate::plain::Plain;
use crate::platform::Platform;
use crate::sequence::Sequence;
use alloc::vec::Vec;

/// Degrees to which a wake-up of a group's thread was put off; later ones are stronger.
pub(crate) mod deferred {
    /// It was not.
    pub(crate) const NOT: u64 = 0;
    /// A bypass list is to be flushed.
    pub(crate) const BYPASS: u64 = 1;
    /// There are only lazy callbacks.
    pub(crate) const LAZY: u64 = 2;
    /// A list was empty.
    pub(crate) const WAKE: u64 = 3;
    /// A list is too long.
    pub(crate) const FORCE: u64 = 4;
}

/// Phase of a group's thread in its round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It waits: for a wake-up, or for the end of a grace period.
    Wait,
    /// It looks at the group's CPU with this index.
    Scan(usize),
}

/// A group.
pub(crate) struct Group<P: Platform> {
    pub(crate) lock: Spin<P>,
    /// The offloaded CPUs of the group, in order; never empty. The first is the leader.
    pub(crate) cpus: Vec<usize>,
    /// True if the thread is to be woken: it set this before it last looked at the lists. Under the
    /// lock.
    pub(crate) sleeps: P::Shared<bool>,
    /// Degree to which a wake-up was put off, see [`deferred`]. Under the lock.
    pub(crate) deferred: P::Shared<u64>,

    // --- By the thread
    // ----------------------------------------------------------------------------
    pub(crate) phase: Plain<Phase, P>,
    /// The earliest end that a list of this round waits for.
    pub(crate) earliest: Plain<Option<Sequence>, P>,
    /// The callbacks that a bypass list holds: none, some that are not lazy, or lazy ones only.
    pub(crate) bypass: Plain<bool, P>,
    pub(crate) lazy: Plain<bool, P>,
}

/// Locks from here on belong to groups.
const FIRST_GROUP_LOCK: u32 = 0x2_0000;

impl<P: Platform> Group<P> {
    pub(crate) fn new(index: usize, cpus: Vec<usize>) -> Self {
        Self {
            lock: Spin::new(FIRST_GROUP_LOCK + index as u32),
            cpus,
            sleeps: P::Shared::new(true),
            deferred: P::Shared::new(deferred::NOT),
            phase: Plain::new(Phase::Wait),
            earliest: Plain::new(None),
            bypass: Plain::new(false),
            lazy: Plain::new(false),
        }
    }

    pub(crate) fn leader(&self) -> usize {
        self.cpus[0]
    }
}

/// The number of neighbouring that CPUs make a group: about the square root of their number.
pub(crate) fn stride(cpus: usize) -> usize {
    cpus / cpus.isqrt().max(1)
}
