//! Colour and width.

use std::io::IsTerminal;

/// The layout of text.
#[derive(Clone, Copy)]
pub struct Style {
    /// True if colours may be used.
    pub colour: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Style {
    /// Plain text, 100 columns wide.
    pub const PLAIN: Self = Self {
        colour: false,
        width: 100,
    };

    /// Colour on a terminal unless NO_COLOR is set or TERM is `dumb`, and the width that COLUMNS
    /// says, or the terminal's, or 100 where there is none.
    pub(crate) fn from_terminal() -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let of_terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = columns().or_else(of_terminal).unwrap_or(Self::PLAIN.width);
        Self {
            colour: std::io::stdout().is_terminal() && !no_color,
            width,
        }
    }

    /// The text in the colour of an escape code, such as `31`, where colours may be used.
    pub fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !code.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// The text in bold, where that may be.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }
}

/// The width that COLUMNS says, which goes before the terminal's.
pub fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    columns.filter(|&columns| columns > 0)
}
