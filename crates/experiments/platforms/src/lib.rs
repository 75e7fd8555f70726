//! Platform files, as experiments ask for them: by the name of a platform, or by the path of a file of one's own.
//!
//! | file | what it is about |
//! |---|---|
//! | `machine.rs` | the machine, its releases and their costs |
//! | `idle_states.rs` | the idle states, and what they cost |
#![forbid(unsafe_code)]

mod idle_states;
mod machine;

pub use idle_states::{idle_states, parse_idle_states};
pub use machine::PlatformFiles;
