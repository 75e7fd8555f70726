//! How a machine is built, and what a run on it may take.

/// The most CPUs that a machine to explore has.
pub const MOST_CPUS: usize = 16;

/// What a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Operations of all processes together; a run that makes more is a livelock.
    pub steps: u32,
}

impl Limits {
    /// The numbers of operations that make sense: fewer are not enough to boot 16 CPUs, more take a run's memory.
    pub const STEPS: std::ops::RangeInclusive<u32> = 1_000..=10_000_000;

    /// What a run of a kernel may take: its clock passes through hundreds of jiffies.
    pub const fn of_kernel() -> Self {
        Self { steps: 200_000 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 10_000 }
    }
}

/// How the machine is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineOptions {
    /// The power controller is told after the locks are released.
    pub outside_locks: bool,
    /// CPUs stay coherent while they power down: the hardware cleans their caches.
    pub coherent: bool,
    /// Ticket locks instead of bakeries; only where CPUs stay coherent.
    pub ticket: bool,
    /// Words that share a cache line; the firmware's image has 1.
    pub cells_per_line: usize,
}

impl MachineOptions {
    /// The kinds of machine that the library supports: CPUs that leave coherency, and CPUs that stay coherent, with bakeries and with ticket
    /// locks.
    pub fn all() -> Vec<Self> {
        let own = Self::default();
        vec![own, Self { coherent: true, ..own }, Self { coherent: true, ticket: true, ..own }]
    }
}

impl Default for MachineOptions {
    fn default() -> Self {
        Self { outside_locks: false, coherent: false, ticket: false, cells_per_line: 1 }
    }
}
