//! What experiments found: for each a module with a type whose fields are the result, and a
//! function that reads it from a recording.
//!
//! Serialized, a finding is the JSON that `stopwatt report --format json` prints. Reports draw it
//! and reckon nothing themselves.
#![forbid(unsafe_code)]

pub mod rows;
mod run;
pub mod strides;

pub use run::Run;
