use super::Facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A loop whose distances and batch were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Rounds in which cells were measured in turn.
    pub rounds: u64,
    /// True if the best cell is at an end of what can be tried.
    pub at_the_end: bool,
    /// True if there was no sweep: only the cells of the choice were measured.
    #[serde(default)]
    pub quick: bool,
    /// The loop's knobs.
    pub knobs: Vec<TunedKnob>,
    /// The working sets, the largest last.
    pub sets: Vec<TunedSet>,
    /// A model, its cells and its numbers; `None` without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<TunedModel>,
}

/// A knob of a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TunedSet {
    /// Name of the working set: `warm`, `l2`, `llc`, `memory`.
    pub name: String,
    /// Records of the working set.
    pub records: u64,
    /// Bytes of the lines that they have.
    pub bytes: u64,
}

/// A model of a loop on a measured core. Times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TunedModel {
    /// The core's file.
    pub core: String,
    /// Cells that were fitted to, as variant and subject.
    pub used: Vec<[String; 2]>,
    /// Cells that were measured for the choice from few measurements, as variant and subject.
    #[serde(default)]
    pub probed: Vec<[String; 2]>,
    /// Rounds that were looked at for it, of all cells together, and those of the sweep.
    #[serde(default)]
    pub probe_rounds: [u64; 2],
    /// Work per record.
    pub work: f64,
    /// Ticks per call.
    pub call: f64,
    /// Records that fit the core's window.
    pub window_records: f64,
    /// From a record's lines to the end of what depends on them.
    pub chain: f64,
    /// A line of the largest set, in the mean.
    pub line: f64,
    /// Lines that can be on their way at once.
    pub fills: u64,
    /// Root mean square of the relative errors of the fit, in percent.
    pub rms_percent: f64,
}

impl Facts for TunedLoop {}
