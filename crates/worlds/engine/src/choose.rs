//! Choosers: which process goes next, where it is not simply the earliest.

use crate::process::ProcessId;
use crate::time::Time;

/// A process that could go next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The process.
    pub process: ProcessId,
    /// The time at which it would go in a timed run.
    pub time: Time,
}

/// Answers every choice of a run.
pub trait Chooser {
    /// The index into `candidates` of the process that goes next. Candidates are never empty and come
    /// ordered by process number. An index out of range stands for the last.
    fn choose(&mut self, candidates: &[Candidate]) -> usize;
}

/// Chooses uniformly, from a seed.
#[derive(Clone, Debug)]
pub struct RandomChooser(SplitMix64);

impl RandomChooser {
    /// The same seed answers the same choices alike.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }
}

impl Chooser for RandomChooser {
    fn choose(&mut self, candidates: &[Candidate]) -> usize {
        self.0.below(candidates.len() as u64) as usize
    }
}

/// A small generator of pseudo-random integers (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
/// 2014). Integers only, so that every machine draws the same.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own for one of many uses of the same seed.
    pub fn fork(seed: u64, stream: u64) -> Self {
        let mut mixed = Self(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        mixed.next();
        mixed
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "it never ends, and is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
