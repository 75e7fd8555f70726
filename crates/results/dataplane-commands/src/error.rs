//! What can go wrong between a command line and its result.

use std::path::PathBuf;

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer; part of the message already, so not a source that would be printed again.
        cause: std::io::Error,
    },
    /// A file says something that makes no sense.
    #[error("{}: {message}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// Nothing went wrong, but what was to be checked is not so.
    #[error("{0}")]
    CheckFailed(String),
    /// The command line asks for something that there is not.
    #[error("{0}")]
    Usage(String),
    /// The recording could not be written.
    #[error(transparent)]
    Recording(#[from] recording::Error),
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io { path, cause }
    }

    pub(crate) fn data(path: impl Into<PathBuf>, message: impl ToString) -> Self {
        Self::Data { path: path.into(), message: message.to_string() }
    }
}
