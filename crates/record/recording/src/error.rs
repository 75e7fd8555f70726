//! The errors of a recording on disk.

use document::Document;
use std::path::{Path, PathBuf};

/// What a recording is, for errors.
pub const A_RECORDING: &str =
    "a recording is a folder with recording.toml, events.parquet and measures.parquet";

/// The result of work with a recording; the error is [`Error`] unless another type is named.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

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
    /// Something is not as it should be: a file is missing, has other columns, or is no recording.
    #[error("{}: {what}", path.display())]
    Wrong {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// A file is not the one that was written.
    #[error("{}: {what}; it was cut short, altered or replaced: copy the recording again, or repeat the run", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The rows would take more memory than a recording may, or than this machine has.
    #[error("{}: {what}", path.display())]
    Memory {
        /// The folder.
        path: PathBuf,
        /// The number of rows and the memory, and what to do.
        what: String,
    },
    /// The header.
    #[error(transparent)]
    Header(#[from] document::Error),
}

impl Error {
    /// True if there was too little memory.
    pub fn is_of_memory(&self) -> bool {
        matches!(self, Self::Memory { .. })
    }

    pub(crate) fn wrong(path: &Path, what: impl Into<String>) -> Self {
        Self::Wrong {
            path: path.to_owned(),
            what: what.into(),
        }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            what: what.into(),
        }
    }

    pub(crate) fn not_a_recording(folder: &Path, why: &dyn std::fmt::Display) -> Self {
        Self::wrong(
            folder,
            format!(
                "exists and is not a recording ({why}); name another folder, or remove it yourself"
            ),
        )
    }

    /// Something is wrong with the whole of a `recording.toml`.
    pub(crate) fn header(path: &Path, message: impl AsRef<str>) -> Self {
        let header = Document::new(path.display().to_string(), "");
        Self::Header(
            header.wrong_as_a_whole(message, "copy the recording again, or repeat the run"),
        )
    }

    pub(crate) fn io(
        path: impl Into<PathBuf>,
        doing: &'static str,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |cause| {
            if cause.kind() == std::io::ErrorKind::NotFound && doing == "read" {
                Self::Wrong {
                    path,
                    what: format!("missing; {A_RECORDING}"),
                }
            } else {
                Self::Io { path, doing, cause }
            }
        }
    }
}
