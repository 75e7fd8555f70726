//! One word of memory that CPUs share, as the platform provides it.

pub use cells::{Scalar, SharedWord, Watch};

/// The order that a compare-and-exchange asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// None, as `cmpxchg_relaxed()`: `CAS`, or `LDXR` and `STXR`.
    Relaxed,
    /// Later accesses come behind its load, as `cmpxchg_acquire()` and as a lock is taken: `CASA`,
    /// or `LDAXR` and `STXR`.
    Acquire,
    /// All that is before and behind it, as `cmpxchg()`: `CASAL`, or `LDXR`, `STLXR` and `DMB ISH`.
    Full,
}

/// One word that several CPUs touch.
///
/// Accesses have one order that every CPU agrees on, as with `SeqCst`, and a read-modify-write
/// orders all around it, as Linux's atomics do that return a value. Those that say so order less:
/// the library uses them where Linux gets by with it. A platform may give them the stronger order,
/// and does so unless it says otherwise. `load` is `LDAR` on Arm, `store` and `store_release` are
/// `STLR`, `load_relaxed` and `store_relaxed` are `LDR` and `STR`; `fetch_add` is `LDADDAL`, and
/// `LDXR`, `STLXR`, `DMB ISH` on a core without LSE.
pub trait SharedCell<T: Scalar, P: ?Sized>: SharedWord<T, P> {
    /// Writes `new` if the cell holds `current`, in one step; returns whether it did.
    fn compare_exchange(&self, platform: &P, current: T, new: T, order: Order) -> bool;
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
