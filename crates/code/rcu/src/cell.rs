//! One word of memory that CPUs share, as the platform provides it.

/// A value that fits a machine word and can live in a [`SharedCell`].
pub trait Scalar: Copy + PartialEq + 'static {
    /// The value as a word.
    fn to_word(self) -> u64;
    /// The value of a word made by [`Scalar::to_word`].
    fn from_word(word: u64) -> Self;
}

impl Scalar for u64 {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        word
    }
}

impl Scalar for bool {
    #[inline(always)]
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        word != 0
    }
}

/// One word that several CPUs touch. An access is an operation of the platform: other CPUs may go before and after it.
///
/// All accesses of all cells have one order that every CPU agrees on, as with `SeqCst`. Linux gets by with less in places, and pays for it
/// with barriers that have to be argued for one by one.
pub trait SharedCell<T: Scalar, P: ?Sized> {
    /// A cell that holds `value`.
    fn new(value: T) -> Self;
    /// Reads the cell.
    fn load(&self, platform: &P) -> T;
    /// Writes the cell.
    fn store(&self, platform: &P, value: T);
    /// Adds `value`, wrapping, in one step and returns the value before.
    fn fetch_add(&self, platform: &P, value: T) -> T;
    /// Writes the cell and returns the value before, in one step.
    fn swap(&self, platform: &P, value: T) -> T;
    /// Writes `new` if the cell holds `current`, in one step; returns whether it did.
    fn compare_exchange(&self, platform: &P, current: T, new: T) -> bool;
}
