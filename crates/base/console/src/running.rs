//! The run that a signal stops.

use crate::progress::Progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The run that a signal stops, if one is going on.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Option<Arc<Progress>>,
    /// The number of runs that are over: it tells whether the one that was asked to stop goes on.
    over: u64,
}

impl Running {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run, if one is going on; it is asked to stop once only.
    pub(crate) fn take(&self) -> Option<Arc<Progress>> {
        self.state().running.take()
    }

    /// The number of runs that are over.
    pub(crate) fn over(&self) -> u64 {
        self.state().over
    }

    /// A run starts: a signal stops it, and not the program.
    pub(crate) fn start(&self, progress: Arc<Progress>) {
        self.state().running = Some(progress);
    }

    /// The run is over.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.running = None;
        state.over += 1;
    }
}
