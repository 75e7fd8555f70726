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
//! | `shared_object.rs` | shared objects, and the tables that they hand out |
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod place;
mod process;
pub mod protocol;
mod serve;
pub mod shared_object;

pub use process::{Failure, Process, start_with};
pub use protocol::Wrong;
pub use serve::work;
