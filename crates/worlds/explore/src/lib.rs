//! Interleavings and memory orders, chosen: finds, replays and shrinks the schedule that breaks
//! firmware.
//!
//! The PSCI library runs on a machine without time. At each operation the machine asks who goes
//! next, whether a store stays in its buffer, how old a value a load may return, whether a cache
//! evicts a line, whether an interrupt comes or the hardware refuses. A [`Strategy`] answers, from
//! a seed; what differs from the plainest run is written down as [`Deviation`]s, which repeat the
//! run. Where an [`Invariant`] breaks, the run is shrunk: deviations, calls and CPUs that the
//! failure does not need are left out, until none of them can go.
//!
//! | file | holds |
//! |---|---|
//! | `memory` | store buffers, early loads, caches, what maintenance reaches; [`litmus`] tries it against the architecture |
//! | `machine`, `access` | who goes next; shared words. What runs there is a subject's |
//! | `of_psci` | the PSCI library: the power controller, the board as the library sees it, scenarios, and what must hold of a run |
//! | `of_rcu` | the RCU library: a kernel with a clock, tasks and threads, and what must hold of a run |
//! | `model` | tests of one's own: [`check`] |
//! | `strategy`, `subject`, `shrink` | who answers, many runs, and what is left of one that failed |
//! | `names`, [`narrate`] | all of it in words |
//!
//! ```
//! use explore::{Exploration, Limits, MachineOptions, Psci, Strategy, Subject};
//!
//! let fault = psci_faults::find("rejected-cpu-on");
//! let subject = Psci { cpus: 4, machines: MachineOptions::all(), fault };
//! let exploration = Exploration {
//!     strategies: vec![Strategy::Random, Strategy::PassingOver],
//!     seed: 1,
//!     limits: Limits::default(),
//!     script: None,
//!     schedules: 100_000,
//! };
//! let found = subject.explore(&exploration, |_| true).found.expect("the fault shows within a second");
//! let shrunk = subject.shrink(&found, exploration.limits);
//! let (again, _steps) = subject.replay(&shrunk, exploration.limits);
//! assert_eq!(again.failure, Some(shrunk.failure));
//! ```
#![forbid(unsafe_code)]

mod access;
mod cell;
mod choice;
mod counterexample;
mod failure;
pub mod litmus;
mod machine;
mod memory;
mod model;
mod names;
pub mod narrate;
mod of_psci;
mod of_rcu;
mod options;
mod place;
mod run;
mod script;
mod shrink;
mod step;
mod strategy;
mod subject;
mod watchdog;

pub use cell::Word;
pub use choice::{Deviation, Kind};
pub use counterexample::Counterexample;
pub use failure::{Failure, Invariant};
pub use machine::Machine;
pub use model::{Bodies, Config};
pub use of_psci::{Ask, Board, MachineOptions, Model, POWER_CONTROLLER, Psci, Scenario, ScenarioError, check};
pub use of_rcu::{Action, CLOCK, KernelScenario, KernelScenarioError, Mode, Rcu, Urgency};
pub use options::{Limits, MOST_CPUS};
pub use place::{MOST_ACTIONS, OperationIndex};
pub use run::RunResult;
pub use script::Script;
pub use step::{Act, Did, Step};
pub use strategy::Strategy;
pub use subject::{CounterexampleIn, Exploration, Subject, Tally, TallyOf};
pub use watchdog::{Watchdog, watch};

/// The most operations of its CPU for which a store or a line's maintenance is put off.
pub(crate) const LONGEST_DELAY: u8 = 12;
