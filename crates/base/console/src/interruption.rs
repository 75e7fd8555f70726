//! Ctrl-C and its like: a run is asked to stop, and what is not whole is removed before the program
//! ends.

use crate::console::Console;
use crate::progress::Progress;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::thread;
use std::time::Duration;

/// The time that a run that was asked to stop may take to end by itself, if it may be left at all.
const PATIENCE: Duration = Duration::from_secs(1);

/// The same where memory is about to run out, and may have done so by then.
const PATIENCE_WHEN_SHORT: Duration = Duration::from_millis(100);

impl Console {
    /// Watches for Ctrl-C and its like, for the rest of the program: what is not whole is removed
    /// before it ends.
    pub fn watch_signals(&self) {
        let console = self.clone();
        let Ok(signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
            return;
        };
        thread::spawn(move || watch(&console, signals));
    }

    /// Ends the program as the signal does that asked a run to stop, if one did: whoever started
    /// the program sees that, and a shell leaves its loop. To be called when all is printed.
    pub fn end_as_signalled(&self) {
        if let Some(signal) = self.running().signal() {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

impl Console {
    /// Ends the program with 1 if a run that was asked to stop, since memory is short, does not.
    pub(crate) fn end_when_short(&self, progress: &Progress) {
        let over = self.running().over();
        thread::sleep(PATIENCE_WHEN_SHORT);
        if let Err(why) = progress.check()
            && self.running().over() == over
        {
            disk::remove_partials();
            self.error(&why.into());
            std::process::exit(1);
        }
    }
}

fn watch(console: &Console, mut signals: Signals) {
    for signal in signals.forever() {
        // A first signal asks a run to stop, which it does after the step it is at; a second ends
        // the program at once.
        if let Some(progress) = console.running().take(signal) {
            progress.cancel();
            console
                .note("stopping after the step at hand; a second signal ends the program at once");
            let console = console.clone();
            thread::spawn(move || abandon(&console, &progress, signal));
            continue;
        }
        disk::remove_partials();
        console.note("stopped; what was not whole yet was removed");
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}

/// Ends the program if the run that was asked to stop is in a long step and may be left there.
fn abandon(console: &Console, progress: &Progress, signal: i32) {
    let over = console.running().over();
    thread::sleep(PATIENCE);
    if console.running().over() == over && progress.is_abandonable() {
        disk::remove_partials();
        console.note("stopped in the middle of a long step; nothing was kept");
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}
