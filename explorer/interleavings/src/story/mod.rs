//! The story of a run: steps, deviations and causes in words.

mod locks;
mod narrate;

pub use locks::broken_lock;
pub use narrate::{Narrator, process, step_of, that_matter};
