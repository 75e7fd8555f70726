//! The limits of a machine's size, and of what a run on it may take.

/// The most CPUs that a machine to explore has.
pub const MOST_CPUS: usize = 16;

/// CPUs of a cluster, which share a cache; the last cluster may have one less.
pub const CPUS_PER_CLUSTER: usize = 2;

/// The limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Operations of all processes together; a run that makes more is a livelock.
    pub steps: u32,
}

impl Limits {
    /// The numbers of operations that make sense: fewer are not enough to boot 16 CPUs, more take a
    /// run's memory.
    pub const STEPS: std::ops::RangeInclusive<u32> = 1_000..=10_000_000;
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 10_000 }
    }
}
