//! Words, in which code, names and causes are told apart.

use attribution::Cause;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Words.
    Words(String),
    /// A word that is typed or printed as it stands: a command, a function, a setting.
    Code(String),
    /// A name that a recording gives: a policy, a task, an idle state.
    Name(String),
    /// A cause of the table of causes, in its colour.
    Cause(Cause),
    /// Words that lead to another place of the page.
    Link {
        /// The words.
        words: String,
        /// The anchor of a heading.
        to: String,
    },
}

impl Span {
    /// The span without its kind.
    pub(crate) fn plain(&self) -> &str {
        match self {
            Self::Words(text)
            | Self::Code(text)
            | Self::Name(text)
            | Self::Link { words: text, .. } => text,
            Self::Cause(cause) => cause.title(),
        }
    }
}

impl From<&str> for Span {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl From<String> for Span {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

/// A word that is typed or printed as it stands.
pub fn code(text: impl Into<String>) -> Span {
    Span::Code(text.into())
}

/// A name that a recording gives.
pub fn name(text: impl Into<String>) -> Span {
    Span::Name(text.into())
}

/// Words of a story.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub(crate) Vec<Span>);

impl Text {
    /// The spans, in order.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.0
    }

    /// True if there is nothing to read.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|span| span.plain().is_empty())
    }

    /// The words without what tells spans apart.
    pub(crate) fn plain(&self) -> String {
        self.0.iter().map(Span::plain).collect()
    }

    /// Adds a span at the end.
    pub(crate) fn push(&mut self, span: impl Into<Span>) {
        self.0.push(span.into());
    }

    /// Adds another text at the end.
    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl<S: Into<Span>> From<S> for Text {
    fn from(span: S) -> Self {
        Self(vec![span.into()])
    }
}

/// Several items as one text: "a", "a and b", "a, b and c".
pub fn listed<S: Into<Span>>(items: impl IntoIterator<Item = S>) -> Text {
    let items: Vec<Span> = items.into_iter().map(Into::into).collect();
    let count = items.len();
    let mut text = Text::default();
    for (at, item) in items.into_iter().enumerate() {
        match at {
            0 => {}
            at if at + 1 == count => text.push(" and "),
            _ => text.push(", "),
        }
        text.push(item);
    }
    text
}

/// A text of words, code, names and causes, one after the other.
macro_rules! text {
    ($($span:expr),+ $(,)?) => {
        $crate::blocks::Text(vec![$($crate::blocks::Span::from($span)),+])
    };
}
pub(crate) use text;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_its_spans_and_reads_as_one() {
        let text = text!["p95 of ", name("render"), ": see ", code("--help"), "."];
        assert_eq!(text.plain(), "p95 of render: see --help.");
        assert_eq!(text.spans()[1], Span::Name("render".to_owned()));
        assert!(Text::default().is_empty() && !text.is_empty());
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(listed(["a", "b", "c"]).plain(), "a, b and c");
        assert_eq!(listed(["a", "b"]).plain(), "a and b");
        assert_eq!(listed(["a"]).plain(), "a");
        assert_eq!(
            listed([name("a"), name("b")]).spans()[2],
            Span::Name("b".to_owned())
        );
    }
}
