//! The kernel's counts of its idle states, as people post them.
//!
//! Linux counts in `/sys/devices/system/cpu/cpu*/cpuidle/state*/` since it booted, so a measurement
//! is the difference of two dumps. A dump is a folder, a tar archive, what `grep . FILES` printed
//! (each line has its path), or what `cat state*/*` printed (lines without names). A table of
//! columns has what was counted already. Files may be packed with gzip, xz or zstd.
//!
//! | file | what it holds |
//! |---|---|
//! | `state.rs` | an idle state's counters, dumps and what was counted |
//! | `files.rs` | paths below `cpu*/`, put together as a dump |
//! | `listed.rs` | lists of cpupower, tables of states, and those of power domains |
//! | `unnamed.rs` | lines without names |
//! | `columns.rs` | tables of columns |
//! | `input.rs` | folders, archives and packed files, and which of the forms a text has |
//! | `difference.rs` | what was counted between two dumps, and dumps that do not belong together |
//! | `record.rs` | the recording |

mod columns;
mod difference;
mod files;
mod input;
mod listed;
mod record;
mod state;
mod unnamed;

pub use difference::{Between, between, domains_between};
pub use input::{Content, read_bytes, read_live, read_path, read_states};
pub(crate) use record::add;
pub use record::record;
pub use state::{Counts, CpuCounts, Dump, State};
