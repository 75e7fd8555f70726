//! What a command that was done has found.

/// What a command that was done has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing that speaks against it.
    Yes,
    /// A regression, a check that fails; it has been printed.
    No,
}

impl Answer {
    /// The exit status that says so.
    pub fn status(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
        }
    }

    /// No, for a reason that is printed as errors are.
    pub fn no(reason: &miette::Report) -> Self {
        crate::errors::print(reason);
        Self::No
    }
}
