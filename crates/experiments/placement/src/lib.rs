//! Experiments on placement: which task runs on which CPU, and what that costs.
//!
//! `placement` runs a file of rt-app in the small kernel under each policy, with several seeds. It
//! keeps the latencies of periodic tasks, what woke idle CPUs, and energy by owner: each task,
//! callbacks, the tick kept for RCU, RCU's threads, each idle state, transitions, the kernel,
//! interrupts.
//!
//! ```text
//!  workload, platform ─▶ input ─▶ seed_run, once a policy and seed ─▶ results ─▶ recording
//!                                 └▶ lanes: the events of a second, once a policy ─┘
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `workloads.rs` | the workloads that come with it |
//! | `input.rs` | what is asked for, read and checked |
//! | `seed_run.rs` | a policy with a seed |
//! | `operating_points.rs` | energy per work at each operating point |
//! | `lanes.rs` | the timeline of a short part |
//! | `results.rs` | the rows of the recording |
//! | `placement.rs` | `placement` |
//! | `many_tasks.rs` | `placement --tasks`: numbers of equal tasks with the energy model of Linux and without |
#![forbid(unsafe_code)]

mod input;
mod lanes;
mod many_tasks;
mod operating_points;
mod placement;
mod results;
mod seed_run;
mod workloads;

pub use input::{Input, RcuChoice};
pub use operating_points::{PointCost, points};
pub use placement::Placement;
pub use seed_run::outcome;
pub use workloads::NAMES;
