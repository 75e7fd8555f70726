//! The lines of a document that an error shows.

use crate::printable::unprintable;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::ops::Range;

/// Longer lines are cut around the place.
const LONGEST: usize = 400;

/// A place in a document with the line before it and the line after it. Nothing else of the
/// document is kept, and no control character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    name: String,
    text: String,
    /// Lines of the document before it.
    lines_before: usize,
    /// Bytes of its first line that were cut.
    cut: usize,
    place: Range<usize>,
}

impl Excerpt {
    /// The lines around a place in a text, the first line of which is line `first` of the document
    /// of this name, counted from 1.
    pub(crate) fn new(name: &str, first: usize, text: &str, place: Range<usize>) -> Self {
        let start = text.floor_char_boundary(place.start);
        let end = text.floor_char_boundary(place.end).max(start);
        let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = |at: usize| {
            text[at..]
                .find('\n')
                .map_or(text.len(), |newline| at + newline)
        };
        let (mut from, mut to) = (line_start(start), line_end(end));
        let mut cut = 0;
        if text[from..to].lines().any(|line| line.len() > LONGEST) {
            cut = text.floor_char_boundary(from.max(start.saturating_sub(LONGEST / 4))) - from;
            from += cut;
            to = text.floor_char_boundary(to.min(from + LONGEST));
        } else {
            // One line more on either side, unless it is overlong.
            let before = line_start(from.saturating_sub(1));
            let after = line_end((to + 1).min(text.len()));
            from = if from - before > LONGEST {
                from
            } else {
                before
            };
            to = if after - to > LONGEST { to } else { after };
        }
        let place = start.min(to) - from..end.min(to) - from;
        let lines_before = first.saturating_sub(1) + text[..from].matches('\n').count();
        Self {
            name: name.to_owned(),
            text: without_controls(&text[from..to]),
            lines_before,
            cut,
            place,
        }
    }

    /// The place in it.
    pub(crate) fn place(&self) -> SourceSpan {
        SourceSpan::from(self.place.clone())
    }
}

/// The text with everything that steers a terminal, but ends of lines and tabs, replaced by a
/// character of the same number of bytes, so that places stay where they are.
fn without_controls(text: &str) -> String {
    let shown = |letter: char| match (letter, letter.len_utf8()) {
        ('\n' | '\t', _) => letter,
        ('\r', _) => ' ',
        _ if !unprintable(letter) => letter,
        (_, 1) => '?',
        (_, 2) => '\u{bf}',
        _ => '\u{fffd}',
    };
    text.chars().map(shown).collect()
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inside = self.text.read_span(span, before, after)?;
        let (line, column) = (
            self.lines_before + inside.line(),
            self.cut + inside.column(),
        );
        let (name, count) = (self.name.clone(), inside.line_count());
        Ok(Box::new(MietteSpanContents::new_named(
            name,
            inside.data(),
            *inside.span(),
            line,
            column,
            count,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_with_the_lines_around_it() {
        let text = "one\ntwo\nthree\nfour\nfive\n";
        let excerpt = Excerpt::new("f", 1, text, 8..13);
        assert_eq!(
            (
                excerpt.text.as_str(),
                excerpt.lines_before,
                excerpt.place.clone()
            ),
            ("two\nthree\nfour", 1, 4..9)
        );
        let contents = excerpt.read_span(&excerpt.place(), 0, 0).unwrap();
        assert_eq!(
            (contents.name(), contents.line(), contents.column()),
            (Some("f"), 2, 0)
        );
        let excerpt = Excerpt::new("f", 7, "x", 0..1);
        assert_eq!(
            (excerpt.text.as_str(), excerpt.lines_before),
            ("x", 6),
            "a text that is a line of a longer one"
        );
        let excerpt = Excerpt::new("f", 1, text, 900..901);
        assert_eq!(
            excerpt.place,
            excerpt.text.len()..excerpt.text.len(),
            "a place behind the end"
        );
    }

    #[test]
    fn overlong_lines_are_cut_around_the_place() {
        let text = format!("before\n{}X{}\nafter", "é".repeat(5_000), "y".repeat(5_000));
        let at = text.find('X').unwrap();
        let excerpt = Excerpt::new("f", 1, &text, at..at + 1);
        assert!(excerpt.text.len() <= LONGEST + 4, "{}", excerpt.text.len());
        assert_eq!(&excerpt.text[excerpt.place.clone()], "X");
        let contents = excerpt.read_span(&excerpt.place(), 0, 0).unwrap();
        assert_eq!((contents.line(), contents.column()), (1, 10_000));
    }

    #[test]
    fn no_control_character_is_shown() {
        let excerpt = Excerpt::new("f", 1, "a\u{1b}[31m\u{9b}b\r\n", 0..1);
        assert_eq!(excerpt.text, "a?[31m\u{bf}b \n");
    }
}
