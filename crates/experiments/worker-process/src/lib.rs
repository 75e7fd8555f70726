//! Code of others in a process of its own: a crash or a hang ends that process alone, and is told
//! with the name of whoever it was.
//!
//! The program starts itself a second time. An experiment chooses the types of its requests and
//! answers; [`protocol`] is how they travel.
//!
//! | file | what it is about |
//! |---|---|
//! | `process.rs` | the process from outside: it is started, asked, and watched |
//! | `protocol.rs` | their messages: a line of JSON each, whole or an error |
//! | `serve.rs` | the process from inside: it answers |
//! | `place.rs` | the code that runs at the moment, in a memory that outlives the process |
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod place;
mod process;
pub mod protocol;
mod serve;

pub use process::{Failure, Process, start_with};
pub use serve::work;
pub use shared_object;
pub use shared_object::Wrong;
