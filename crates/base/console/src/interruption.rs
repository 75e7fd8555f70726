//! Ctrl-C and its like: a run is asked to stop, and what is not whole is removed before the program
//! ends.

use crate::console::Console;
use crate::progress::Progress;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a run that was asked to stop may take to end by itself, if it may be left at all.
const PATIENCE: Duration = Duration::from_secs(1);

/// The run that a signal stops, if one is going on.
#[derive(Debug, Default)]
pub(crate) struct Interruption(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Option<Arc<Progress>>,
    /// The number of runs that are over: it tells whether the one that was asked to stop goes on.
    over: u64,
}

impl Interruption {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Watches for signals from now on, for the rest of the program.
pub(crate) fn watch(console: Console) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            // A first signal asks a run to stop, which it does after the step it is at; a second
            // ends the program at once.
            let running = console.interruption().state().running.take();
            if let Some(progress) = running {
                progress.cancel();
                console.note("stopping after the step at hand; a second signal ends the program at once");
                let console = console.clone();
                thread::spawn(move || abandon(&console, &progress));
                continue;
            }
            disk::remove_partials();
            console.note("stopped; what was not whole yet was removed");
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Ends the program if the run that was asked to stop is in a long step and may be left there.
fn abandon(console: &Console, progress: &Progress) {
    let over = console.interruption().state().over;
    thread::sleep(PATIENCE);
    if console.interruption().state().over == over && progress.is_abandonable() {
        disk::remove_partials();
        console.note("stopped in the middle of a long step; nothing was kept");
        std::process::exit(2);
    }
}
