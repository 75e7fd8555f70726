//! The number of times that a power domain was in a state, and for how long.

use crate::platform::{Platform, STAT_SLOTS};
use crate::shared::Coherent;
use crate::state::{Level, LocalState};
use core::array;

/// Stays of one power domain, counted under its lock (a CPU's: by the CPU).
pub(crate) struct Statistics<P: Platform> {
    /// When the present stay started; 0 if the domain has not run yet.
    since: Coherent<u64, P>,
    pub slots: [Slot<P>; STAT_SLOTS],
}

pub(crate) struct Slot<P: Platform> {
    pub ticks: Coherent<u64, P>,
    pub count: Coherent<u64, P>,
}

impl<P: Platform> Statistics<P> {
    pub fn new() -> Self {
        Self {
            since: Coherent::new(0),
            slots: array::from_fn(|_| Slot {
                ticks: Coherent::new(0),
                count: Coherent::new(0),
            }),
        }
    }

    /// A stay starts.
    #[inline]
    pub fn begin(&self, platform: &P, now: u64) {
        self.since.store(platform, now);
    }

    /// A stay in `state` ends.
    pub fn end(&self, platform: &P, level: Level, state: LocalState, now: u64) {
        let since = self.since.load(platform);
        // 0: off since the system was switched on, no call put it there.
        if since != 0 {
            self.add(platform, level, state, now.saturating_sub(since));
        }
    }

    /// Counts a stay of `ticks` in `state`.
    pub fn add(&self, platform: &P, level: Level, state: LocalState, ticks: u64) {
        let Some(slot) = platform
            .stat_slot(level, state)
            .and_then(|slot| self.slots.get(slot))
        else {
            return;
        };
        let ticks = slot.ticks.load(platform).wrapping_add(ticks);
        slot.ticks.store(platform, ticks);
        slot.count
            .store(platform, slot.count.load(platform).wrapping_add(1));
    }
}
