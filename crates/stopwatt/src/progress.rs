//! Shows how far a run is, and stops it when Ctrl-C is pressed.

use experiment::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Shows a run's progress on a terminal until it is dropped.
pub struct Shown {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How often the progress is looked at.
const EVERY: Duration = Duration::from_millis(80);

/// Shows the progress of a run from now on.
pub fn show(progress: Arc<Progress>) -> Shown {
    let over = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::new(AtomicBool::new(false));
    // A first Ctrl-C asks the run to stop, a second ends the program at once.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let _ = signal_hook::flag::register_conditional_default(signal, interrupted.clone());
        let _ = signal_hook::flag::register(signal, interrupted.clone());
    }
    let ends = over.clone();
    let thread = thread::spawn(move || {
        let bar = ProgressBar::new(0);
        let style =
            |template: &str| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let mut counted = false;
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        while !ends.load(Relaxed) {
            if interrupted.load(Relaxed) {
                progress.cancel();
            }
            let (done, total) = progress.steps();
            if total > 0 && !counted {
                counted = true;
                bar.set_style(style("{bar:40} {pos}/{len} {msg}, {eta} left"));
            }
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(progress.doing());
            bar.tick();
            thread::sleep(EVERY);
        }
        bar.finish_and_clear();
    });
    Shown { over, thread: Some(thread) }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
