#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod current;
pub mod hint;
mod limits;
mod machine;
mod memory;
mod model;
mod operation;
mod search;
#[doc(hidden)]
pub mod story;
#[doc(hidden)]
pub mod subject;
pub mod sync;
pub mod thread;

pub use limits::{Limits, MOST_CPUS};
pub use machine::{Core, Strategy};
pub use model::{Bodies, Config, explore, model};
pub use search::Tally;
