//! The idle intervals of a traced kernel, as they can be read from a recording of its trace.
//!
//! An interval begins where a CPU enters an idle state and ends where it leaves it. What a governor
//! would have asked at that moment (how long until the next timer?) is rebuilt from the timers'
//! events, and each interval says how well that is known: [`SleepLength`].
//!
//! | file | what it is about |
//! |---|---|
//! | `sleep.rs` | an interval, what is known of it, and the counts of a whole trace |
//! | `clock.rs` | the trace's clock, CLOCK_MONOTONIC and jiffies |
//! | `cpu.rs` | what is known of a CPU while its events go by |
//! | `told.rs` | the events that a trace has, and those that were left out |
//! | `read.rs` | from a recording to its intervals |
#![forbid(unsafe_code)]

mod clock;
mod cpu;
mod read;
mod sleep;
mod told;

pub use read::{Error, events, sleeps};
pub use sleep::{LEAVING_NS, Reason, Sleep, SleepLength, Summary, WAKING_NS, Waker};
