//! Words in the terminal's colours.

use crate::blocks::{Span, Text};
use crate::style::Style;

pub const BOLD: &str = "1";
pub const DIM: &str = "2";
pub const CODE: &str = "36";
pub const WARNING: &str = "33";

/// A text with its code and causes in their colours.
pub fn painted(text: &Text, style: Style) -> String {
    let span = |span: &Span| match span {
        Span::Code(code) => style.paint(CODE, code),
        Span::Cause(cause) => style.paint(crate::drawn::drawn(*cause).terminal, cause.title()),
        Span::Words(words) | Span::Link { words, .. } => words.clone(),
    };
    text.spans().iter().map(span).collect()
}
