//! The PSCI and the RCU library, explored: on the machine of `interleavings`, where who goes
//! next, what memory shows and what the hardware answers is chosen.
//!
//! | module | holds |
//! |---|---|
//! | `of_psci` | the PSCI library: the power controller, the board as the library sees it, scenarios, and what must hold of a run |
//! | `of_rcu` | the RCU library: a kernel with a clock, tasks and threads, and what must hold of a run |
//!
//! ```
//! use explore::{Exploration, Limits, MachineOptions, Psci, Strategy, Subject, explore_on};
//!
//! let fault = psci_faults::find("rejected-cpu-on");
//! let subject = Psci { cpus: 4, machines: MachineOptions::all(), fault, port: None };
//! let exploration = Exploration {
//!     strategies: vec![Strategy::Random, Strategy::PassingOver],
//!     seed: 1,
//!     limits: Limits::default(),
//!     script: None,
//!     schedules: 100_000,
//! };
//! let found = explore_on(&subject, &exploration, 1, |_| true).found.expect("the fault shows within a second");
//! let shrunk = subject.shrink(&found, exploration.limits);
//! let (again, _steps) = subject.replay(&shrunk, exploration.limits);
//! assert_eq!(again.failure, Some(shrunk.failure));
//! ```
#![forbid(unsafe_code)]

mod of_psci;
mod of_rcu;
mod words;

pub use interleavings::story;
use interleavings::subject::Breach;
pub use interleavings::subject::{
    Account, Config, Counterexample, CounterexampleIn, Deviation, Exploration, Failure, Invariant,
    Kind, Limits, MOST_CPUS, Operation, OperationIndex, Script, Step, Strategy, Subject, Tally,
    TallyOf, Watchdog, explore_on, watch,
};
pub use of_psci::{About, Ask, Board, Hook, HooksFile, MachineOptions, Own, Port, Psci, Scenario};
pub use of_rcu::{Action, Idle, KernelScenario, Mode, Rcu, Urgency};

/// The number of the weight in which this part of their sum lies.
pub(crate) fn pick(weights: &[u64], mut part: u64) -> usize {
    let is_in = |&weight: &u64| {
        let is_in = part < weight;
        part = part.saturating_sub(weight);
        is_in
    };
    weights.iter().position(is_in).unwrap_or(weights.len())
}

/// A breach where something does not hold.
pub(crate) fn held(
    holds: bool,
    invariant: Invariant,
    what: impl FnOnce() -> String,
) -> Result<(), Breach> {
    if holds {
        Ok(())
    } else {
        Err((invariant, what()))
    }
}

interleavings::shared_word! {
    /// A shared word of the libraries: the number under which the machine keeps it.
    Word
}
