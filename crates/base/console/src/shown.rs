//! Progress on the terminal: a bar, or a line now and then.

use crate::console::Console;
use crate::progress::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A run's progress, which is shown until this is dropped: as a bar on a terminal, and elsewhere as
/// a line now and then.
pub struct Shown {
    console: Console,
    is_stopped: bool,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The number of times that the progress is looked at.
const EVERY: Duration = Duration::from_millis(80);

/// The number of times that a line is written where no bar can be drawn.
const LINE_EVERY: Duration = Duration::from_secs(5);

impl Console {
    /// Shows the progress of a run until what is returned is dropped. The first signal asks the run
    /// to stop, a second ends the program at once.
    #[must_use]
    pub fn show(&self, progress: Arc<Progress>) -> Shown {
        Shown::new(self, progress, true)
    }

    /// The same for work that keeps nothing before its end, and that a first signal therefore ends
    /// at once.
    #[must_use]
    pub fn show_only(&self, progress: Arc<Progress>) -> Shown {
        Shown::new(self, progress, false)
    }
}

impl Shown {
    /// Shows progress from now on; with `stops`, a signal stops the run and not the program.
    fn new(console: &Console, progress: Arc<Progress>, stops: bool) -> Self {
        if stops {
            console.running().start(progress.clone());
        }
        let over = Arc::new(AtomicBool::new(false));
        let thread = console.shows_progress().then(|| {
            let (console, over) = (console.clone(), over.clone());
            let is_bar = std::io::stderr().is_terminal() && !console.is_verbose();
            thread::spawn(move || match is_bar {
                true => bar(&progress, &over),
                false => lines(&console, &progress, &over),
            })
        });
        Self { console: console.clone(), is_stopped: stops, over, thread }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if self.is_stopped {
            self.console.running().end();
        }
    }
}

fn bar(progress: &Progress, over: &AtomicBool) {
    let bar = ProgressBar::new(0);
    let style =
        |template: &str| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let mut counted = false;
    bar.set_style(style("{spinner} {msg} {elapsed}"));
    while !over.load(Relaxed) && !progress.is_silent() {
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

fn lines(console: &Console, progress: &Progress, over: &AtomicBool) {
    let (start, mut last, mut told) = (Instant::now(), Instant::now(), String::new());
    while !over.load(Relaxed) {
        let doing = progress.doing();
        let is_new = console.is_verbose() && doing != told;
        if is_new || last.elapsed() >= LINE_EVERY {
            last = Instant::now();
            let (done, total) = progress.steps();
            let steps = if total > 0 { format!("{done}/{total} ") } else { String::new() };
            console.note(&format!("{steps}{doing}, {} s so far", start.elapsed().as_secs()));
            told = doing;
        }
        thread::sleep(EVERY);
    }
}
