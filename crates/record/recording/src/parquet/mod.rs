//! Rows to Parquet and back.
//!
//! The library's own column writers and readers are used, without Arrow: Arrow would take a third
//! of the time of a first build.

mod pages;
mod read;
mod write;

pub use read::{TableReader, Values, sure};
pub use write::{
    DOUBLE, SIGNED, TEXT, TableWriter, UNSIGNED, common_properties, field, group, split,
};

/// Rows of a row group of a file that another program wrote: what pandas, polars and duckdb write
/// has fewer. They are held at a time.
pub const MOST_GROUP_ROWS: u64 = 4 << 20;

/// Rows of a row group that is written, and so the most that are held for writing at a time.
pub const GROUP_ROWS: usize = 256 * 1024;
