//! The idle loop's experiments.
//!
//! `idle-replay` asks of a trace what other governors would have done with it, and what that would
//! have cost; `idle-clock` what it costs the idle loop to read a clock and to divide.
//!
//! | file | what it is about |
//! |---|---|
//! | `platform.rs` | idle states of a platform, their powers, and the range of what a round trip costs |
//! | `trace.rs` | the idle intervals of a trace |
//! | `counters.rs` | the traced kernel's own counts beside the trace |
//! | `replay.rs` | a governor on a trace, in open loop; beside the traced kernel's own choices |
//! | `envelope.rs` | both ends of what a governor may have done |
//! | `span.rs` | numbers that lie between two, and all ways that a computation with them can go |
//! | `energy.rs` | what that costs |
//! | `oracle.rs` | the cheapest that there could be, and where a governor fell short of it |
//! | `limits.rs` | limits of latency under which governors choose, and states that are switched off |
//! | `power_domains.rs` | power domains that the operating system switches off with the last of their CPUs |
//! | `asked.rs` | what several of the experiments are told alike |
//! | `kernel_file.rs`, `kernel/` | a governor's file of a kernel's tree, compiled and asked |
//! | `idle_replay.rs`, `trial.rs`, `results.rs`, `lanes.rs` | `idle-replay`, what it tries, its rows and its timeline |
//! | `clocks.rs` | clocks of this machine |
//! | `reads.rs` | how long reads of a clock and divisions take |
//! | `published_reads.rs` | reads that take as long as published ones |
//! | `idle_clock.rs` | `idle-clock` |
#![deny(unsafe_code)]

mod asked;
pub mod clocks;
pub mod counters;
pub mod energy;
pub mod envelope;
mod idle_clock;
mod idle_replay;
pub mod kernel_file;
mod lanes;
mod limits;
pub mod oracle;
pub mod platform;
pub mod power_domains;
pub mod published_reads;
pub mod reads;
pub mod replay;
mod results;
mod span;
pub mod trace;
mod trial;

pub use asked::{check_there, no_governor};
pub use idle_clock::IdleClock;
pub use idle_replay::IdleReplay;
