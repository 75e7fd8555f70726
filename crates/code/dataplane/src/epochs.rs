//! When memory that was taken out of a shared table may be used again.
//!
//! Who reads a table takes no lock. A reader says after each round that it holds nothing
//! ([`Epochs::quiesce`]); what was taken out before that cannot be held any more once every reader
//! has said so. It is the idea of read-copy update with quiescent states.

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Most readers at the same time.
pub const READERS_MAX: usize = 64;

/// Nobody reads here.
const FREE: u64 = 0;

/// A reader's word, on a line of its own.
#[repr(align(128))]
struct Slot(AtomicU64);

/// Counts changes, and how far each reader is.
pub struct Epochs {
    current: AtomicU64,
    slots: [Slot; READERS_MAX],
}

/// A reader's place.
#[derive(Debug)]
pub struct Reader(usize);

impl Epochs {
    /// Without readers.
    pub fn new() -> Self {
        Self { current: AtomicU64::new(1), slots: std::array::from_fn(|_| Slot(AtomicU64::new(FREE))) }
    }

    /// A place for a reader; `None` if all [`READERS_MAX`] are taken.
    pub fn register(&self) -> Option<Reader> {
        let now = self.current.load(Ordering::SeqCst);
        let take = |slot: &Slot| slot.0.compare_exchange(FREE, now, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        let place = self.slots.iter().position(take);
        // Whoever looks for readers after a change sees this one, or this one sees the change.
        fence(Ordering::SeqCst);
        place.map(Reader)
    }

    /// The reader reads no more.
    pub fn leave(&self, reader: Reader) {
        self.slots[reader.0].0.store(FREE, Ordering::Release);
    }

    /// The reader holds nothing that it read before.
    #[inline(always)]
    pub fn quiesce(&self, reader: &Reader) {
        // Release keeps the reader's earlier reads before this store. Acquire lets its later reads
        // see every change up to this epoch.
        self.slots[reader.0].0.store(self.current.load(Ordering::Acquire), Ordering::Release);
    }

    /// Something was taken out of a table just now: it is free when [`Epochs::passed`] is at least
    /// the number that this returns.
    pub fn retire(&self) -> u64 {
        self.current.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Every reader has passed this epoch.
    pub fn passed(&self) -> u64 {
        fence(Ordering::SeqCst);
        let seen = self.slots.iter().map(|slot| slot.0.load(Ordering::Acquire)).filter(|seen| *seen != FREE);
        seen.min().unwrap_or(u64::MAX)
    }
}

impl Default for Epochs {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_free_before_each_reader_has_passed() {
        let epochs = Epochs::new();
        assert_eq!(epochs.passed(), u64::MAX, "nobody reads");
        let (one, other) = (epochs.register().unwrap(), epochs.register().unwrap());
        let retired = epochs.retire();
        assert!(epochs.passed() < retired);
        epochs.quiesce(&one);
        assert!(epochs.passed() < retired, "the other may still hold it");
        epochs.quiesce(&other);
        assert!(epochs.passed() >= retired);
        let next = epochs.retire();
        epochs.quiesce(&one);
        epochs.leave(other);
        assert!(epochs.passed() >= next, "who has left holds nothing");
    }

    #[test]
    fn places_are_limited_and_come_back() {
        let epochs = Epochs::new();
        let mut readers: Vec<Reader> = (0..READERS_MAX).map(|_| epochs.register().unwrap()).collect();
        assert!(epochs.register().is_none());
        epochs.leave(readers.pop().unwrap());
        assert!(epochs.register().is_some());
    }
}
