//! What all workers share: tables that are read without a lock, and the one lock of who changes them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::adjacency::Adjacencies;
use crate::control::Control;
use crate::epochs::Epochs;
use crate::fib::Table;

/// Tables of routes and neighbours.
pub struct Shared {
    /// Routes, to read.
    pub routes: Arc<Table>,
    /// Where packets may be sent next, to read.
    pub adjacencies: Arc<Adjacencies>,
    /// Who reads.
    pub epochs: Arc<Epochs>,
    control: Mutex<Control>,
    start: Instant,
}

impl Shared {
    /// Empty tables.
    pub fn new() -> Self {
        let (adjacencies, epochs) = (Arc::<Adjacencies>::default(), Arc::<Epochs>::default());
        let control = Control::new(adjacencies.clone(), epochs.clone());
        let routes = control.fib.table().clone();
        Self { routes, adjacencies, epochs, control: Mutex::new(control), start: Instant::now() }
    }

    /// The side that changes the tables. Forwarding does not take it.
    pub fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same if nobody has it just now.
    pub fn try_control(&self) -> Option<MutexGuard<'_, Control>> {
        self.control.try_lock().ok()
    }

    /// Time since the tables were made.
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}
