//! The outcome of a run: stamps in order of time, and what procedures measured.

use psci_cases::Stamps;

/// A stamp of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Simulated time in picoseconds.
    pub time: u64,
    /// The generic counter's value.
    pub ticks: u64,
    /// The argument of the point.
    pub argument: u32,
    /// Iteration of the procedure.
    pub iteration: u32,
    /// Id of the point.
    pub point: u16,
    /// The CPU.
    pub cpu: u16,
}

/// Stamps that a procedure handed over.
pub struct ProcedureStamps {
    /// Iteration of the procedure.
    pub iteration: u32,
    /// The CPU.
    pub cpu: usize,
    /// Stamps in ticks.
    pub stamps: Stamps,
}
