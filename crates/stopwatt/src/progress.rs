//! Shows how far a run is, and stops it when Ctrl-C is pressed.

use crate::errors;
use crate::interrupt::Stops;
use experiment::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Shows a run's progress until it is dropped: as a bar on a terminal, and elsewhere as a line now and then.
pub struct Shown {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _stops: Option<Stops>,
}

/// How often the progress is looked at.
const EVERY: Duration = Duration::from_millis(80);

/// How often a line is written where no bar can be drawn.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Whether nothing is shown.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether each step is told.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Tells each step from now on, on lines of its own.
pub fn be_verbose() {
    VERBOSE.store(true, Relaxed);
}

/// Says what is done, to those who asked for it.
pub fn tell(what: &str) {
    if VERBOSE.load(Relaxed) {
        errors::note(what);
    }
}

/// Shows no progress from now on.
pub fn be_quiet() {
    QUIET.store(true, Relaxed);
}

/// Shows the progress of a run from now on. The first Ctrl-C asks the run to stop, a second ends the program at once.
pub fn show(progress: Arc<Progress>) -> Shown {
    let stops = Stops::run(progress.clone());
    shown(progress, Some(stops))
}

/// The same for work that keeps nothing before its end, and that a first Ctrl-C therefore ends at once.
pub fn show_only(progress: Arc<Progress>) -> Shown {
    shown(progress, None)
}

fn shown(progress: Arc<Progress>, stops: Option<Stops>) -> Shown {
    let over = Arc::new(AtomicBool::new(false));
    let ends = over.clone();
    let is_bar = std::io::stderr().is_terminal() && !VERBOSE.load(Relaxed);
    let thread = thread::spawn(move || match (QUIET.load(Relaxed), is_bar) {
        (true, _) => {}
        (false, true) => bar(&progress, &ends),
        (false, false) => lines(&progress, &ends),
    });
    Shown { over, thread: Some(thread), _stops: stops }
}

fn bar(progress: &Progress, ends: &AtomicBool) {
    let bar = ProgressBar::new(0);
    let style =
        |template: &str| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let mut counted = false;
    bar.set_style(style("{spinner} {msg} {elapsed}"));
    while !ends.load(Relaxed) && !progress.is_silent() {
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
}

fn lines(progress: &Progress, ends: &AtomicBool) {
    let (start, mut said, mut told) = (Instant::now(), Instant::now(), String::new());
    while !ends.load(Relaxed) {
        let doing = progress.doing();
        let is_new = VERBOSE.load(Relaxed) && doing != told;
        if is_new || said.elapsed() >= LINE_EVERY {
            said = Instant::now();
            let (done, total) = progress.steps();
            let of = if total > 0 { format!("{done}/{total} ") } else { String::new() };
            errors::note(&format!("{of}{doing}, {} s so far", start.elapsed().as_secs()));
            told = doing;
        }
        thread::sleep(EVERY);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
