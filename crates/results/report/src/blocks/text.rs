//! Words, in which code, names and causes are told apart.

use attribution::Cause;

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Words.
    Words(String),
    /// A word that is typed or printed as it stands: a command, a function, a setting.
    Code(String),
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
    pub fn plain(&self) -> &str {
        match self {
            Self::Words(text) | Self::Code(text) | Self::Link { words: text, .. } => text,
            Self::Cause(cause) => cause.title(),
        }
    }
}

/// A word that is typed or printed as it stands.
pub fn code(text: impl Into<String>) -> Span {
    Span::Code(text.into())
}

/// Words of a story.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(pub Vec<Span>);

impl Text {
    /// The spans, in order.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// True if there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|span| span.plain().is_empty())
    }

    /// The words without what tells spans apart.
    pub fn plain(&self) -> String {
        self.0.iter().map(Span::plain).collect()
    }

    /// Adds another text at the end.
    pub fn push(&mut self, other: impl Into<Self>) {
        self.0.extend(other.into().0);
    }
}

impl From<Span> for Text {
    fn from(span: Span) -> Self {
        Self(vec![span])
    }
}

impl From<&str> for Text {
    /// What stands between two backticks is code.
    fn from(words: &str) -> Self {
        let is_marked = words.matches('`').count().is_multiple_of(2);
        if is_marked {
            Self(
                words
                    .split('`')
                    .enumerate()
                    .map(|(at, part)| match at % 2 {
                        1 => code(part),
                        _ => Span::Words(part.to_owned()),
                    })
                    .collect(),
            )
        } else {
            Span::Words(words.to_owned()).into()
        }
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        words.as_str().into()
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        words.as_str().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code() {
        let text = Text::from("p95 of render: see `--help`.");
        assert_eq!(text.plain(), "p95 of render: see --help.");
        assert_eq!(text.spans()[1], code("--help"));
        assert!(Text::default().is_empty() && !text.is_empty());
        assert_eq!(
            Text::from("it`s").plain(),
            "it`s",
            "one alone marks nothing"
        );
    }
}
