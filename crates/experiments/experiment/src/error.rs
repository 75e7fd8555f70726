//! Why an experiment has no recording.

use console::{Cancellation, LESS_MEMORY};
use memory::Short;
use miette::Diagnostic;

/// The result of a step of an experiment; the error is [`Error`] unless another type is named.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why an experiment has no recording.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum Error {
    /// It was asked for something that there is not.
    #[error("{message}")]
    Usage {
        /// The error.
        message: String,
        /// The advice: what would be right.
        #[help]
        help: Option<String>,
    },
    /// A file is wrong; shows the place.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(Box<dyn Diagnostic + Send + Sync>),
    /// It was to stop, and did.
    #[error("stopped; nothing was kept")]
    Cancelled,
    /// There is too little memory for it. The message says for what; the help, what would be right.
    #[error("{message}")]
    Memory {
        /// The error.
        message: String,
        /// The advice: what would be right.
        #[help]
        help: String,
    },
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
        Self::Usage {
            message: message.into(),
            help: Some(help.into()),
        }
    }

    /// There is too little memory for something: `24 releases`, say.
    pub fn memory(what: &str, short: &Short) -> Self {
        Self::Memory {
            message: format!("{what}: {short}"),
            help: LESS_MEMORY.to_owned(),
        }
    }

    /// True if there was too little memory.
    pub fn is_of_memory(&self) -> bool {
        match self {
            Self::Memory { .. } => true,
            Self::Recording(error) => error.is_of_memory(),
            _ => false,
        }
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

impl From<Cancellation> for Error {
    fn from(cancelled: Cancellation) -> Self {
        match cancelled {
            Cancellation::Asked => Self::Cancelled,
            Cancellation::Short(_) => Self::Memory {
                message: cancelled.to_string(),
                help: LESS_MEMORY.to_owned(),
            },
        }
    }
}

impl From<document::Error> for Error {
    fn from(wrong: document::Error) -> Self {
        Self::file(wrong)
    }
}
