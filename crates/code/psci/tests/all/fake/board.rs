//! The decisions of a port that a host can try: the power-domain tree and its states.

use psci::CpuIndex;
use psci::Error;
use psci::PowerStateFormat;
use psci::SuspendRequest;
use psci::Topology;
use psci::{CompositeState, Level, LocalState};

/// A board for the fake machine: those answers of a [`Platform`](psci::Platform) that need no
/// hardware.
pub trait Board: Sync + 'static {
    /// The power-domain tree.
    fn topology(&self) -> Topology<'static>;

    /// As [`Platform::is_power_down`](psci::Platform::is_power_down).
    fn is_power_down(&self, level: Level, state: LocalState) -> bool;

    /// As [`Platform::decode_power_state`](psci::Platform::decode_power_state), called by `cpu`.
    ///
    /// # Errors
    /// There is no such state.
    fn decode_power_state(
        &self,
        cpu: CpuIndex,
        format: PowerStateFormat,
        raw: u32,
    ) -> Result<SuspendRequest, Error>;

    /// As [`Platform::off_state`](psci::Platform::off_state).
    fn off_state(&self) -> CompositeState;

    /// As [`Platform::system_suspend_state`](psci::Platform::system_suspend_state).
    fn system_suspend_state(&self) -> Option<CompositeState> {
        None
    }

    /// As [`Platform::default_suspend_state`](psci::Platform::default_suspend_state).
    fn default_suspend_state(&self) -> Option<CompositeState> {
        None
    }

    /// As [`Platform::is_valid_entry_point`](psci::Platform::is_valid_entry_point).
    fn is_valid_entry_point(&self, address: u64) -> bool {
        let _ = address;
        true
    }
}
