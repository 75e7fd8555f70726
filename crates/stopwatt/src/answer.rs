//! The result of a command that was done.

use console::Console;

/// The answer of a command that was done.
#[derive(Debug, PartialEq)]
pub enum Answer {
    /// Nothing speaks against it.
    Yes,
    /// A regression, a check that fails; it has been printed.
    No,
    /// It cannot be told; that has been printed.
    Unknown,
}

impl From<bool> for Answer {
    fn from(is_yes: bool) -> Self {
        if is_yes { Self::Yes } else { Self::No }
    }
}

impl Answer {
    /// The exit status that says so.
    pub fn status(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Unknown => 3,
        }
    }

    /// No, for a reason that is printed as errors are.
    pub fn no(console: &Console, reason: &miette::Report) -> Self {
        console.error(reason);
        Self::No
    }
}
