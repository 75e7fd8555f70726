//! What a command that was done has found.

use std::process::ExitCode;

/// What a command that was done has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing that speaks against it.
    Yes,
    /// A regression, a check that fails; it has been printed.
    No,
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => Self::SUCCESS,
            Answer::No => Self::FAILURE,
        }
    }
}

impl Answer {
    /// No, for a reason that is printed as errors are.
    pub fn no(reason: &miette::Report) -> Self {
        crate::errors::print(reason);
        Self::No
    }
}
