//! Code of others in a process of its own: a crash or a hang ends that process alone, and is told
//! with the name of whoever it was.
//!
//! The program starts itself a second time. Requests and answers are a line of JSON each, of types
//! that the experiment chooses.
//!
//! | file | what it is about |
//! |---|---|
//! | `process.rs` | the process from outside: it is started, asked, and watched |
//! | `serve.rs` | the process from inside: it answers |
//! | `place.rs` | the code that runs at the moment, in a memory that outlives the process |
//! | `shared_object.rs` | shared objects, and the tables that they hand out |
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod place;
mod process;
mod serve;
pub mod shared_object;

pub use process::{Failure, Process, start_with};
pub use serve::{Wrong, work};
