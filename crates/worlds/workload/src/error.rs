//! What is wrong with a file, where, and what would be right.

use std::fmt;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Something is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub help: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, what, help } = self;
        write!(f, "{file}:{line}:{column}: {what}; {help}")
    }
}

impl std::error::Error for Error {}

/// Something of the file in a message: in quotes, in one line, and not too long.
pub(crate) fn quoted(text: &str) -> String {
    let printed = |at: char| if at.is_control() { '?' } else { at };
    let start: String = text.chars().take(60).map(printed).collect();
    let rest = if text.chars().nth(60).is_some() { "..." } else { "" };
    format!("`{start}{rest}`")
}
