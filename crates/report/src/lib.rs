//! What people and machines read.
//!
//! Everything here starts from a recording. Published figures stand beside what was recorded; they decide nothing.
#![forbid(unsafe_code)]

mod accuracy;
mod calls;
mod compared;
mod json;
mod measures;
mod style;
mod terminal;

pub use accuracy::{Accuracy, accuracy};
pub use calls::{CountedCall, counted_calls, psci_calls_json, psci_calls_text};
pub use compared::{Compared, Spread, compare, spread};
pub use json::psci_latency_json;
pub use measures::{measures_json, measures_text};
pub use style::Style;
pub use terminal::psci_latency_text;
