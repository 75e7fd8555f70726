//! Platform files, as experiments ask for them: by the name of a platform, or by the path of a file
//! of one's own.
//!
//! | file | what it is about |
//! |---|---|
//! | `machine.rs` | the machine, its releases and their costs |
//! | `idle_states.rs` | the idle states, and what they cost |
//! | `kernel_costs.rs` | what the small kernel's own work takes |
#![forbid(unsafe_code)]

mod idle_states;
mod kernel_costs;
mod machine;

pub use idle_states::{idle_states, power_facts};
pub use kernel_costs::kernel_costs;
pub use machine::PlatformFiles;
