//! The activity of a CPU in a span of its time.

use crate::causes::Cause;

/// The activity of a CPU in a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// In a PSCI call, or on its way out of low power, for this cause.
    Cause(Cause),
    /// In the normal world, outside of PSCI.
    NormalWorld,
    /// In low power, or off.
    LowPower,
}

/// A span of a CPU's time in which it did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneSpan {
    /// Start, in ticks of the counter.
    pub from: u64,
    /// End, in ticks; after the begin.
    pub to: u64,
    /// The node's counters.
    pub activity: Activity,
    /// For a wait: id of the lock, or number of the SCP channel.
    pub on: Option<u32>,
    /// For a wait: the CPU that held the lock, or whose command the SCP had in hand.
    pub holder: Option<u16>,
}
