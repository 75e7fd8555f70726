//! Why packets ended in a graph, and what else its nodes counted.

use crate::rows::{measures_of, role, subject};
use recording::{Recording, metrics};
use schemars::JsonSchema;
use serde::Serialize;

/// The case of these counts.
const CASE: &str = "errors";

/// Packets that were dropped or punted for a reason, or something else that a node counted.
#[derive(Serialize, JsonSchema)]
pub struct Counted<'r> {
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
pub fn read(recording: &Recording) -> Vec<Counted<'_>> {
    let rows = measures_of(recording, CASE, metrics::PACKETS).map(|measure| {
        let of = subject(recording, measure);
        let (node, reason) = of.split_once(": ").unwrap_or((of, ""));
        Counted { node, reason, severity: role(recording, measure), packets: measure.value as u64 }
    });
    rows.collect()
}
