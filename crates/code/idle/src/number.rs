//! The numbers that governors compute with: each is known, or, where somebody asks what a governor may
//! have done, anything between two.

/// A number of which a governor may know only where it lies.
///
/// What compares numbers that lie across each other gives either answer: who computes with such
/// numbers goes both ways.
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
