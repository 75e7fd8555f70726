//! Ctrl-C and its like: a run is asked to stop, and what is not whole is removed before the program ends.

use crate::errors;
use experiment::Progress;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a run that was asked to stop may take to end by itself, if it may be left at all.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many runs are over: it tells whether the one that was asked to stop still goes on.
static OVER: AtomicU64 = AtomicU64::new(0);

/// The run that a signal stops.
static RUNNING: Mutex<Option<Arc<Progress>>> = Mutex::new(None);

fn running() -> MutexGuard<'static, Option<Arc<Progress>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches for signals from now on.
pub fn watch() {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            // A first signal asks a run to stop, which it does after the step it is at; a second ends the program at once.
            if let Some(progress) = running().take() {
                progress.cancel();
                errors::note("stopping after the step at hand; a second signal ends the program at once");
                thread::spawn(move || abandon(&progress));
                continue;
            }
            disk::remove_partials();
            errors::note("stopped; what was not whole yet was removed");
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Ends the program if the run that was asked to stop is in a long step and may be left there.
fn abandon(progress: &Progress) {
    let over = OVER.load(Relaxed);
    thread::sleep(PATIENCE);
    if OVER.load(Relaxed) == over && progress.is_abandonable() {
        disk::remove_partials();
        errors::note("stopped in the middle of a long step; nothing was kept");
        std::process::exit(2);
    }
}

/// Lets the first signal stop a run in place of the program, until this is dropped.
pub struct Stops;

impl Stops {
    /// For the run of this progress.
    pub fn run(progress: Arc<Progress>) -> Self {
        *running() = Some(progress);
        Self
    }
}

impl Drop for Stops {
    fn drop(&mut self) {
        *running() = None;
        OVER.fetch_add(1, Relaxed);
    }
}
