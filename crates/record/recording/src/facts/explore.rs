use super::Facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A schedule that breaks something, and the same in sentences; and what all runs have reached.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// The schedule, as `explore replay` reads it; empty if nothing broke.
    #[serde(default)]
    pub schedule: String,
    /// Deviations of the schedule from the plainest run, a sentence each.
    #[serde(default)]
    pub sentences: Vec<String>,
    /// The calls of each CPU, a sentence each.
    #[serde(default)]
    pub scenario: Vec<String>,
    /// The cause of the failure, in a sentence, where more is known than what broke.
    pub cause: Option<String>,
    /// The way to the failure: what was overwritten by whom, the latest first.
    #[serde(default)]
    pub causes: Vec<String>,
    /// The last operations that led to the failure, in order.
    #[serde(default)]
    pub last: Vec<LastOperation>,
    /// The reach of all runs.
    pub coverage: Option<Coverage>,
}

impl Facts for Exploration {}

/// The title of the lane of calls in a recorded run.
pub const CALLS: &str = "call";

/// An operation of a run that breaks something.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LastOperation {
    /// The CPU, or the one that is none.
    pub who: String,
    /// The operation's number among those of a call of this CPU.
    pub operation: String,
    /// The rest of the sentence.
    pub does: String,
}

/// The reach of an exploration's runs, and what they never did.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// True if no other run is possible within the bounds of the search.
    #[serde(default)]
    pub complete: bool,
    /// Runs.
    pub schedules: u64,
    /// Runs in which branches and pairs of operations were watched: one in sixteen.
    pub watched: u64,
    /// Branches of the library.
    pub branches: u64,
    /// Branches that were taken.
    pub taken: u64,
    /// Pairs of operations on a word that met in both orders.
    pub both_orders: u64,
    /// Pairs that met in one order only.
    pub one_order: u64,
    /// Functions of the library that were never called, by file.
    pub never_called: Vec<String>,
    /// Branches of the other functions that were never taken.
    pub never_taken: Vec<String>,
    /// Events that are counted in every run, such as calls by outcome.
    pub counted: Vec<CoverageItem>,
    /// The choices of the machine, such as faults of the hardware.
    pub chosen: Vec<CoverageItem>,
}

/// Something that is counted.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageItem {
    /// The kind of thing: a heading.
    pub group: String,
    /// The call, the domain.
    pub of: String,
    /// Outcome or state that was reached.
    pub what: String,
    /// The number of times.
    pub count: u64,
}
