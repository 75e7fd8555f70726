//! Why an experiment has no recording.

use console::Cancelled;
use miette::Diagnostic;

/// Why an experiment has no recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It was asked for something that there is not.
    #[error("{message}")]
    Usage {
        /// The error.
        message: String,
        /// The advice: what would be right.
        help: Option<String>,
    },
    /// A file is wrong; shows the place.
    #[error(transparent)]
    File(Box<dyn Diagnostic + Send + Sync>),
    /// It was to stop, and did.
    #[error("stopped; nothing was kept")]
    Cancelled,
    /// The recording cannot be written.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// The run failed.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// It was asked for something that there is not.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: Some(help.into()) }
    }

    /// The run failed; the cause's own words say why.
    pub fn failed(cause: impl ToString) -> Self {
        Self::Failed(cause.to_string())
    }

    /// A file is wrong.
    pub fn file(wrong: impl Diagnostic + Send + Sync + 'static) -> Self {
        Self::File(Box::new(wrong))
    }
}

impl From<Cancelled> for Error {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<document::Error> for Error {
    fn from(wrong: document::Error) -> Self {
        Self::file(wrong)
    }
}

impl Diagnostic for Error {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        match self {
            Self::Usage { help: Some(help), .. } => Some(Box::new(help)),
            Self::File(wrong) => wrong.help(),
            _ => None,
        }
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        match self {
            Self::File(wrong) => wrong.source_code(),
            _ => None,
        }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        match self {
            Self::File(wrong) => wrong.labels(),
            _ => None,
        }
    }
}
