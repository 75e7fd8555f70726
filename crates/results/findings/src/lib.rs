//! What experiments found: for each a module with a type whose fields are the result, and a
//! function that reads it from a recording.
//!
//! Serialized, a finding is the JSON that `stopwatt report --format json` prints. Reports draw it
//! and reckon nothing themselves. [`Finding`] has a row for each experiment, and [`schema`]
//! describes the JSON of all of them.
#![forbid(unsafe_code)]

pub mod accuracy;
pub mod batch;
mod beside;
pub mod cases;
pub mod compared;
pub mod cpuidle;
pub mod eas_energy;
pub mod energy;
pub mod errors;
pub mod exploration;
mod finding;
pub mod functions;
pub mod idle_clock;
pub mod idle_replay;
mod interval;
pub mod latency;
pub mod linux;
pub mod loaded;
pub mod nodes;
pub mod passages;
pub mod placement;
pub mod psci_calls;
pub mod published_changes;
mod recorded;
mod rows;
mod run;
pub mod spread;
pub mod strides;
pub mod sweep_effects;
pub mod ticks;
pub mod tune;
pub mod what_if;
pub mod working_set;

pub use finding::{Finding, schema};
pub use interval::Interval;
pub use recorded::{Findings, MeasureRow, command, names, repeats};
pub use recording::stats::quantile;
pub use rows::InOrder;
pub use run::Run;
