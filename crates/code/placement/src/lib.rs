//! Which task runs on which CPU, on a machine whose cores are not equal.
//!
//! A kernel asks a policy, an implementation of [`Placement`], where a task is to run when it
//! starts and when it wakes up, who should move in a busy CPU's tick, and whom a CPU without work
//! should take. The policy sees the kernel through a [`View`]. What tasks have done is told it as
//! it happens, so that it can keep their loads ([`Pelt`]).
//!
//! ```
//! use placement::{Kind, Model};
//!
//! // Two domains; each operating point has its clock in Hz, its capacity, and the power of a core that runs there.
//! let model = Model::new(&[
//!     (&[0, 1], &[(600_000_000, 512, 2312), (1_200_000_000, 1024, 6997)]),
//!     (&[2, 3, 4], &[(500_000_000, 215, 334), (1_000_000_000, 430, 1024)]),
//! ])?;
//! let policy = "hmp".parse::<Kind>()?.policy(&model, 1);
//! // A kernel asks `policy.wake(view, task, previous)`, and so on.
//! # drop(policy);
//! assert!("fastest".parse::<Kind>().is_err_and(|error| error.contains("all-big")));
//! # Ok::<(), String>(())
//! ```
//!
//! The crate needs no operating system and computes with integers alone. The algorithms are
//! described in its own words and code: load tracking after Linux's `kernel/sched/pelt.c`, HMP
//! after Rasmussen's patches as vendors' trees have them, the switcher after the big.LITTLE
//! switcher of Linux, and energy-aware placement after Linux's energy model.
//!
//! | file | what it is about |
//! |---|---|
//! | `task.rs` | numbers of tasks, sets of CPUs, scheduling policies |
//! | `view.rs` | what a policy sees, what it is asked and what it is told |
//! | `pelt.rs` | load tracking of one task |
//! | `accounts.rs` | load tracking of all tasks and CPUs |
//! | `classes.rs` | CPUs sorted by how fast they are |
//! | `spread.rs` | tasks spread evenly; tasks that stay where they are; real-time tasks |
//! | `all_big.rs` | everything on the fastest CPUs |
//! | `hmp.rs` | a task moves up when its load is high, and down when it is low |
//! | `switcher.rs` | pairs of a fast and a slow CPU, of which one is on |
//! | `model.rs` | what a domain's cores get done, and what that costs |
//! | `fair.rs` | utilisation and estimates of tasks and CPUs, as Linux keeps them since 5.1 |
//! | `search.rs` | the CPU on which a task costs the least energy |
//! | `energy_aware.rs` | each wake-up where it costs the least energy |
//! | `kind.rs` | all policies by name |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod accounts;
mod all_big;
mod classes;
mod energy_aware;
mod fair;
mod hmp;
mod kind;
mod model;
mod pelt;
mod search;
mod spread;
mod switcher;
mod task;
mod view;

pub use accounts::{Accounts, TrackingPolicy};
pub use all_big::AllBig;
pub use energy_aware::EnergyAware;
pub use fair::FairLoads;
pub use hmp::{Hmp, HmpSettings};
pub use kind::Kind;
pub use model::{Model, Point};
pub use pelt::{CAPACITY, LONGEST_SUM, PERIOD, Pelt, decay};
pub use search::{CpuUse, Rules, WakingTask, cheapest};
pub use spread::{EvenSpread, StayPut};
pub use switcher::Switcher;
pub use task::{CpuSet, Policy, TaskId};
pub use view::{Doing, Move, Placement, View};
