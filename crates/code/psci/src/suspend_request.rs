//! The request in a `power_state` argument.

use crate::state::{CompositeState, Level};

/// The request in a `power_state` argument, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendRequest {
    /// The state asked for at every level.
    pub state: CompositeState,
    /// Highest level at which the caller says its CPU is the last to go down; used in OS-initiated
    /// mode only (PSCI DEN0022, 4.2.3.2).
    pub last_at_level: Level,
}
