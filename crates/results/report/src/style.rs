//! Colour and width of the terminal.

pub use console::Style;

/// For reports that lay out words and tables by themselves: no line is broken, and tables are handed
/// on as cells.
pub(crate) const PAGE: Style = Style { colour: false, width: usize::MAX };
