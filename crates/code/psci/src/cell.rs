//! One word of memory that CPUs share, as the platform provides it.

pub use cells::{Scalar, SharedAtomic, SharedWord};

/// One word of memory that several CPUs touch, possibly while their caches are off.
///
/// An access is whatever the calling CPU's state makes of it: cached while its data cache is on,
/// straight to memory while it is off. A cell does no maintenance by itself: the library asks for
/// it where it is needed.
///
/// Cleaning a line writes *all* of it. On a platform without coherent power-down, two words with
/// different writers must therefore not share a line, or a clean by one CPU overwrites what another
/// stored with its cache off. There, align a cell to the cache write-back granule (`CTR_EL0.CWG`).
///
/// Loads acquire and stores release. Only CPUs that are coherent (caches on) change a word in one
/// step; those operations acquire and release. The library itself needs of them the addition alone,
/// for ticket locks. A platform that stands on Rust's atomics (the firmware's does) gets:
///
/// | operation | with LSE | without |
/// |---|---|---|
/// | `load`, `store` | `LDAR`, `STLR` | the same |
/// | `load_relaxed`, `store_relaxed` | `LDR`, `STR` | the same |
/// | `load_acquire` of [`SharedAtomic`] | `LDAPR` with RCpc, else `LDAR` | the same |
/// | `fetch_add` | `LDADDAL` | `LDAXR`, `STLXR`, again until it has stored |
/// | `swap`, `fetch_or` of [`SharedAtomic`] | `SWPAL`, `LDSETAL` | as above |
/// | `fetch_and` of it | `LDCLRAL` of the complement | as above |
/// | `compare_exchange` of it | `CASAL` | `LDAXR`; `STLXR` if it is the value |
/// | `clean`, `clean_invalidate` | `DC CVAC`, `DC CIVAC` | the same |
///
/// `load` with `Ordering::Acquire` is `LDAPR` where the compiler may use RCpc; a platform that
/// wants `LDAR` there asks for `SeqCst`. A pair of exclusives orders less than one instruction:
/// what comes later may go before its store (Arm DDI 0487, B2.3).
pub trait SharedCell<T: Scalar, P: ?Sized>: SharedWord<T, P> {
    /// Reads the cell in no order with other accesses, as `LDR` does. The library itself has no use
    /// for it; code under test may. By default an ordinary load.
    #[inline(always)]
    fn load_relaxed(&self, platform: &P) -> T {
        self.load(platform)
    }
    /// Writes the cell in no order with other accesses, as `STR` does. By default an ordinary
    /// store.
    #[inline(always)]
    fn store_relaxed(&self, platform: &P, value: T) {
        self.store(platform, value);
    }
    /// Cleans the cell's line to memory (`DC CVAC`), so that a CPU with its caches off reads it.
    fn clean(&self, platform: &P);
    /// Cleans and invalidates the cell's line (`DC CIVAC`), so that the next load reads memory.
    fn clean_invalidate(&self, platform: &P);
    /// Reads the cell from memory, whatever the caches hold: `DC CIVAC`, `DSB`, load. By default
    /// those three operations; a world in which an operation is dear may make them one, where
    /// nobody could tell. `barrier` is the platform's.
    #[inline(always)]
    fn load_from_memory(&self, platform: &P, barrier: impl Fn(&P)) -> T {
        self.clean_invalidate(platform);
        barrier(platform);
        self.load(platform)
    }
    /// Waits for events until the bits of `mask` in the cell are those of `value`, and looks at it
    /// after each: it waits at least once. By default those operations; a world in which they are
    /// dear may leave out the looks that find nothing, where no figure shows them. `wait` is the
    /// platform's wait for an event.
    #[inline(always)]
    fn wait_until(&self, platform: &P, mask: T, value: T, wait: impl Fn(&P)) {
        loop {
            wait(platform);
            if self.load(platform).to_word() & mask.to_word() == value.to_word() {
                return;
            }
        }
    }
}
