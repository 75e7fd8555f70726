//! Words that CPUs share, by the maintenance they need.
//!
//! A CPU that powers down turns its data cache off *before* it lets go of its locks, and a CPU that
//! comes out of reset takes them before its cache is on. While the cache is off, loads and stores
//! go to memory and see nothing that another CPU keeps in its cache. Each field of the library
//! therefore says by its type who may touch it and when:
//!
//! | type | touched by | store | load |
//! |---|---|---|---|
//! | [`Coherent`] | CPUs with their caches on | plain | plain |
//! | [`MaintainedWord`] | any CPU, caches on or off | store, clean, barrier | clean and invalidate, barrier, load |
//! | [`StampCell`] | stored by its owner, caches on or off; read by any CPU | plain | plain or maintained, as the reader asks |
//!
//! On a platform with [`Platform::coherent_power_down`] all three are plain.

use crate::cell::{Scalar, SharedCell, SharedWord};
use crate::platform::Platform;

/// A word that is touched only by CPUs whose caches are on: no maintenance at all.
///
/// Before a CPU leaves coherency, the flush by set/way takes its last stores along.
pub(crate) struct Coherent<T: Scalar, P: Platform>(P::Shared<T>);

impl<T: Scalar, P: Platform> Coherent<T, P> {
    /// A word that holds `value`.
    pub(crate) fn new(value: T) -> Self {
        Self(P::Shared::new(value))
    }

    /// Reads the word.
    #[inline(always)]
    pub(crate) fn load(&self, platform: &P) -> T {
        self.0.load(platform)
    }

    /// Writes the word.
    #[inline(always)]
    pub(crate) fn store(&self, platform: &P, value: T) {
        self.0.store(platform, value);
    }

    /// Waits for events until the bits of `mask` are those of `value`: at least for one.
    #[inline(always)]
    pub(crate) fn wait_until(&self, platform: &P, mask: T, value: T) {
        self.0.wait_until(platform, mask, value, P::wait_for_event);
    }

    /// Adds in one step, wrapping, and returns the value before.
    #[inline(always)]
    pub(crate) fn fetch_add(&self, platform: &P, value: T) -> T {
        self.0.fetch_add(platform, value)
    }
}

/// A word that CPUs touch whether their caches are on or off.
///
/// A store is complete, in memory, when it returns; a load looks at memory, not at a line that went
/// stale while another CPU wrote past the cache.
pub(crate) struct MaintainedWord<T: Scalar, P: Platform>(P::Shared<T>);

impl<T: Scalar, P: Platform> MaintainedWord<T, P> {
    /// A word that holds `value`.
    pub(crate) fn new(value: T) -> Self {
        Self(P::Shared::new(value))
    }

    /// Reads the word from memory.
    #[inline(always)]
    pub(crate) fn load(&self, platform: &P) -> T {
        match platform.coherent_power_down() {
            true => self.0.load(platform),
            false => self.0.load_from_memory(platform, P::barrier),
        }
    }

    /// Writes the word to memory.
    #[inline(always)]
    pub(crate) fn store(&self, platform: &P, value: T) {
        self.0.store(platform, value);
        self.publish(platform);
    }

    /// Brings what the cell holds to memory, for CPUs that start with their caches off.
    #[inline(always)]
    pub(crate) fn publish(&self, platform: &P) {
        if !platform.coherent_power_down() {
            self.0.clean(platform);
            platform.barrier();
        }
    }
}

/// A time stamp: stored by one CPU, which must not wait for it, and read by any.
///
/// A word that its owner stores with the cache off must not sit dirty in a cache from an earlier
/// store, or the line's eviction would undo the later one. Stamps that are stored both ways
/// therefore use [`StampCell::store_through`] when the cache is on.
pub(crate) struct StampCell<P: Platform>(P::Shared<u64>);

impl<P: Platform> StampCell<P> {
    /// A stamp that was never taken.
    pub(crate) fn new() -> Self {
        Self(P::Shared::new(0))
    }

    /// Stores a stamp, plainly.
    #[inline(always)]
    pub(crate) fn store(&self, platform: &P, ticks: u64) {
        self.0.store(platform, ticks);
    }

    /// Stores a stamp with the cache on and leaves no line of it behind.
    #[inline(always)]
    pub(crate) fn store_through(&self, platform: &P, ticks: u64) {
        self.0.store(platform, ticks);
        self.evict(platform);
    }

    /// Reads the stamp; with `maintain`, from memory.
    #[inline(always)]
    pub(crate) fn load(&self, platform: &P, maintain: bool) -> u64 {
        if maintain {
            self.evict(platform);
        }
        self.0.load(platform)
    }

    /// Takes the cell's line out of the caches.
    #[inline(always)]
    pub(crate) fn evict(&self, platform: &P) {
        if !platform.coherent_power_down() {
            self.0.clean_invalidate(platform);
            platform.barrier();
        }
    }
}
