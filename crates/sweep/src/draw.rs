//! Random numbers and permutations that are functions of a seed, a key and an index, and of nothing
//! else: whoever asks for the draw of a point gets it without making those before it, on any
//! machine. No function of the system's mathematical library is used.

use random::scramble;

/// The start of a stream of draws: a key has one of its own, so a further key in a plan leaves the
/// draws of the others as they are.
#[derive(Clone, Copy, Debug)]
pub struct Stream(u64);

impl Stream {
    pub fn new(seed: u64, key: &str) -> Self {
        Self(
            key.bytes()
                .fold(scramble(seed ^ 0x9e37_79b9_7f4a_7c15), |state, byte| {
                    scramble(state ^ u64::from(byte))
                }),
        )
    }

    /// The 64 bits of an index.
    pub fn bits(self, index: u64) -> u64 {
        scramble(self.0 ^ scramble(index.wrapping_add(0x632b_e59b_d9b4_e019)))
    }

    /// A number from 0 up to but not including 1.
    pub fn unit(self, index: u64) -> f64 {
        (self.bits(index) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from 0 up to but not including `below`, each as likely as the others to one part in
    /// 2^64 / `below`.
    pub fn below(self, index: u64, below: u64) -> u64 {
        ((u128::from(self.bits(index)) * u128::from(below)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_fill_the_range_evenly_and_keys_differ() {
        let (one, other) = (Stream::new(7, "scp.step"), Stream::new(7, "scp.other"));
        let mut bins = [0_u32; 10];
        for index in 0..100_000 {
            bins[(one.unit(index) * 10.0) as usize] += 1;
        }
        // Ten standard deviations of a binomial count.
        assert!(
            bins.iter().all(|count| count.abs_diff(10_000) < 950),
            "{bins:?}"
        );
        let mean: f64 = (0..10_000)
            .map(|index| (one.unit(index) - 0.5) * (other.unit(index) - 0.5))
            .sum::<f64>()
            / 1e4;
        assert!(mean.abs() < 0.01, "two keys go together: {mean}");
        assert!((0..1000).all(|index| one.below(index, 3) < 3));
        assert_ne!(Stream::new(8, "scp.step").bits(0), one.bits(0));
    }

    #[test]
    fn the_same_on_every_machine() {
        let stream = Stream::new(1, "costs.scp.core_off");
        let drawn = [stream.bits(0), stream.bits(1), stream.below(5, 100)];
        assert_eq!(drawn, EXPECTED);
    }

    /// Written down once: a change of them changes the points of every plan with draws.
    const EXPECTED: [u64; 3] = [17_175_876_154_853_251_033, 15_982_299_785_356_572_760, 54];
}
