#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

/// A value that fits a machine word and can live in a [`SharedWord`].
pub trait Scalar: Copy + PartialEq + 'static {
    /// The value as a word.
    fn to_word(self) -> u64;
    /// The value of a word made by [`Scalar::to_word`].
    fn from_word(word: u64) -> Self;
}

macro_rules! scalar {
    ($($int:ty),+) => {$(
        impl Scalar for $int {
            #[inline(always)]
            fn to_word(self) -> u64 { self as u64 }
            #[inline(always)]
            fn from_word(word: u64) -> Self { word as $int }
        }
    )+};
}
scalar!(u8, u16, u32, u64);

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

/// One word of memory that several CPUs touch. An access is an operation of the platform: other
/// CPUs may go before and after it.
///
/// In what order CPUs see accesses of several words is for the library to say that uses them.
pub trait SharedWord<T: Scalar, P: ?Sized> {
    /// A word that holds `value`, visible to every CPU.
    fn new(value: T) -> Self;
    /// Reads the word.
    fn load(&self, platform: &P) -> T;
    /// Writes the word.
    fn store(&self, platform: &P, value: T);
    /// Adds `value`, wrapping at the type's width, in one step and returns the value before.
    fn fetch_add(&self, platform: &P, value: T) -> T;
}

/// A word that CPUs change in one step in more ways than [`SharedWord::fetch_add`], for a platform
/// that can: they have to be coherent. The order is that of `fetch_add`, as the library says that
/// uses them.
pub trait SharedAtomic<T: Scalar, P: ?Sized>: SharedWord<T, P> {
    /// Writes the word and returns the value before.
    fn swap(&self, platform: &P, value: T) -> T;
    /// Writes `new` if the word holds `current`.
    ///
    /// # Errors
    /// It holds another value, which is returned; nothing was written. It does not fail for no
    /// reason.
    fn compare_exchange(&self, platform: &P, current: T, new: T) -> Result<T, T>;
    /// Sets the bits of `bits` and returns the value before.
    fn fetch_or(&self, platform: &P, bits: T) -> T;
    /// Clears the bits that `bits` has not and returns the value before.
    fn fetch_and(&self, platform: &P, bits: T) -> T;
    /// Reads the word; later accesses come after. Unlike [`SharedWord::load`] it may go before an
    /// earlier store that releases, where the platform has such a load.
    #[inline(always)]
    fn load_acquire(&self, platform: &P) -> T {
        self.load(platform)
    }
}

/// A mark on plain data that several CPUs may touch, one after the other: a platform may look
/// whether anything orders their accesses.
///
/// The data lies beside the mark, and an access is no operation of the platform: nobody else goes
/// in between. `()` is the mark of a platform that does not look; it costs nothing.
pub trait Watch<P: ?Sized> {
    /// A mark on data that is there before any CPU runs.
    fn new() -> Self;
    /// The data is about to be read.
    #[track_caller]
    fn reads(&self, platform: &P);
    /// The data is about to be changed.
    #[track_caller]
    fn writes(&self, platform: &P);
}

impl<P: ?Sized> Watch<P> for () {
    #[inline(always)]
    fn new() -> Self {}
    #[inline(always)]
    fn reads(&self, _: &P) {}
    #[inline(always)]
    fn writes(&self, _: &P) {}
}
