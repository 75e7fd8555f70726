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
    /// Records of a call, where it is not varied.
    pub batch: u64,
    /// Bytes of lines that the largest working set was to have; 0 where that is not known.
    #[serde(default)]
    pub asked_bytes: u64,
    /// Rounds of the last comparison.
    pub rounds: u64,
    /// Slices that were measured in all.
    #[serde(default)]
    pub slices: u64,
    /// True if a distance of the best is the longest that can be tried.
    pub at_the_end: bool,
    /// True if it was looked at whether the loop has the same results with all values that were
    /// compared last.
    #[serde(default)]
    pub is_checked: bool,
    /// What was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub compared_by: Option<ComparedBy>,
    /// True if the loop overwrites what it reads: a second call on the same records leaves
    /// something else in them than the first.
    #[serde(default)]
    pub is_overwriting: bool,
    /// Values with which it has others: they were left out.
    #[serde(default)]
    pub left_out: Vec<Vec<u32>>,
    /// The values that the search found.
    #[serde(default)]
    pub pick: Vec<u32>,
    /// What the search found for vectors that are not full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<TunedPartial>,
    /// Lines at which samples of perf found loads that miss, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<MissedLine>,
    /// What stands beside them.
    #[serde(default)]
    pub beside: Vec<TunedPlace>,
    /// The loop's knobs.
    pub knobs: Vec<TunedKnob>,
    /// The working sets, the largest last.
    pub sets: Vec<TunedSet>,
}

/// A line of a loop's source at which loads miss.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MissedLine {
    /// The line, as in `acl.c:42`, or a function where lines are not known.
    pub place: String,
    /// Its share of all samples.
    pub share: f64,
    /// The name that it reads through, such as an array's, if no prefetch in the same source has it:
    /// a candidate for a knob. `None` if one has it, or if the source is not beside the loop.
    #[serde(default)]
    pub unnamed: Option<String>,
}

/// What is compared of a loop's calls with other values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedBy {
    /// What the loop itself says of the results of a record.
    Results,
    /// The records.
    Records,
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

/// What was found for vectors that are not full.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TunedPartial {
    /// The fewest and the most records of a call: their number is drawn anew for each.
    pub frames: [u64; 2],
    /// A value for each knob.
    pub pick: Vec<u32>,
}

impl Facts for TunedLoop {}
