//! Simulated time.

/// Picoseconds of simulated time.
pub type Time = u64;

/// Picoseconds in a microsecond.
///
/// ```
/// use engine::{PS_PER_US, Time};
///
/// const RESET: Time = 12 * PS_PER_US;
/// assert_eq!(RESET, 12_000_000);
/// ```
pub const PS_PER_US: Time = 1_000_000;
