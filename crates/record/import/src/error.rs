//! The errors of an imported text.

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use serde::Serialize;

/// A line that cannot be imported: where it is, why, and what would be right.
#[derive(Clone, Debug, thiserror::Error, Serialize)]
#[error("{file}{place}: {message}", place = if *.line == 0 { String::new() } else { format!(":{line}") })]
pub struct ImportError {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 where the whole file is meant.
    pub line: u64,
    /// The error.
    pub message: String,
    /// The advice: what would be right.
    pub help: String,
    /// The line itself, fit to be printed.
    #[serde(skip)]
    text: String,
}

/// Longer lines are cut in errors.
const SHOWN: usize = 160;

impl ImportError {
    pub(crate) fn new(
        file: &str,
        line: u64,
        text: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            file: file.to_owned(),
            line,
            message: printable(&message.into()),
            help: help.into(),
            text: printable(text),
        }
    }

    /// The same place with another message.
    pub(crate) fn with_message(&self, message: &str) -> Self {
        Self {
            message: printable(message),
            ..self.clone()
        }
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        Self::whole(
            file,
            format!("cannot be read: {error}"),
            "name a file that can be read",
        )
    }

    /// An error about the file as a whole.
    pub(crate) fn whole(file: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(file, 0, "", message, help)
    }
}

/// More warnings than a person reads are counted and not kept.
const WARNINGS_KEPT: usize = 100;

/// Fails with an error, or notes and counts it where the options are lenient.
pub fn pass_over(
    error: ImportError,
    lenient: bool,
    warnings: &mut Vec<ImportError>,
    left_out: &mut u64,
) -> Result<(), ImportError> {
    if !lenient {
        return Err(error);
    }
    *left_out += 1;
    if warnings.len() < WARNINGS_KEPT {
        warnings.push(error);
    }
    Ok(())
}

/// The text without anything that would move a terminal's cursor or change its colours.
pub fn printable(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(SHOWN)
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Bytes as such a text, whatever they are.
pub fn printable_bytes(bytes: &[u8]) -> String {
    printable(&String::from_utf8_lossy(bytes))
}

impl Diagnostic for ImportError {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(&self.help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.text.is_empty()).then_some(self as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new(Some("here".to_owned()), 0, self.text.len());
        (!self.text.is_empty()).then(|| Box::new(std::iter::once(label)) as Box<_>)
    }
}

impl SourceCode for ImportError {
    fn read_span<'a>(
        &'a self,
        _span: &SourceSpan,
        _before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let span = SourceSpan::from((0, self.text.len()));
        let line = usize::try_from(self.line.saturating_sub(1)).unwrap_or(0);
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.clone(),
            self.text.as_bytes(),
            span,
            line,
            0,
            1,
        )))
    }
}
