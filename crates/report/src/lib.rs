//! What people and machines read.
//!
//! Everything here starts from a recording. Published figures stand beside what was recorded; they decide nothing.
#![forbid(unsafe_code)]

mod accuracy;
mod compared;
mod document;
mod export;
mod html;
mod style;
mod terminal;
mod words;

pub use accuracy::{Accuracy, accuracy};
pub use compared::{Compared, Spread, compare, spread};
pub use document::{Document, MeasureRow};
pub use export::json::psci_latency_json;
pub use export::{Format, render};
pub use html::MOST_BYTES;
pub use style::Style;
pub use terminal::psci_latency_text;
