//! The manifests of a data set (`sweep.toml`) and of each of its chunks (`chunk.toml`). The same
//! plan gives the same text, whoever ran it.

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
    pub format: String,
    pub version: u32,
    /// The program that runs it: another one might give other figures.
    pub stopwatt: String,
    pub experiment: String,
    pub world: String,
    pub points: u64,
    /// Points of a chunk.
    pub chunk: u64,
    pub chunks: u64,
    /// CRC-32 of `plan.toml`.
    pub plan: u32,
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
pub struct Chunk {
    /// CRC-32 of the plan.
    pub plan: u32,
    /// First point of the chunk.
    pub first: u64,
    /// Last point of the chunk.
    pub last: u64,
    /// Points without rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedPoint>,
    /// Points whose experiment found something that should not be. They have rows, and are not run
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<FailedPoint>,
    /// Platform files that were read, each with the CRC-32 of its text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, u32>,
    /// Files that settings name, each with its CRC-32.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named: BTreeMap<String, u32>,
    /// The files of rows.
    pub files: BTreeMap<String, FileFacts>,
    /// The header of the first point that has rows.
    pub header: Option<Header>,
}
