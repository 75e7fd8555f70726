//! Platform files, as experiments ask for them: by the name of a platform, or by the path of a file
//! of one's own.
//!
//! | file | what it is about |
//! |---|---|
//! | `machine.rs` | the machine, its releases and their costs |
//! | `idle_states.rs` | the idle states, and what they cost |
//! | `set_keys.rs` | keys of these files that are set for a run |
//! | `board.rs` | a platform file made of a board's own files |
//! | `kernel_costs.rs` | what the small kernel's own work takes |
#![forbid(unsafe_code)]

mod board;
mod idle_states;
mod kernel_costs;
mod machine;
mod set_keys;

pub use board::Board;
pub use idle_states::{DISABLE, disable, idle_states, power_facts};
pub use kernel_costs::kernel_costs;
pub use machine::PlatformFiles;
pub use set_keys::{set_key, while_set};
