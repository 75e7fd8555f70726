//! Why packets ended in a graph, and what else its nodes counted.

use crate::rows::measures_of;
use recording::{Recording, metrics};
use schemars::JsonSchema;
use serde::Serialize;

/// The case of these counts.
const CASE: &str = "errors";

/// Packets that were dropped or punted for a reason, or something else that a node counted.
#[derive(Serialize, JsonSchema)]
pub struct NodeCount<'r> {
    /// The node's name.
    pub node: &'r str,
    /// The reason, in the node's words.
    pub reason: &'r str,
    /// The severity of the reason, such as `error`.
    pub severity: &'r str,
    /// The number of packets.
    pub packets: u64,
}

/// Reads the counts.
pub fn read(recording: &Recording) -> Vec<NodeCount<'_>> {
    measures_of(recording, CASE, metrics::PACKETS)
        .map(|row| NodeCount {
            node: row.subject,
            reason: row.role,
            severity: row.mode,
            packets: row.value as u64,
        })
        .collect()
}
