//! The run that a signal stops.

use crate::progress::Progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The run that a signal stops, if one is going on.
#[derive(Default)]
pub(crate) struct Running(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Option<Arc<Progress>>,
    /// The signal that asked a run to stop.
    signal: Option<i32>,
    /// True if every run is to stop, also one that starts later.
    stopped: bool,
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
        let mut state = self.state();
        if state.stopped {
            progress.cancel();
        }
        state.running = Some(progress);
    }

    /// Stops the run and those that start later.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        if let Some(running) = state.running.take() {
            running.cancel();
        }
    }

    /// The progress of the run, if one is going on.
    pub(crate) fn progress(&self) -> Option<Arc<Progress>> {
        self.state().running.clone()
    }

    /// The run is over.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.running = None;
        state.over += 1;
    }
}
