//! Documents that people write, in TOML, JSON and CSV.
//!
//! One reader serves platform files, plans, policies, workloads and published figures alike. Its
//! [`Error`] names the file and the line, shows the place, says what is wrong and what would be
//! right.
//!
//! ```
//! use document::Document;
//! use serde::Deserialize;
//!
//! #[derive(Debug, Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Limits {
//!     most: u32,
//! }
//!
//! let error = Document::new("limits.toml", "\nmots = 3\n").read::<Limits>().unwrap_err();
//! assert_eq!(error.to_string(), "limits.toml:2: unknown field `mots`, expected `most`");
//! ```
//!
//! A document from outside is hostile until it is read: a text has at most [`disk::MOST_TEXT`]
//! bytes, tables lie at most 80 deep in each other in TOML and 32 in JSON, and no control character
//! of a document reaches the terminal.
//!
//! | file | what it is about |
//! |---|---|
//! | `document.rs` | a text with its name; TOML |
//! | `json.rs` | JSON with repeated keys, comments and places |
//! | `rows.rs` | comma-separated values |
//! | `error.rs` | what is wrong, where, and what would be right |
//! | `excerpt.rs` | the lines that an error shows |
//! | `names.rs` | the nearest known name |
//! | `printable.rs` | text from outside, fit for a terminal |
//! | `within.rs` | a value that is in its range |
#![forbid(unsafe_code)]

mod document;
mod error;
mod excerpt;
pub mod json;
mod names;
mod printable;
mod rows;
mod within;

pub use document::Document;
pub use error::{Error, Result};
pub use names::{nearest, number, one_of, quoted};
pub use printable::{LAYOUT, printable, printable_lines, unprintable};
pub use rows::{Record, RecordError, Records, row};
pub use toml::Spanned;
pub use toml::de::{DeTable, DeValue};
pub use within::within;
