//! An error in a document: its place, its cause, and what would be right.

use crate::excerpt::Excerpt;
use crate::printable::{printable, printable_lines};
use miette::{Diagnostic, LabeledSpan, SourceCode};
use std::fmt;

/// The result of reading a document; the error is [`Error`] unless another type is named.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Something wrong in a document: what, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Report>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Report {
    /// The document with the line, such as `a.toml:7: `; empty where there is none.
    place: String,
    message: String,
    line: Option<usize>,
    excerpt: Option<Excerpt>,
    help: Option<String>,
}

impl Error {
    /// Something is wrong that is in no document, such as a setting of the command line.
    pub fn new(message: impl AsRef<str>, help: impl Into<String>) -> Self {
        Self::built("", message.as_ref(), None, None, Some(help.into()))
    }

    /// A file or a folder cannot be read.
    pub fn unreadable(name: &str, cause: impl fmt::Display) -> Self {
        Self::built(
            "",
            &format!("cannot read {name}: {cause}"),
            None,
            None,
            None,
        )
    }

    pub(crate) fn built(
        place: &str,
        message: &str,
        line: Option<usize>,
        excerpt: Option<Excerpt>,
        help: Option<String>,
    ) -> Self {
        let help = help.map(|help| printable_lines(&help));
        Self(Box::new(Report {
            place: printable(place),
            message: printable(message),
            line,
            excerpt,
            help,
        }))
    }

    /// The same error without its place, for a document that its reader does not have: what is
    /// wrong in it came from elsewhere.
    #[must_use]
    pub fn without_place(mut self) -> Self {
        (self.0.place, self.0.line, self.0.excerpt) = (String::new(), None, None);
        self
    }

    /// The line that is wrong, counted from 1; `None` where the whole document is.
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// A sentence about what would be right.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Adds to what would be right: how such a document is written.
    pub fn with_help(mut self, more: &str) -> Self {
        self.0.help = Some(match self.0.help.take() {
            Some(help) => format!("{help}; {more}"),
            None => more.to_owned(),
        });
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0.place, self.0.message)
    }
}

impl std::error::Error for Error {}

impl Diagnostic for Error {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<_>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0
            .excerpt
            .as_ref()
            .map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.0.excerpt.as_ref()?;
        let label = LabeledSpan::new_with_span(Some("here".to_owned()), excerpt.place());
        Some(Box::new(std::iter::once(label)))
    }
}
