//! Numbers of tasks, sets of CPUs, and scheduling policies.

use core::ops::BitAnd;

/// Number of a task, from 0. A kernel gives each task one of its own and never gives it to another.
pub type TaskId = usize;

/// A set of CPUs, a bit each. CPUs from 64 on are in no set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSet(pub u64);

impl CpuSet {
    /// All CPUs.
    pub const ALL: Self = Self(u64::MAX);

    /// No CPU.
    pub const NONE: Self = Self(0);

    /// One CPU, below 64.
    pub const fn one(cpu: usize) -> Self {
        Self(1 << cpu)
    }

    /// Several CPUs, each below 64.
    pub fn from_cpus(cpus: impl IntoIterator<Item = usize>) -> Self {
        Self(cpus.into_iter().fold(0, |set, cpu| set | 1 << cpu))
    }

    /// True if a CPU is in it.
    pub const fn has(self, cpu: usize) -> bool {
        cpu < 64 && self.0 >> cpu & 1 == 1
    }

    /// True if no CPU is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The CPUs below a number that are in it.
    pub fn iter(self, below: usize) -> impl Iterator<Item = usize> {
        (0..below).filter(move |&cpu| self.has(cpu))
    }

    /// This set, or another if this one is empty.
    #[must_use]
    pub const fn or_if_empty(self, other: Self) -> Self {
        if self.is_empty() { other } else { self }
    }
}

impl BitAnd for CpuSet {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The policy, which says who runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A fair share, by nice value from -20 to 19.
    Fair {
        /// The lower, the greater the share.
        nice: i8,
    },
    /// Before all fair tasks and before all of lower priority, until it blocks (first in, first
    /// out: there are no time slices).
    RealTime {
        /// From 1 to 99; the higher, the sooner.
        priority: u8,
    },
}

impl Policy {
    /// True if it is a fair share.
    pub const fn is_fair(self) -> bool {
        matches!(self, Self::Fair { .. })
    }
}
