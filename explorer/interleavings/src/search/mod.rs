//! The search: runs of a script, until one breaks an invariant; then the shortest that does.

mod account;
mod counterexample;
mod coverage;
mod exploration;
mod run;
mod script;
mod shrink;

pub use account::Account;
pub use counterexample::Counterexample;
pub use coverage::{Access, Counter, Coverage, Kinds};
pub use exploration::{CounterexampleIn, Exploration, Subject, Tally, TallyOf, explore_on};
pub use run::{Cause, Main, RunResult, Runs};
pub use script::Script;
pub use shrink::{Budget, shrink};
