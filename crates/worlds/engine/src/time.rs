//! Simulated time.

/// Picoseconds of simulated time.
pub type Time = u64;

/// Picoseconds in a microsecond.
pub const PS_PER_US: Time = 1_000_000;
