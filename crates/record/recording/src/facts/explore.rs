use super::Facts;
use serde::{Deserialize, Serialize};

/// A schedule that breaks something, and the same in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exploration {
    /// The schedule, as `explore replay` reads it.
    pub schedule: String,
    /// Its deviations from the plainest run, a sentence each.
    pub sentences: Vec<String>,
    /// The calls of each CPU, a sentence each.
    pub scenario: Vec<String>,
    /// The last loads that missed a newer value, the latest first.
    pub missed: Vec<String>,
}

impl Facts for Exploration {}
