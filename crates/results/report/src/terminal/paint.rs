//! Words in the terminal's colours.

use crate::blocks::{Span, Text};
use crate::style::Style;

pub const BOLD: &str = "1";
pub const DIM: &str = "2";
pub const CODE: &str = "36";
pub const WARNING: &str = "33";

/// A text with its code and causes in their colours. Without colours a command that words follow
/// keeps its backticks, which say where it ends.
pub fn painted(text: &Text, style: Style) -> String {
    let goes_on = |at: usize| {
        text.spans()
            .get(at + 1)
            .is_some_and(|of| !of.plain().is_empty())
    };
    let span = |(at, span): (usize, &Span)| match span {
        Span::Code(code) if !style.colour && code.contains(' ') && goes_on(at) => {
            format!("`{code}`")
        }
        Span::Code(code) => style.paint(CODE, code),
        Span::Cause(cause) => style.paint(crate::drawn::drawn(*cause).terminal, cause.title()),
        Span::Words(words) | Span::Link { words, .. } => words.clone(),
    };
    text.spans().iter().enumerate().map(span).collect()
}
