//! Numbers that look random.

/// Knuth's linear congruential generator for 64 bits, of which the upper half counts. The workloads
/// that come with Stopwatt are this stream, so published comparisons with them depend on it.
pub(crate) struct Chance(u64);

impl Chance {
    /// The stream of a seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below a bound, which is at least 1.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
