//! Rows to Parquet and back.
//!
//! The library's own column writers and readers are used, without Arrow: Arrow would take a third of the time of a first build.

mod dictionary;
mod read;
mod write;

pub(crate) use read::{TableReader, Values, sure};
pub(crate) use write::TableWriter;

/// Rows of a row group, and so the most that are held for writing and reading at a time.
pub(crate) const GROUP_ROWS: usize = 256 * 1024;
