//! The run that a signal stops.

use crate::progress::Progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The run that a signal stops, if one is going on.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Option<Arc<Progress>>,
    /// The signal that asked a run to stop.
    signal: Option<i32>,
    /// The number of runs that are over: it tells whether the one that was asked to stop goes on.
    over: u64,
}

impl Running {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run, if one is going on; it is asked to stop once only, by this signal.
    pub(crate) fn take(&self, signal: i32) -> Option<Arc<Progress>> {
        let mut state = self.state();
        let running = state.running.take()?;
        state.signal = Some(signal);
        Some(running)
    }

    /// The signal that asked a run to stop, if one did.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.state().signal
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
