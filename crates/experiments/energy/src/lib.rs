//! Experiments on energy.
//!
//! `rcu-energy` runs the six benchmarks of a talk of 2013 in its configurations of RCU, and what
//! was not published of them is drawn from declared ranges.
//!
//! | file | what it is about |
//! |---|---|
//! | `unknown.rs` | what was not published: a range each |
//! | `actions.rs` | what a task does, in words |
//! | `suite.rs` | the file of benchmarks and ranges, read and checked |
//! | `point.rs` | a value for each unknown: a draw, or the central point |
//! | `board.rs` | the board at a point |
//! | `workload.rs` | a benchmark at a point, and the system that runs beside it |
//! | `configuration.rs` | the talk's configurations of RCU |
//! | `runs.rs` | one run, and what it came to |
//! | `plan.rs` | the points that are visited: draws, the central point, curves |
//! | `rows.rs` | the recording |
//! | `lanes.rs` | the timelines in it |
//! | `rcu_energy.rs` | the experiment `rcu-energy` |
#![forbid(unsafe_code)]

pub mod actions;
pub mod board;
pub mod configuration;
mod lanes;
pub mod plan;
pub mod point;
mod rcu_energy;
pub mod rows;
pub mod runs;
pub mod suite;
pub mod unknown;
pub mod workload;

pub use rcu_energy::RcuEnergy;
