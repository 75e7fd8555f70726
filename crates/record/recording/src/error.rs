//! The errors of a recording on disk.

use document::Document;
use std::path::{Path, PathBuf};

/// Why a recording could not be written or read. Each message names the file and says what would be
/// right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{}: cannot {doing}: {cause}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The attempt, as in "cannot ...".
        doing: &'static str,
        /// The system's answer; part of the message already, so not a source that would be printed
        /// again.
        cause: std::io::Error,
    },
    /// A file where a recording should be.
    #[error("{}: is a file; a recording is a folder with recording.toml, events.parquet and measures.parquet", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// One of the files is not there.
    #[error("{}: missing; a recording is a folder with recording.toml, events.parquet and measures.parquet", path.display())]
    Missing {
        /// The file that should be there.
        path: PathBuf,
    },
    /// The file has another length than `recording.toml` says.
    #[error("{}: has {found} bytes where recording.toml says {expected}; the file was cut short or replaced: copy the recording again, or repeat the run", path.display())]
    Length {
        /// The Parquet file.
        path: PathBuf,
        /// Length of the file now.
        found: u64,
        /// Length of the file when it was written.
        expected: u64,
    },
    /// The file's content is not what was written.
    #[error("{}: CRC-32 is {found:08x} where recording.toml says {expected:08x}; the file was altered or damaged: copy the recording again, or repeat the run", path.display())]
    Checksum {
        /// The Parquet file.
        path: PathBuf,
        /// Checksum of what is there.
        found: u32,
        /// Checksum of what was written.
        expected: u32,
    },
    /// The file has another number of rows than `recording.toml` says.
    #[error("{}: has {found} rows where recording.toml says {expected}; one of them was replaced: copy the recording again, or repeat the run", path.display())]
    Rows {
        /// The Parquet file.
        path: PathBuf,
        /// Rows that the file has.
        found: u64,
        /// The number that the header says.
        expected: u64,
    },
    /// More rows than are held in memory at once.
    #[error("{}: its {rows} rows would take {mib} MiB of memory, and {most_mib} MiB are the most; record fewer iterations or less of the trace, or read its Parquet files with another program", path.display())]
    TooLong {
        /// The folder.
        path: PathBuf,
        /// All rows.
        rows: u64,
        /// Memory that they would take.
        mib: u64,
        /// Memory that they may take.
        most_mib: u64,
    },
    /// More rows than there is memory for.
    #[error("{}: too many rows for this machine's memory, {rows}: {short}; read its Parquet files with another program, or free memory", path.display())]
    Memory {
        /// The folder.
        path: PathBuf,
        /// All rows.
        rows: u64,
        /// The memory that they need, and that there is.
        short: memory::Short,
    },
    /// More names of a kind than a recording may have.
    #[error("{}: more than 65536 {what}; a recording has fewer", path.display())]
    TooMany {
        /// The Parquet file.
        path: PathBuf,
        /// Object that has too many.
        what: &'static str,
    },
    /// The Parquet library could not make sense of the file.
    #[error("{}: not a whole Parquet file ({message}); copy the recording again, or repeat the run", path.display())]
    Parquet {
        /// The Parquet file.
        path: PathBuf,
        /// The message of the library.
        message: String,
    },
    /// A column is not there.
    #[error("{}: no column `{column}`; the columns are {expected}", path.display())]
    MissingColumn {
        /// The Parquet file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// All columns, with types.
        expected: String,
    },
    /// A column has another type.
    #[error("{}: column `{column}` is {found}; it must be {expected}", path.display())]
    ColumnType {
        /// The Parquet file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// The type there.
        found: String,
        /// The type that is right.
        expected: String,
    },
    /// A column that needs a value in every row has a null.
    #[error("{}: column `{column}` is null in row {row}; only cpu, cluster, core, subject and role may be null", path.display())]
    Null {
        /// The Parquet file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// The row, counted from 0.
        row: usize,
    },
    /// A measure has no value that is a number.
    #[error("{}: column `value` is {value} in row {row}; a measure is a finite number, and one that was not taken has no row", path.display())]
    NotFinite {
        /// The Parquet file.
        path: PathBuf,
        /// The value there.
        value: f64,
        /// The row, counted from 0.
        row: usize,
    },
    /// `recording.toml` does not parse, or lacks a key.
    #[error(transparent)]
    Header(#[from] document::Error),
    /// Another version of the format.
    #[error("{}: format version {found}; this program reads version {supported}", path.display())]
    Version {
        /// The TOML file.
        path: PathBuf,
        /// Version found.
        found: i64,
        /// Version that can be read.
        supported: u32,
    },
    /// The target of a write exists and is something else than a recording.
    #[error("{}: exists and is not a recording ({why}); name another folder, or remove it yourself", path.display())]
    NotARecording {
        /// The folder.
        path: PathBuf,
        /// The sign that gave it away.
        why: String,
    },
}

impl Error {
    /// True if there was too little memory.
    pub fn is_of_memory(&self) -> bool {
        matches!(self, Self::TooLong { .. } | Self::Memory { .. })
    }

    /// Something is wrong with the whole of a `recording.toml`.
    pub(crate) fn header(path: &Path, message: impl AsRef<str>) -> Self {
        let header = Document::new(path.display().to_string(), "");
        Self::Header(header.wrong_as_a_whole(message, "copy the recording again, or repeat the run"))
    }

    pub(crate) fn io(path: impl Into<PathBuf>, doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |cause| {
            if cause.kind() == std::io::ErrorKind::NotFound && doing == "read" {
                Self::Missing { path }
            } else {
                Self::Io { path, doing, cause }
            }
        }
    }
}
