//! Streams of numbers that look random, from integers alone, so that every machine draws the same.
//! Published figures and recordings depend on each of them: none may change. A new use takes
//! [`SplitMix64`].
#![no_std]
#![forbid(unsafe_code)]

/// The step of SplitMix64's state: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Scrambles 64 bits; every bit of the input moves about half of those of the output (Stafford's
/// thirteenth variant of the MurmurHash3 finalizer).
///
/// ```
/// // The output is fixed for ever; neighbours come far apart.
/// assert_eq!(random::scramble(0), 0);
/// assert!((random::scramble(1) ^ random::scramble(2)).count_ones() > 16);
/// ```
#[inline]
pub const fn scramble(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A small generator of pseudo-random integers (Steele, Lea, Flood: "Fast splittable pseudorandom
/// number generators", 2014).
///
/// ```
/// use random::SplitMix64;
///
/// let mut random = SplitMix64::new(1_234_567);
/// assert_eq!(random.next(), 6_457_827_717_110_365_317);
/// assert!(random.below(6) < 6);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own for one of many uses of the same seed.
    ///
    /// ```
    /// use random::SplitMix64;
    ///
    /// let mut arrivals = SplitMix64::fork(7, 0);
    /// let mut lengths = SplitMix64::fork(7, 1);
    /// assert_ne!(arrivals.next(), lengths.next());
    /// ```
    pub fn fork(seed: u64, stream: u64) -> Self {
        let mut mixed = Self(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        mixed.next();
        mixed
    }

    /// The next 64 bits.
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, and is no iterator"
    )]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        scramble(self.0)
    }

    /// A number in `0..bound`; 0 for a bound of 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// A xorshift with a multiplied output. The costs of modelled cores were fitted to this stream.
///
/// ```
/// use random::XorShift;
///
/// let (mut one, mut same) = (XorShift::new(3), XorShift::new(3));
/// assert_eq!(one.next(), same.next());
/// assert_ne!(one.next(), XorShift::new(4).next());
/// ```
#[derive(Clone, Debug)]
pub struct XorShift(u64);

impl XorShift {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        // Any odd multiplier spreads neighbouring seeds; zero is the one state the generator cannot
        // leave.
        let mut random = Self(seed.wrapping_mul(GOLDEN) | 1);
        for _ in 0..4 {
            random.next();
        }
        random
    }

    /// The next 64 bits.
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, and is no iterator"
    )]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Knuth's linear congruential generator for 64 bits, of which the upper half counts. Published
/// workloads of the idle loop are this stream.
///
/// ```
/// use random::Congruential;
///
/// let (mut one, mut same) = (Congruential::new(3), Congruential::new(3));
/// assert!((0..100).all(|_| one.below(10) == same.below(10)));
/// ```
#[derive(Clone, Debug)]
pub struct Congruential(u64);

impl Congruential {
    /// A generator that starts from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below a bound, which is at least 1.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SplitMix64 as its authors publish it for this seed; of the others what they always were.
    #[test]
    fn no_stream_changes() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(
            [random.next(), random.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
        let mut random = Congruential::new(0);
        assert_eq!(random.below(u64::MAX), 1_442_695_040_888_963_407 >> 33);
        let mut random = XorShift(1);
        // 1 ^ 1 << 25, and the shift by 27 takes nothing from it.
        assert_eq!(
            random.next(),
            0x0200_0001_u64.wrapping_mul(0x2545_f491_4f6c_dd1d)
        );
    }
}
