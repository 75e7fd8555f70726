//! The story of a run: steps, deviations and causes in words.

mod narrate;

pub use narrate::{Narrator, process};
