//! Names of processes.

/// Number of a process, from 0.
pub type ProcessId = usize;
