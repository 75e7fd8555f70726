//! One word of memory that CPUs share, as the platform provides it.

pub use cells::{Scalar, SharedWord, Watch};

/// One word that several CPUs touch.
///
/// Accesses have one order that every CPU agrees on, as with `SeqCst`, and a read-modify-write
/// orders all around it, as Linux's atomics do that return a value. Those whose name says so order
/// less: the library uses them where Linux gets by with it. A platform may give them the stronger
/// order, and does so unless it says otherwise.
pub trait SharedCell<T: Scalar, P: ?Sized>: SharedWord<T, P> {
    /// Writes the cell and returns the value before, in one step.
    fn swap(&self, platform: &P, value: T) -> T;
    /// Writes `new` if the cell holds `current`, in one step; returns whether it did.
    fn compare_exchange(&self, platform: &P, current: T, new: T) -> bool;
    /// The same, and it orders later accesses behind its load and nothing else: how a lock is
    /// taken.
    #[inline(always)]
    fn compare_exchange_acquire(&self, platform: &P, current: T, new: T) -> bool {
        self.compare_exchange(platform, current, new)
    }
    /// Reads the cell in no order with accesses of others: `READ_ONCE`.
    #[inline(always)]
    fn load_relaxed(&self, platform: &P) -> T {
        self.load(platform)
    }
    /// Writes the cell in no order with accesses of others: `WRITE_ONCE`.
    #[inline(always)]
    fn store_relaxed(&self, platform: &P, value: T) {
        self.store(platform, value);
    }
    /// Writes the cell after all that came before: `smp_store_release`.
    #[inline(always)]
    fn store_release(&self, platform: &P, value: T) {
        self.store(platform, value);
    }
}
