//! Grace-period numbers.
//!
//! A number is even while no grace period runs and odd while one does: a start adds one, and so
//! does an end. It never wraps.

/// A grace-period number.
pub(crate) type Sequence = u64;

/// True if a grace period runs.
pub(crate) const fn in_progress(now: Sequence) -> bool {
    now & 1 == 1
}

/// The number at which a whole grace period has passed that starts after `now`: the end of the next
/// one to start. One that already runs does not count, because a reader may have started before the
/// caller and after it.
pub(crate) const fn after_a_whole_one(now: Sequence) -> Sequence {
    (now + 3) & !1
}

/// The number of the grace period that ends at, or runs at, `now`; the first is 1.
pub(crate) const fn number(now: Sequence) -> u64 {
    now.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grace_period_that_runs_does_not_count() {
        assert_eq!([0, 1, 2, 3].map(after_a_whole_one), [2, 4, 4, 6]);
        assert_eq!([1, 2, 3].map(number), [1, 1, 2]);
    }
}
