//! Why packets ended in a graph, and what else its nodes counted.

use crate::blocks::{Blocks, Table, name, text, whole};
use findings::rows::{measures_of, role, subject};
use recording::{Recording, metrics};
use serde::Serialize;

/// The case of these counts.
const CASE: &str = "errors";

/// Packets that were dropped or punted for a reason, or something else that a node counted.
#[derive(Serialize)]
pub(super) struct Counted<'r> {
    node: &'r str,
    reason: &'r str,
    severity: &'r str,
    packets: u64,
}

/// Reads the counts.
pub(super) fn read(recording: &Recording) -> Vec<Counted<'_>> {
    let rows = measures_of(recording, CASE, metrics::PACKETS).map(|measure| {
        let of = subject(recording, measure);
        let (node, reason) = of.split_once(": ").unwrap_or((of, ""));
        Counted { node, reason, severity: role(recording, measure), packets: measure.value as u64 }
    });
    rows.collect()
}

/// Tells them in a table; nothing if there are none.
pub(super) fn tell(errors: &[Counted<'_>], told: &mut Blocks) {
    let table = Table::with_rows(errors)
        .numbers("count", "", |row| whole(row.packets as f64))
        .words("node", |row| text![name(row.node)])
        .words("reason", |row| row.reason)
        .words("severity", |row| row.severity);
    told.table(table.done());
}
