//! What the explorer found, as a recording.
//!
//! The recording's header holds the schedule, as text that repeats the run ([`Schedule`]) and in sentences; its events are the operations of the
//! run, as lanes of a timeline.
#![forbid(unsafe_code)]

mod record;
mod recorded;
mod schedule;

pub use record::{SENTENCES, experiment, record};
pub use recorded::Recorded;
pub use schedule::{SCHEDULE, Schedule, ScheduleError, subject_of};
