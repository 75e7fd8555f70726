//! Two and more recordings, row by row: what changed, by how much, whether that can be said, and
//! why.
//!
//! A row is a measure of a case for a CPU, or, where the order of locks decides which CPU has which
//! figures, for a role: the n-th of a cluster to get the lock, the last man. Rows of different
//! recordings match by that label ([`Key`]) and by nothing else, never by position.
//!
//! Worlds that repeat themselves need no statistics: equal inputs give equal values, so any
//! difference has a cause among the inputs ([`Basis::Exact`]). Of a world that was measured the unit
//! is the run: iterations of one say nothing about the next, so that a verdict needs several
//! recordings a side, which one test judges ([`Basis::Runs`]). What a side lacks is told first, and
//! rows that a differing condition decides have no verdict. Where both recordings hold events, each
//! change is split into the changes of its causes, and each table says what became longer or shorter
//! on the critical path of its slowest CPU ([`TablePaths`]).
//!
//! What is compared are findings. No published figure is looked at: a published table is compared
//! by importing it.
#![forbid(unsafe_code)]

mod bounds;
mod choices;
mod compare;
mod conditions;
mod functions;
mod idle;
mod inputs;
mod judgement;
mod paths;
mod policy;
mod releases;
mod request;
mod result;
mod rows;
mod session;
mod shares;
mod stand_ins;
mod table;
#[cfg(test)]
#[path = "../tests/support/testing.rs"]
mod testing;
mod warnings;

pub use bounds::{Bound, Bounded, BoundedRow};
pub use compare::compare;
pub use evidence::FEWEST_RUNS;
pub use inputs::Difference;
pub use policy::{Iterations, Policy, Rule, Unjudged};
pub use recording::metrics::Better;
pub use request::{Error, Input, Options};
pub use result::{
    Basis, BoardCost, CallFunctions, CauseChange, Cell, Change, Comparison, Condition,
    CriticalPath, Differing, FunctionRow, IdleShare, IdleTest, Lack, Missing, OddRun, OnBoard,
    Outcome, PartChange, PathChange, Row, Sessions, Shift, Side, StandIn, TablePaths, Trial,
    Verdict,
};
pub use rows::runs_of;
pub use session::BoardSessions;
pub use table::{Key, TableName, Who, row_count, spaced};
