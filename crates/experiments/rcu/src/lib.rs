//! Experiments on RCU beside a real kernel.
//!
//! `rcu-doses` closes files at several rates on one CPU, in a guest and in the small kernel, and
//! counts what that does to the others: ticks that idle CPUs keep, wake-ups, and where callbacks
//! are invoked. Both leave recordings with the same points, and the same code counts. `linux-rates`
//! runs programs in the guest and counts which callbacks they queue.
//!
//! | file | what it is about |
//! |---|---|
//! | `counting.rs` | what a recording of a dose holds, counted |
//! | `small_kernel.rs` | the doses in the small kernel |
//! | `guest.rs` | doses and programs in a guest |
//! | `queued.rs` | which callbacks are queued in the trace of a program |
//! | `rcu_doses.rs` | `rcu-doses` |
//! | `linux_rates.rs` | `linux-rates` |
#![forbid(unsafe_code)]

mod counting;
mod guest;
mod linux_rates;
mod queued;
mod rcu_doses;
mod small_kernel;

pub use counting::{CpuCounts, count};
pub use linux_rates::LinuxRates;
pub use rcu_doses::RcuDoses;
