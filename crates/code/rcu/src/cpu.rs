//! The state that RCU keeps for each CPU.
//!
//! Plain cells are touched by the CPU itself with its interrupts off; what several CPUs touch one
//! after the other, as a thread does that moves or who holds a lock, is watched; what others touch
//! at any time is a shared cell.

use crate::callback::Callback;
use crate::cell::SharedWord;
use crate::counters::Counters;
use crate::lock::Spin;
use crate::plain::{Plain, PlainList};
use crate::platform::{Platform, Thread};
use crate::segments::Segments;
use crate::sequence::Sequence;
use alloc::collections::VecDeque;
use core::cell::Cell;

/// A CPU.
pub(crate) struct Cpu<P: Platform> {
    /// Leaf of the CPU, and below it the bit that stands for the CPU there.
    pub(crate) leaf: usize,
    pub(crate) bit: u64,
    /// True if threads invoke its callbacks.
    pub(crate) offloaded: bool,
    /// True if it may go idle without a tick although it has callbacks.
    pub(crate) enforced_idle: bool,

    // --- Is RCU to care about this CPU?
    // -----------------------------------------------------------
    /// Odd while the CPU may have readers; it moves on at each change. Others read it.
    pub(crate) dynticks: P::Shared<u64>,
    /// True if the CPU is idle or off, interrupts apart.
    pub(crate) idle: Cell<bool>,
    /// Interrupts that the CPU is in.
    pub(crate) interrupts: Cell<u32>,

    // --- Quiescent states, by the CPU itself
    // -------------------------------------------------------
    /// The grace-period number, as far as the CPU knows.
    pub(crate) sequence: Cell<Sequence>,
    /// True if the grace period waits for this CPU.
    pub(crate) needs_report: Cell<bool>,
    /// True if the CPU has passed a quiescent state since it learned of the grace period.
    pub(crate) quiescent: Cell<bool>,

    // --- Callbacks
    // ----------------------------------------------------------------------------------
    /// The list: touched by the CPU itself; by threads as well if it is offloaded in the modern
    /// form, and then under `offload_lock`.
    pub(crate) list: PlainList<Segments, P>,
    /// The number of callbacks that a softirq invokes at most.
    pub(crate) limit: Plain<u64, P>,
    /// Length of the list when it was last found too long.
    pub(crate) overload_mark: Plain<u64, P>,

    /// Enforced idle, by the CPU itself: the jiffy in which it last tried to advance its callbacks.
    pub(crate) advanced_at: Cell<Option<u64>>,

    // --- Offloading
    // ---------------------------------------------------------------------------------
    pub(crate) offload_lock: Spin<P>,
    /// Under `offload_lock`, 2013: callbacks that the thread has not taken yet.
    pub(crate) queue: PlainList<VecDeque<Callback>, P>,
    /// Callbacks that the invoking thread has taken. Only that thread touches them.
    pub(crate) batch: PlainList<VecDeque<Callback>, P>,
    /// Callbacks in the batch when the thread began to invoke it. Only that thread touches it.
    pub(crate) batch_size: Plain<u32, P>,
    /// Callbacks that the thread has invoked. Only that thread touches it.
    pub(crate) invoked_thread: Plain<u64, P>,
    /// Grace period that the batch waits for, in 2013's code. Only that thread touches it.
    pub(crate) batch_at: Plain<Option<Sequence>, P>,
    /// True if the thread that invokes sleeps, in the modern form. Under `offload_lock`.
    pub(crate) thread_sleeps: P::Shared<bool>,
    /// The thread that is to be woken at the end of grace periods, and the end that it waits for; 0
    /// for none.
    pub(crate) waiter: Option<Thread>,
    pub(crate) waits_for: P::Shared<u64>,
    /// The group of the modern form.
    pub(crate) group: usize,
    pub(crate) bypass_lock: Spin<P>,
    /// Under `bypass_lock`.
    pub(crate) bypass: PlainList<VecDeque<Callback>, P>,
    /// Length of the bypass list, lazy callbacks in it, and the jiffy of its first; read without
    /// the lock.
    pub(crate) bypass_length: P::Shared<u64>,
    pub(crate) bypass_lazy: P::Shared<u64>,
    pub(crate) bypass_first: P::Shared<u64>,
    /// True if the CPU put off a wake-up because it could not wake. Only the CPU itself touches it.
    pub(crate) owes_wake: Cell<bool>,
    /// Jiffy in which the CPU last queued past the bypass list, and below it how often. Only the
    /// CPU itself touches them.
    pub(crate) direct_jiffy: Cell<u64>,
    pub(crate) direct_count: Cell<u64>,

    // --- By the grace-period thread
    // -----------------------------------------------------------------
    /// `dynticks`, at the first look of a grace period.
    pub(crate) snapshot: Plain<u64, P>,
    /// When the CPU was last interrupted because it holds the grace period up, and how often.
    pub(crate) resched_at: Plain<u64, P>,
    pub(crate) resched: Plain<u64, P>,
    pub(crate) forced: Plain<u64, P>,

    /// Counters of the CPU. Only the CPU itself touches them.
    pub(crate) counters: Cell<Counters>,
}

/// Locks from here on belong to CPUs, two each: the platform sees their numbers.
const FIRST_CPU_LOCK: u32 = 0x10000;

impl<P: Platform> Cpu<P> {
    /// A CPU that is online and not idle.
    pub(crate) fn new(index: usize, leaf: usize, bit: u64, limit: u64) -> Self {
        let lock = FIRST_CPU_LOCK + 2 * index as u32;
        Self {
            leaf,
            bit,
            offloaded: false,
            enforced_idle: false,
            dynticks: P::Shared::new(1),
            idle: Cell::new(false),
            interrupts: Cell::new(0),
            sequence: Cell::new(0),
            needs_report: Cell::new(false),
            quiescent: Cell::new(false),
            list: PlainList::empty(),
            limit: Plain::new(limit),
            overload_mark: Plain::new(0),
            advanced_at: Cell::new(None),
            offload_lock: Spin::new(lock),
            queue: PlainList::empty(),
            batch: PlainList::empty(),
            batch_size: Plain::new(0),
            invoked_thread: Plain::new(0),
            batch_at: Plain::new(None),
            thread_sleeps: P::Shared::new(true),
            waiter: None,
            waits_for: P::Shared::new(0),
            group: 0,
            bypass_lock: Spin::new(lock + 1),
            bypass: PlainList::empty(),
            bypass_length: P::Shared::new(0),
            bypass_lazy: P::Shared::new(0),
            bypass_first: P::Shared::new(0),
            owes_wake: Cell::new(false),
            direct_jiffy: Cell::new(0),
            direct_count: Cell::new(0),
            snapshot: Plain::new(0),
            resched_at: Plain::new(0),
            resched: Plain::new(0),
            forced: Plain::new(0),
            counters: Cell::new(Counters::default()),
        }
    }

    /// Changes the CPU's counters.
    #[inline]
    pub(crate) fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.get();
        change(&mut counters);
        self.counters.set(counters);
    }
}
