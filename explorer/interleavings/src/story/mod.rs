//! The story of a run: steps, deviations and causes in words.

mod locks;
mod narrate;

pub use locks::broken_lock;
pub use narrate::{Narrator, step_of, that_matter};
