//! Colour and width of the terminal.

pub use console::Style;
