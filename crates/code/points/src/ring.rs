//! A fixed-size capture for one CPU.

use core::cell::Cell;

/// One captured stamp.
///
/// ```
/// use points::{Point, Ring};
///
/// let ring = Ring::<2>::new();
/// ring.push(Point::new(1, "lock"), 7, 42);
/// let stamp = ring.iter().next().unwrap();
/// assert_eq!((stamp.point, stamp.argument, stamp.ticks), (1, 7, 42));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stamp {
    /// Counter value in ticks.
    pub ticks: u64,
    /// The argument of the point: a lock, a level, a message.
    pub argument: u32,
    /// Id of the [`Point`](crate::Point).
    pub point: u16,
}

/// The last `N` stamps of one CPU; `N` must be a power of two.
///
/// Holds no lock and is not `Sync`: a CPU owns its ring, and another CPU reads it only when the
/// owner is stopped. Pushing is a load, two stores of 8 bytes and an increment.
///
/// ```
/// use points::{Point, Ring};
///
/// let ring = Ring::<4>::new();
/// for lock in 0..6 {
///     ring.push(Point::new(1, "lock"), lock, 10);
/// }
/// let kept: Vec<_> = ring.iter().map(|stamp| stamp.argument).collect();
/// assert_eq!((kept, ring.lost()), (vec![2, 3, 4, 5], 2));
/// ```
#[derive(Debug)]
pub struct Ring<const N: usize> {
    stamps: [Cell<Stamp>; N],
    pushed: Cell<usize>,
}

impl<const N: usize> Ring<N> {
    const SIZE_IS_A_POWER_OF_TWO: () =
        assert!(N.is_power_of_two(), "a ring's size must be a power of two");

    /// An empty ring.
    pub const fn new() -> Self {
        let () = Self::SIZE_IS_A_POWER_OF_TWO;
        Self {
            stamps: [const {
                Cell::new(Stamp {
                    ticks: 0,
                    argument: 0,
                    point: 0,
                })
            }; N],
            pushed: Cell::new(0),
        }
    }

    /// Keeps a stamp, over the oldest one when the ring is full.
    #[inline(always)]
    pub fn push(&self, point: crate::Point, argument: u32, ticks: u64) {
        let pushed = self.pushed.get();
        self.stamps[pushed & (N - 1)].set(Stamp {
            ticks,
            argument,
            point: point.id(),
        });
        self.pushed.set(pushed.wrapping_add(1));
    }

    /// The kept stamps, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Stamp> + '_ {
        let pushed = self.pushed.get();
        (pushed.saturating_sub(N)..pushed).map(|i| self.stamps[i & (N - 1)].get())
    }

    /// The number of stamps that were overwritten before anyone read them.
    pub fn lost(&self) -> usize {
        self.pushed.get().saturating_sub(N)
    }

    /// Forgets all stamps.
    pub fn clear(&self) {
        self.pushed.set(0);
    }
}

impl<const N: usize> Default for Ring<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;

    const TICK: Point = Point::new(1, "tick");

    #[test]
    fn keeps_the_newest_and_counts_the_lost() {
        let ring = Ring::<4>::new();
        for i in 0..6 {
            ring.push(TICK, i, u64::from(i) * 10);
        }
        assert!(ring.iter().map(|s| s.argument).eq([2, 3, 4, 5]));
        assert_eq!(ring.lost(), 2);
        ring.clear();
        assert_eq!(ring.iter().count(), 0);
    }
}
