//! Why packets ended in a graph, and what else its nodes counted.

use crate::blocks::{Blocks, Table};
use findings::errors::NodeCount;

/// Tells them in a table; nothing if there are none.
pub fn tell(errors: &[NodeCount<'_>], told: &mut Blocks) {
    let table = Table::with_rows(errors)
        .numbers("count", |row| row.packets)
        .words("node", |row| row.node)
        .words("reason", |row| row.reason)
        .words("severity", |row| row.severity);
    told.table(table);
}
