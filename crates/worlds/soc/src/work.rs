//! Work, and how long it takes: a core at an operating point has a capacity, and work is capacity
//! times time.

use engine::Time;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Work: capacity times picoseconds. What any core does in any time fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Work(pub u128);

impl Work {
    /// No work.
    pub const NONE: Self = Self(0);

    /// The work that a core of this capacity does in that time.
    pub const fn done(capacity: u32, time: Time) -> Self {
        Self(time as u128 * capacity as u128)
    }

    /// The time that a core of this capacity takes, in ps, rounded up.
    pub const fn time(self, capacity: u32) -> Time {
        let time = if capacity == 0 {
            Time::MAX as u128
        } else {
            self.0.div_ceil(capacity as u128)
        };
        if time < Time::MAX as u128 {
            time as Time
        } else {
            Time::MAX
        }
    }
}

impl Add for Work {
    type Output = Self;
    fn add(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

impl Sub for Work {
    type Output = Self;
    /// Never below none: the last picosecond of a piece of work may hold less than it could.
    fn sub(self, less: Self) -> Self {
        Self(self.0.saturating_sub(less.0))
    }
}

impl SubAssign for Work {
    fn sub_assign(&mut self, less: Self) {
        *self = *self - less;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_as_long_as_its_capacity_says_and_no_part_of_it_is_lost() {
        let work = Work::done(1024, 1_000_000);
        assert_eq!(work.time(1024), 1_000_000);
        assert_eq!(work.time(430), 2_381_396); // 2381395.3...
        let first = Work::done(430, 1_000_001);
        assert_eq!((work - first).time(430) + 1_000_001, work.time(430));
        assert_eq!(work - Work::done(430, work.time(430)), Work::NONE);
        let minute = 60_000_000_000_000;
        assert_eq!(
            Work::done(1_000_000, minute).time(1_000_000),
            minute,
            "18 s of such a core fill 64 bits"
        );
    }
}
