//! Why a sweep cannot be begun or read.

use miette::Diagnostic;
use std::io;
use std::path::{Path, PathBuf};

/// The result of a step of a sweep; the error is [`Error`] unless another type is named.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a sweep cannot be begun or read.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum Error {
    /// The plan is wrong.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Plan(#[from] document::Error),
    /// The operating system refuses.
    #[error("{}: cannot {doing}: {cause}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The attempt, as in "cannot ...".
        doing: &'static str,
        /// The system's answer; part of the message already, so not a source that would be printed
        /// again.
        cause: io::Error,
    },
    /// The folder holds something else.
    #[error("{}: {message}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// The error.
        message: String,
        /// The advice: what would be right.
        #[help]
        help: String,
    },
    /// A file of rows is wrong.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// The experiment refuses the plan's first, middle and last point.
    #[error("no point of the plan can run; of the first it is said")]
    #[diagnostic(forward(source))]
    NoPoint {
        /// The error of the first.
        source: experiment::Error,
    },
    /// It was to stop, and did.
    #[error("stopped; the chunks that are whole were kept")]
    Cancelled,
}

impl Error {
    pub(crate) fn io(
        path: impl AsRef<Path>,
        doing: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |cause| Self::Io { path, doing, cause }
    }

    /// A file of a data set cannot be read. One that is damaged can be made again.
    pub(crate) fn of_rows(dataset: &Path, error: recording::Error) -> Self {
        let recording::Error::Damaged { path, what } = error else {
            return Self::Recording(error);
        };
        let help = format!(
            "run its chunk again: stopwatt sweep --resume {}",
            dataset.display()
        );
        Self::Folder {
            path,
            message: what,
            help,
        }
    }

    pub(crate) fn folder(path: &Path, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Folder {
            path: path.to_owned(),
            message: message.into(),
            help: help.into(),
        }
    }
}
