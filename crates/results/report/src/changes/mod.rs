//! A comparison of recordings, for people and for programs.
//!
//! | file | what it makes of a comparison |
//! |---|---|
//! | `blocks.rs` | blocks: the largest changes, the tables |
//! | `functions.rs` | the functions in which a change is |
//! | `idle.rs` | tables of idle states' counts |
//! | `json.rs` | JSON |
//! | `ci.rs` | the formats that continuous integration reads |

mod blocks;
mod ci;
mod functions;
mod idle;
mod json;

pub use blocks::comparison;
pub use ci::junit;
pub use findings::published_changes::{PrintedChange, PublishedChanges, published_changes};
pub use json::comparison_json;
