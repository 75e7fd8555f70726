//! The kernel's counts of its idle states, as people post them.
//!
//! Linux counts in `/sys/devices/system/cpu/cpu*/cpuidle/state*/` since it booted, so a measurement
//! is the difference of two dumps. A dump is a folder, a tar archive, what `grep . FILES` printed
//! (each line has its path), what `cat state*/*` printed (lines without names), or a list or table.
//! Tools that measure an interval print what was counted already. Files may be packed with gzip, xz
//! or zstd.
//!
//! | file | what it holds |
//! |---|---|
//! | `state.rs` | an idle state's counters, dumps and what was counted |
//! | `forms.rs` | the forms of `data/idle-tables.toml`, and the lines that fit their patterns |
//! | `reader.rs` | a text's lines, lists and JSON |
//! | `table.rs` | tables of columns, in any order or transposed |
//! | `files.rs` | figures of states, put together; paths below `cpu*/` |
//! | `unnamed.rs` | lines without names |
//! | `input.rs` | folders, archives and packed files |
//! | `difference.rs` | what was counted between two dumps, and dumps that do not belong together |
//! | `record.rs` | the recording |

mod difference;
mod files;
mod forms;
mod input;
mod reader;
mod record;
mod state;
mod table;
mod unnamed;

pub use difference::{Between, between, counts_between, domains_between};
pub use forms::first;
pub use input::{read_bytes, read_live, read_path, read_states};
pub(crate) use record::add;
pub use record::record;
pub use state::{Content, Counts, CpuCounts, Dump, Measured, State};
