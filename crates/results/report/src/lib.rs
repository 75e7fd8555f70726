//! What people and machines read.
//!
//! Everything here starts from a recording. Published figures stand beside what was recorded; they decide nothing.
#![forbid(unsafe_code)]

mod calls;
mod comparison_ci;
mod comparison_json;
mod comparison_text;
mod export;
mod grid;
mod html;
mod idle;
mod model;
mod picture_text;
mod published_changes;
mod stories;
mod style;
mod terminal;
mod what_if;
mod words;

pub use calls::{CountedCall, counted_calls, psci_calls_json, psci_calls_text};
pub use comparison_ci::{bencher, github_action_benchmark};
pub use comparison_json::comparison_json;
pub use comparison_text::comparison_text;
pub use export::json::{json, psci_latency_json};
pub use export::{Format, render};
pub use grid::table_text;
pub use html::{MOST_BYTES, comparison_html, what_if_html};
pub use idle::idle_states_text;
pub use model::accuracy::{Accuracy, Errors, Intervals, accuracy};
pub use model::compared::{Compared, Spread, compare, spread};
pub use model::findings::{Findings, MeasureRow};
pub use model::pictures::{Bar, Curve, Drawing, Figure, HeatMap, MeasurePicture, pictures};
pub use published_changes::{PrintedChange, PublishedChanges, published_changes};
pub use stories::{findings, run_json, run_text};
pub use style::Style;
pub use what_if::{MOST_VALUES, WhatIf, WhatIfPoint, what_if_csv, what_if_json, what_if_point, what_if_text};
pub use words::folded;
