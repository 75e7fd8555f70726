//! `tune`: which prefetch distances and which batch are best for a loop over packets or records.
//!
//! ```text
//!   loop.so, a node, a recipe ──► worker (a process of its own) ◄── rounds ── search ──► recording
//!                                 checker (a second one) ◄── is it the same work? ──┘
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `tune.rs` | the experiment |
//! | `space.rs` | values of knobs: where a search starts, and what lies beside a value |
//! | `search.rs` | the search, and the last comparison |
//! | `loop_bench.rs` | a loop that is measured: working sets, rounds, the same work |
//! | `process.rs`, `protocol.rs`, `worker.rs` | the process that runs the loop |
//! | `footprint.rs` | what a call changes in memory |
//! | `shared_object.rs`, `nodes.rs`, `recipe.rs`, `shaped.rs` | where loops come from |
//! | `probes.rs`, `core_file.rs` | a core, measured by loops of known shape |
//! | `system.rs` | what the system says of itself |

mod core_file;
mod footprint;
mod loop_bench;
mod nodes;
mod probes;
mod process;
mod protocol;
mod recipe;
mod results;
mod search;
mod shaped;
mod shared_object;
mod space;
mod system;
mod tune;
mod worker;

pub use core_file::CoreFile;
pub use probes::calibrate;
pub use system::processor;
pub use tune::Tune;
pub use worker::{ARGUMENT as WORKER, work};
