//! Observers: those who wait for a run's recording.

use console::Progress;
use std::sync::Arc;

/// Waits for a run, and says what it will look at.
pub struct Observer {
    /// The progress of the run, and the wish to stop it; threads may share it.
    pub progress: Arc<Progress>,
    /// True if it looks at the events. Where nobody does, a run may leave them out.
    pub events: bool,
    /// True if it looks at what the header says of platform, settings and costs: of the runs of a
    /// sweep only at that of one. Where nobody does, a run may leave it out.
    pub description: bool,
}

impl Observer {
    /// An observer that looks at everything.
    pub fn new(progress: Arc<Progress>) -> Self {
        Self {
            progress,
            events: true,
            description: true,
        }
    }
}
