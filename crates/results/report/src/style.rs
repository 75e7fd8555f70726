//! Colour and width of the terminal.

/// How text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colours may be used.
    pub colour: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Style {
    /// Plain text, 100 columns wide.
    pub const PLAIN: Self = Self { colour: false, width: 100 };

    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !code.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }
}
