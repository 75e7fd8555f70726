//! `clock-read`: what a read of a clock costs.

use crate::Run;
use recording::stats;
use schemars::JsonSchema;
use serde::Serialize;

/// Reads of a clock on this machine.
#[derive(Serialize, JsonSchema)]
pub struct ClockRead<'r> {
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// Nanoseconds of a read: the quartiles and the median over the rounds.
    pub quartiles_ns: [f64; 3],
    /// Nanoseconds of a read in each round.
    pub rounds_ns: Vec<f64>,
}

/// Reads the rounds.
pub fn read<'r>(run: &Run<'r>) -> ClockRead<'r> {
    let rounds_ns: Vec<f64> = run.recording.measures().iter().map(|of| of.value).collect();
    let [low, high] = crate::spread::quartiles(&rounds_ns);
    ClockRead {
        recording: run.folder,
        quartiles_ns: [low, stats::median(&rounds_ns).unwrap_or(0.0), high],
        rounds_ns,
    }
}
