//! The reports that people and programs read.
//!
//! A story is data until it is drawn: what an experiment found is a type of [`findings`], which is
//! told in blocks here; each format lays out blocks and reads nothing else.
//!
//! | folder | what it holds |
//! |---|---|
//! | `model` | tables, headlines and pictures of a recording: cases, critical paths, lanes |
//! | `stories` | for each finding a function that tells it |
//! | `changes`, `what_if.rs` | the same for comparisons and what-ifs, which are a `told.rs` |
//! | `blocks` | headings, paragraphs, tables, pictures: what stories are made of |
//! | `terminal`, `markup`, `html` | blocks laid out |
//! | `export` | JSON, and traces for Perfetto |
#![forbid(unsafe_code)]

mod blocks;
mod changes;
mod drawn;
mod export;
mod html;
mod markup;
mod model;
mod report;
mod stories;
mod style;
mod sweeps;
mod terminal;
mod told;
mod what_if;
mod words;

pub use blocks::figure;
pub use changes::{
    PrintedChange, PublishedChanges, comparison, comparison_json, junit, published_changes,
};
pub use export::Format;
pub use findings::Findings;
pub use findings::what_if::{WhatIf, WhatIfPoint, measured, what_if_point};
pub use html::MOST_BYTES;
pub use report::{Report, table_text};
pub use stories::folded_stacks;
pub use style::Style;
pub use sweeps::sweep_report;
pub use told::Told;
pub use what_if::{what_if, what_if_json};
pub use words::folded;
