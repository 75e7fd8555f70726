//! The request in a `power_state` argument.

use crate::state::{CompositeState, Level};

/// The request in a `power_state` argument, decoded.
///
/// ```
/// use psci::{CPU_LEVEL, CompositeState, LocalState, SuspendRequest};
///
/// // The CPU alone powers down.
/// let mut state = CompositeState::RUN;
/// state.set(CPU_LEVEL, LocalState(1));
/// let request = SuspendRequest { state, last_at_level: CPU_LEVEL };
/// assert_eq!(request.state.highest(), request.last_at_level);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendRequest {
    /// The state asked for at every level.
    pub state: CompositeState,
    /// Highest level at which the caller says its CPU is the last to go down; used in OS-initiated
    /// mode only (PSCI DEN0022, 4.2.3.2).
    pub last_at_level: Level,
}
