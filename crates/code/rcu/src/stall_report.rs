//! The report on a grace period that takes too long.

use alloc::vec::Vec;

/// A grace period that takes too long, and who holds it up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stall {
    /// Number of the grace period, from 1.
    pub grace_period: u64,
    /// Jiffies since the grace period started, or since it was asked for.
    pub age: u64,
    /// True if the grace period has started.
    pub started: bool,
    /// CPUs that have not passed a quiescent state.
    pub cpus: Vec<usize>,
    /// Readers that were preempted inside a read section, by the id of their
    /// [`Reader`](crate::Reader).
    pub readers: Vec<u32>,
    /// Jiffies for which the grace-period thread has not run, if that is longer than it ever means
    /// to sleep.
    pub thread_starved: Option<u64>,
}
