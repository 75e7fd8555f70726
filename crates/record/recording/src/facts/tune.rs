use super::Facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A loop whose distances and batch were tried.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TunedLoop {
    /// The loop's name.
    pub name: String,
    /// Origin of the loop: a file, a node, a recipe.
    pub from: String,
    /// The processor.
    pub processor: String,
    /// Records of a call, where it is not varied.
    pub batch: u64,
    /// The share of the records' memory in huge pages, where the system says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub huge: Option<f64>,
    /// Rounds of the last comparison.
    pub rounds: u64,
    /// Slices that were measured in all.
    #[serde(default)]
    pub slices: u64,
    /// True if a distance of the best is the longest that can be tried.
    pub at_the_end: bool,
    /// True if it was looked at whether the loop leaves the same results in memory with all values.
    #[serde(default)]
    pub is_checked: bool,
    /// Values with which it leaves others: they were left out.
    #[serde(default)]
    pub left_out: Vec<Vec<u32>>,
    /// The values that the search found.
    #[serde(default)]
    pub pick: Vec<u32>,
    /// What stands beside them.
    #[serde(default)]
    pub beside: Vec<TunedPlace>,
    /// The loop's knobs.
    pub knobs: Vec<TunedKnob>,
    /// The working sets, the largest last.
    pub sets: Vec<TunedSet>,
}

/// A knob of a loop.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TunedKnob {
    /// Name of the knob.
    pub name: String,
    /// The macro in the loop's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub define: Option<String>,
    /// True for a prefetch distance.
    pub is_distance: bool,
    /// Lines that lead to its own.
    #[serde(default)]
    pub depth: u32,
    /// The value in the source today.
    pub today: u64,
}

/// A working set.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TunedSet {
    /// Name of the working set: `warm`, `l2`, `llc`, `memory`.
    pub name: String,
    /// Records of the working set.
    pub records: u64,
    /// Bytes of the lines that they have.
    pub bytes: u64,
}

/// Values that an engineer would have tried.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TunedPlace {
    /// The rule that they follow; several places may follow one.
    pub name: String,
    /// A value for each knob.
    pub values: Vec<u32>,
}

impl Facts for TunedLoop {}
