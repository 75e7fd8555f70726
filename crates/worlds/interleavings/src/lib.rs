#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod cell;
mod choice;
mod counterexample;
mod coverage;
mod current;
mod dpor;
mod exploration;
mod failure;
pub mod hint;
pub mod litmus;
mod machine;
mod memory;
mod model;
mod names;
pub mod narrate;
mod options;
mod place;
mod races;
mod ready;
mod run;
mod script;
mod shrink;
mod spin;
mod step;
mod strategy;
pub mod subject;
pub mod sync;
pub mod thread;
mod watchdog;

pub use cell::Word;
pub use cells::{Scalar, SharedWord};
pub use exploration::Tally;
pub use machine::Machine;
pub use model::{Bodies, Config, Core, Model, check, explore, model};
pub use options::{Limits, MOST_CPUS};
pub use strategy::Strategy;

/// The most operations of its CPU for which a store or a line's maintenance is put off.
const LONGEST_DELAY: u8 = 12;
