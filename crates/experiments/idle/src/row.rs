//! What one chooser did with a trace: a row of the results.

use crate::energy::Energies;
use crate::oracle::Excess;
use crate::replay::{Agreement, Chooser, Replayed, Unsaid};

/// What one chooser did and what it cost.
pub struct Row {
    /// Who chose.
    pub chooser: Chooser,
    /// What it did, for each assumption about what the trace does not say.
    pub replays: Vec<(Unsaid, Replayed)>,
    /// What that cost, likewise.
    pub energies: Vec<Energies>,
    /// How often it agrees with the traced kernel.
    pub agreement: Option<Agreement>,
    /// Names of its states.
    pub state_names: Vec<String>,
    /// The intervals that cost its first replay most beyond the cheapest state, the worst first; empty without powers.
    pub worst: Vec<Excess>,
}

impl Row {
    /// Its name in recordings.
    pub fn name(&self) -> &'static str {
        match self.chooser {
            Chooser::Recorded => "recorded",
            Chooser::Governor(kind) => kind.name(),
        }
    }
}
