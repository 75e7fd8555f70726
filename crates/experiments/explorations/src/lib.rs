//! The explorer's findings as a recording; and a number of schedules from a seed, as experiments
//! ([`ExplorePsci`], [`ExploreRcu`]).
//!
//! The recording's header holds the schedule, as text that repeats the run ([`Schedule`]) and in
//! sentences; its events are the operations of the run, as lanes of a timeline.
#![deny(unsafe_code)]

mod campaign;
mod coverage;
mod port;
mod record;
mod recorded;
mod schedule;

pub use campaign::{ExplorePsci, ExploreRcu, find_fault, nothing_found};
pub use coverage::add_coverage;
pub use port::{HooksFile, forget_hooks, hooks_file, running_hook, use_hooks};
pub use record::{READABLE, experiment, record};
pub use recorded::Recordable;
pub use schedule::{Schedule, ScheduleError, subject_of};
