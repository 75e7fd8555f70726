//! `tune`: which prefetch distances and which batch are best for a loop over packets or records.
//!
//! ```text
//!   loop.so ──► worker (a process of its own) ◄── rounds ── search ──► recording
//!             checker (a second one) ◄── is it the same work? ──┘
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
//! | `shared_object.rs` | a loop of a shared object |
//! | `system.rs` | what the system says of itself |

mod footprint;
mod loop_bench;
mod process;
mod protocol;
mod results;
mod search;
mod shared_object;
mod space;
mod system;
mod tune;
mod worker;

pub use tune::Tune;
pub use worker::{ARGUMENT as WORKER, work};
