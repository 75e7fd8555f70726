//! The activity of a CPU in a span of its time.

use crate::causes::Cause;

/// The activity of a CPU in a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// Runs in a PSCI call, or comes out of low power, for this cause.
    Cause(Cause),
    /// Runs the normal world, outside of PSCI.
    NormalWorld,
    /// Is in low power, or off.
    LowPower,
}

/// A span of a CPU's time in which it did one thing.
#[derive(Clone, Copy, Debug)]
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
