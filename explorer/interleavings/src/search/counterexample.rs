//! The finding that an exploration hands over.

use crate::machine::{Deviation, Failure, Strategy};

/// A run that broke an invariant, with what repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample<M, C> {
    /// The failure.
    pub failure: Failure,
    /// The machine on which it did.
    pub machine: M,
    /// The script of the CPUs.
    pub script: C,
    /// The choices that differ from the default.
    pub schedule: Vec<Deviation>,
    /// The hash that distinguishes the run: see [`RunResult::hash`](super::RunResult::hash).
    pub hash: u64,
    /// Operations of the run.
    pub steps: u32,
    /// The strategy that found it.
    pub strategy: Strategy,
    /// The number of the run, from 0.
    pub run: u64,
}
