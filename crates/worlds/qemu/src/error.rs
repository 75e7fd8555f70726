//! The errors between us and the emulator.

use std::path::PathBuf;
use std::time::Duration;

/// The result of work with a guest; the error is [`Error`] unless another type is named.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a guest did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program that is needed is not there.
    #[error("`{program}` is not installed; on Debian: apt-get install {package}")]
    Missing {
        /// The program.
        program: &'static str,
        /// The package that has it.
        package: &'static str,
    },
    /// The images could not be built.
    #[error(
        "the firmware did not build (the Rust target it needs: rustup target add {target}); cargo said:\n{output}",
        target = crate::target::TARGET
    )]
    Build {
        /// The end of what cargo printed.
        output: String,
    },
    /// There is no checkout, and the program carries no images.
    #[error(
        "the firmware is built from Stopwatt's source tree, which is not here: run in a checkout of Stopwatt, name one with --data, or \
         take a released program, which has the images built in"
    )]
    NoSourceTree,
    /// There is no firmware to build.
    #[error("{} is not there: run in a checkout of Stopwatt, or name one with --data", .0.display())]
    NoFirmware(PathBuf),
    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An image that is no ELF file.
    #[error("{}: {cause}", .path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// The emulator could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The guest printed nothing for too long, or ran for too long, and was ended.
    #[error("the guest was ended: {why} {} s; its last output:\n{}", .limit.as_secs(), indented(.last))]
    Hung {
        /// Silent or running.
        why: &'static str,
        /// For how long it might.
        limit: Duration,
        /// Last lines of the console.
        last: Vec<String>,
    },
    /// The guest ended before it was done, or said that something failed.
    #[error("the guest failed: {cause}; its last output:\n{}", indented(.last))]
    Failed {
        /// The point.
        cause: String,
        /// Last lines of the console.
        last: Vec<String>,
    },
    /// The plugin that counts did not work.
    #[error(
        "the emulator's plugin that counts did not work: {cause}; it needs a QEMU of 4.2 or later that was built with plugins, such as Debian's"
    )]
    Plugin {
        /// The point.
        cause: String,
    },
    /// A package could not be fetched.
    #[error("cannot fetch {what}; apt-get said:\n{output}")]
    Fetch {
        /// The package.
        what: String,
        /// The end of what it printed.
        output: String,
    },
}

impl Error {
    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::File {
            path: path.to_owned(),
            source,
        }
    }

    /// A program that could not be started.
    pub(crate) fn missing(
        program: &'static str,
        package: &'static str,
    ) -> impl FnOnce(std::io::Error) -> Self {
        move |_| Self::Missing { program, package }
    }

    pub(crate) fn fetch(what: impl Into<String>, output: impl Into<String>) -> Self {
        let (what, output) = (what.into(), output.into());
        Self::Fetch { what, output }
    }
}

fn indented(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| format!("  | {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}
