//! The manifests of a data set (`sweep.toml`) and of each of its chunks (`chunk.toml`). The same
//! plan gives the same text, whoever ran it; who that was lies apart, in `runs/`.

use recording::{FileFacts, Header};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first line of a `sweep.toml`.
pub const FORMAT: &str = "stopwatt-sweep";

/// The version of the layout that is written, and the only one that is read.
pub const VERSION: u32 = 2;

/// `sweep.toml`.
#[derive(Serialize, Deserialize)]
pub struct Marks {
    pub(crate) format: String,
    pub(crate) version: u32,
    /// The program that runs it: another one might give other figures.
    pub(crate) stopwatt: String,
    pub(crate) experiment: String,
    pub(crate) world: String,
    pub(crate) points: u64,
    /// Points of a chunk.
    pub(crate) chunk: u64,
    pub(crate) chunks: u64,
    /// CRC-32 of `plan.toml`.
    pub(crate) plan: u32,
}

/// A point that has no rows, or whose experiment found something that should not be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedPoint {
    /// Number of the point.
    pub point: u64,
    /// The reason.
    pub why: String,
}

/// `chunk.toml`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Chunk {
    /// CRC-32 of the plan.
    pub(crate) plan: u32,
    /// First point of the chunk.
    pub(crate) first: u64,
    /// Last point of the chunk.
    pub(crate) last: u64,
    /// Points without rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failed: Vec<FailedPoint>,
    /// Points whose experiment found something that should not be. They have rows, and are not run
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) complaints: Vec<FailedPoint>,
    /// Platform files that were read, each with the CRC-32 of its text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) inputs: BTreeMap<String, u32>,
    /// Files that settings name, each with its CRC-32.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) named: BTreeMap<String, u32>,
    /// The files of rows.
    pub(crate) files: BTreeMap<String, FileFacts>,
    /// The header of the first point that has rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) header: Option<Header>,
}

/// `runs/NAME.toml`: who ran which chunks, when and how fast.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// The share that was asked for: `shard 2/7`.
    pub(crate) share: String,
    /// The machine's name.
    pub(crate) host: String,
    pub(crate) process: u32,
    /// Chunks that it wrote.
    pub(crate) chunks: Vec<u64>,
    pub(crate) points: u64,
    pub(crate) seconds: f64,
    pub(crate) run: recording::Run,
}
