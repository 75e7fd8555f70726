//! The numbers that governors compute with: exact ones, or, to find all that a governor may have
//! done, intervals.

/// A number, or an interval in which a number lies.
///
/// A comparison of two intervals that overlap may give either answer. A search that uses intervals
/// repeats the computation with each answer.
pub trait Number: Copy + PartialOrd + PartialOrd<u64> + From<u64> {
    /// The least and the greatest that it may be.
    fn ends(self) -> [u64; 2];

    /// A function of two numbers that rises or falls with each.
    fn with(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self;

    /// Its low 32 bits.
    fn low_half(self) -> Self;

    /// Anything from one number to another.
    fn join(self, other: Self) -> Self;

    /// A function that rises or falls with it.
    fn map(self, of: impl Fn(u64) -> u64) -> Self {
        self.with(self, |number, _| of(number))
    }

    /// The sum of two.
    fn plus(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl Number for u64 {
    fn ends(self) -> [u64; 2] {
        [self; 2]
    }

    fn with(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        of(self, other)
    }

    fn low_half(self) -> Self {
        self & u64::from(u32::MAX)
    }

    /// One that is known stays so.
    fn join(self, _: Self) -> Self {
        self
    }
}
