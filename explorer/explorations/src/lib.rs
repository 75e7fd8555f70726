//! The explorer's findings as a recording.
//!
//! The recording's header holds the schedule, as text that repeats the run ([`Schedule`]) and in
//! sentences; its events are the operations of the run, as lanes of a timeline.
#![deny(unsafe_code)]

mod coverage;
mod port;
mod record;
mod recorded;
mod schedule;

pub use coverage::add_coverage;
pub use port::load_port;
pub use record::{READABLE, experiment, nothing_found, operations, record};
pub use recorded::Recordable;
pub use schedule::{Schedule, subject_of};
