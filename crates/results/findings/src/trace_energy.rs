//! `trace-energy`: the energy of a recorded trace, by owner.

use crate::Findings;
use evidence::Leaders;
use recording::facts::{self, FactsError, TraceOwner};
use schemars::JsonSchema;
use serde::Serialize;

/// The energy of a recorded trace.
#[derive(Serialize, JsonSchema)]
pub struct TraceEnergy<'r> {
    /// What was found.
    #[serde(flatten)]
    pub facts: facts::TraceEnergy,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// Reads the result.
///
/// # Errors
/// The recording's facts are missing, or of another form.
pub fn read<'r>(findings: &Findings<'r>) -> Result<TraceEnergy<'r>, FactsError> {
    Ok(TraceEnergy {
        facts: findings.recording.header.facts()?,
        recording: findings.folder,
    })
}

impl TraceEnergy<'_> {
    /// The owners that took the most of what the trace tells, as far as their ranges tell them
    /// apart.
    pub fn leaders(&self) -> Option<Leaders<&TraceOwner>> {
        Leaders::most(&self.facts.owners, |owner| {
            owner.is_work.map(|_| owner.energy)
        })
    }
}
