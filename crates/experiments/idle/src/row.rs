//! A row of the results: one chooser on a trace.

use crate::energy::Energies;
use crate::envelope::Envelope;
use crate::limits::Limit;
use crate::oracle::Excess;
use crate::replay::{Agreement, Chooser, GovernorReplay, Unsaid};

/// The choices of one chooser and their cost.
pub struct Row {
    /// The one who chose.
    pub chooser: Chooser,
    /// The limit under which it chose.
    pub limit: Option<Limit>,
    /// The replays, for each assumption about what the trace does not say.
    pub replays: Vec<(Unsaid, GovernorReplay)>,
    /// The costs, likewise.
    pub energies: Vec<Energies>,
    /// Both ends over the replays; `None` where they are alike.
    pub envelope: Option<Envelope>,
    /// The number of times that it agrees with the traced kernel.
    pub agreement: Option<Agreement>,
    /// Names of its states.
    pub state_names: Vec<String>,
    /// The interval that cost its first replay most beyond the cheapest state; `None` without
    /// powers.
    pub worst: Option<Excess>,
}

impl Row {
    /// Name of the row in recordings.
    pub fn name(&self) -> String {
        match (self.chooser, &self.limit) {
            (Chooser::Recorded, _) => "recorded".to_owned(),
            (Chooser::Governor(kind), None) => kind.to_string(),
            (Chooser::Governor(kind), Some(limit)) => format!("{kind}{limit}"),
        }
    }
}
