//! Words as mark-up, and what may be wider than the page.

use crate::blocks::{Span, Text};
use maud::{Markup, html};

/// A text of the recording that is no longer than a line or three: a page may have many of it.
pub fn cut(text: &str) -> String {
    const MOST: usize = 400;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text with its code, names and links told apart.
pub fn inline(text: &Text) -> Markup {
    html! {
        @for span in text.spans() {
            @match span {
                Span::Words(words) => (words),
                Span::Code(text) => code { (cut(text)) },
                Span::Cause(cause) => (cause.title()),
                Span::Link { words, to } => a href={ "#" (to) } { (words) },
            }
        }
    }
}

/// What may be wider than the page: it scrolls sideways, by the keyboard too.
pub fn scrolling(label: &str, inside: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="group" aria-label=(if label.is_empty() { "Table" } else { label }) { (inside) } }
}
