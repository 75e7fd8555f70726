//! Graphs of one's own: nodes of this data plane and of shared objects, wired by a file.
//!
//! ```text
//!   my.toml ──► file ──► plan ──► worker (a process of its own) ◄── windows ── run ──► what was counted
//!   my.so ────────────────────► objects ──► nodes ──► graph ┘
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `parse.rs`, `file.rs` | the file, read, and compared with the nodes that there are |
//! | `protocol.rs` | what the two processes tell each other |
//! | `objects.rs` | the nodes of shared objects, looked at before anything is called |
//! | `counters.rs` | the counters of such a node, in a wide room |
//! | `node.rs` | such a node in our graph |
//! | `worker.rs` | the process that runs the graph |
//! | `run.rs` | the process that asks for it |

mod counters;
mod file;
mod node;
mod objects;
mod parse;
mod protocol;
mod run;
mod worker;

pub use run::start;
pub use worker::{ARGUMENT, work};

use crate::graphs::{GraphKind, Load};
use document::{Document, Result};
use std::path::Path;

/// Checks the file of a graph that has nodes of ours alone.
///
/// # Errors
/// The document is no such graph; the error names the line.
pub fn check(document: &Document) -> Result {
    file::GraphFile::read(document)?
        .plan(
            Path::new(document.name()),
            &[],
            Load::new(GraphKind::Ip4Route),
        )
        .map(drop)
}
