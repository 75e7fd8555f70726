//! Why a PSCI latency is what it is.
//!
//! Reads a recording's events, from whichever world, and splits each measured span of each CPU into
//! causes. Nothing here knows a platform, a cost or a published figure: a cause is what the stamps
//! say the CPU was doing, and whom it waited for is who held, by their own stamps, what it waited
//! for.
//!
//! A span's causes add up to the span, tick for tick, because both are cut from the same counter
//! values.
#![forbid(unsafe_code)]

mod activity;
mod causes;
mod cells;
mod each;
mod lanes;
mod path;
mod spending;
mod split;
mod stretches;
#[cfg(test)]
#[path = "../tests/support/testing.rs"]
mod testing;
mod timeline;

pub use activity::{Activity, LaneSpan};
pub use causes::{Cause, CauseRow, Recognition, WaitFor};
pub use cells::{CellResult, lock_order_decides, microseconds};
pub use each::{SpanSplit, VERSION, record};
pub use lanes::{Call, Chosen, Iteration, Service, Timelines};
pub use path::{Actor, PathPart};
pub use spending::{Spending, Spent};
pub use split::{Split, Wait};
pub use stretches::{CpuLane, Mark, Stretch, cpu_lanes};
