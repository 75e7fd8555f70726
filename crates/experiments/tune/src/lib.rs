//! `tune`: which prefetch distances and which batch are best for a loop over packets or records.
//!
//! ```text
//!   loop.so, a node, a recipe ──► worker (a process of its own) ◄── cells ── sweep ──► recording
//!                                                                              ▲
//!   calibrate-core ──► core file ──► model, fitted to a few cells ── predicted ┘
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `tune.rs` | the experiment |
//! | `grid.rs` | the cells: values of knobs, batches, working sets |
//! | `sweep.rs` | the measuring of cells, until the answer is certain |
//! | `predict.rs` | the model, fitted to a few cells, and what it says of the others |
//! | `choose.rs` | the choice from a tenth of the measurements |
//! | `process.rs`, `protocol.rs`, `worker.rs` | the process that runs the loop |
//! | `shared_object.rs`, `nodes.rs`, `recipe.rs`, `shaped.rs` | where loops come from |
//! | `probes.rs`, `filler.rs`, `core_file.rs` | a core, measured by loops of known shape |
//! | `system.rs` | what the system says of itself |

mod choose;
mod core_file;
mod filler;
mod grid;
mod nodes;
mod predict;
mod probes;
mod process;
mod protocol;
mod recipe;
mod results;
mod shaped;
mod shared_object;
mod sweep;
mod system;
mod tune;
mod worker;

pub use core_file::CoreFile;
pub use probes::calibrate;
pub use system::{file_name, processor};
pub use tune::{CORES, Tune};
pub use worker::{ARGUMENT as WORKER, work};
