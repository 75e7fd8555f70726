//! Experiments on RCU beside a real kernel.
//!
//! `rcu-doses` closes files at several rates on one CPU, in a guest and in the small kernel, and counts what that does to the others: ticks
//! that idle CPUs keep, wake-ups, and where callbacks are invoked. Both leave recordings with the same points, and the same code counts.
//!
//! | file | what it is about |
//! |---|---|
//! | `counting.rs` | what a recording of a dose holds, counted |
//! | `small_kernel.rs` | the doses in the small kernel |
//! | `guest.rs` | the doses in a guest |
//! | `rcu_doses.rs` | `rcu-doses` |
#![forbid(unsafe_code)]

mod counting;
mod guest;
mod rcu_doses;
mod small_kernel;

pub use counting::{CpuCounts, count};
pub use rcu_doses::RcuDoses;
