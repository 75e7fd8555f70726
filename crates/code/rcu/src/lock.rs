//! A spin lock made of a shared cell.
//!
//! There is no guard: nothing whose `Drop` matters may live across an operation of a simulated CPU.
//! Whoever acquires, releases.

use crate::cell::{Order, SharedCell, SharedWord};
use crate::platform::Platform;

/// A spin lock.
///
/// It acquires and releases, and what one CPU did before it let a lock go comes before what another
/// does after it took one (Linux asks for that with `smp_mb__after_unlock_lock()` in
/// `raw_spin_lock_rcu_node()`, which is nothing on Arm). So what is only touched under a lock is
/// relaxed, as `READ_ONCE` and `WRITE_ONCE` are.
///
/// It is taken with the CPU's interrupts off, and held only for a bounded number of steps. An
/// uncontended pair costs two accesses.
pub(crate) struct Spin<P: Platform> {
    held: P::Shared<bool>,
    id: u32,
}

impl<P: Platform> Spin<P> {
    /// A free lock; `id` is what the platform sees of it.
    pub(crate) fn new(id: u32) -> Self {
        Self {
            held: P::Shared::new(false),
            id,
        }
    }

    /// Waits until the caller holds the lock.
    #[inline]
    pub(crate) fn acquire(&self, platform: &P) {
        while !self
            .held
            .compare_exchange(platform, false, true, Order::Acquire)
        {
            platform.lock_wait(self.id);
        }
    }

    /// Lets the lock go.
    #[inline]
    pub(crate) fn release(&self, platform: &P) {
        self.held.store_release(platform, false);
        platform.lock_released(self.id);
    }
}
