//! The errors between us and the emulator.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// The result of work with a guest; the error is [`Error`] unless another type is named.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a guest did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plugin that counts did not work.
    #[error(
        "the emulator's plugin that counts did not work: {0}; it needs a QEMU of 4.2 or later that was built with plugins, such as Debian's"
    )]
    Plugin(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// Something is wrong with a file.
    pub(crate) fn file<E: Display>(path: &Path) -> impl Fn(E) -> Self + Copy {
        move |cause| Self::Other(format!("{}: {cause}", path.display()))
    }

    /// A program that could not be started.
    pub(crate) fn start(program: &str, package: &str) -> impl FnOnce(io::Error) -> Self {
        move |error| {
            Self::Other(match error.kind() {
                io::ErrorKind::NotFound => {
                    format!("`{program}` is not installed; on Debian: apt-get install {package}")
                }
                _ => format!("cannot start {program}: {error}"),
            })
        }
    }

    /// A package that could not be fetched, with the end of what was printed.
    pub(crate) fn fetch(what: impl Display, output: impl Display) -> Self {
        Self::Other(format!("cannot fetch {what}; apt-get said:\n{output}"))
    }
}
