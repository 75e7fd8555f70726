//! Progress on the terminal: a bar, or a line now and then.

use crate::console::Console;
use crate::progress::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use memory::Watch;
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
    /// Shows progress from now on; with `stops`, a signal stops the run and not the program. Where
    /// the words are kept, whoever keeps them watches the memory.
    fn new(console: &Console, progress: Arc<Progress>, stops: bool) -> Self {
        if stops {
            console.running().start(progress.clone());
        }
        let over = Arc::new(AtomicBool::new(false));
        let thread = (!console.is_kept()).then(|| {
            let (console, over) = (console.clone(), over.clone());
            let is_bar = std::io::stderr().is_terminal() && !console.verbose;
            thread::spawn(move || {
                let look = Look {
                    console: &console,
                    progress: &progress,
                    watch: Watch::new(),
                    stops,
                };
                match console.shows_progress() {
                    true if is_bar => bar(&look, &over),
                    true => lines(&look, &over),
                    false => {}
                }
                while !over.load(Relaxed) {
                    look.wait();
                }
            })
        });
        Self {
            console: console.clone(),
            is_stopped: stops,
            over,
            thread,
        }
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

/// A look at a run now and then.
struct Look<'l> {
    console: &'l Console,
    progress: &'l Arc<Progress>,
    watch: Watch,
    stops: bool,
}

impl Look<'_> {
    /// Waits until the next look. Where memory is about to run out, the run is asked to stop, and
    /// the program ended if it does not at once.
    fn wait(&self) {
        thread::sleep(EVERY);
        if self.stops && self.progress.check().is_ok() && self.progress.cancel_if_short(&self.watch)
        {
            self.console.end_when_short(self.progress);
        }
    }
}

fn bar(look: &Look<'_>, over: &AtomicBool) {
    let progress = look.progress;
    let bar = ProgressBar::new(0);
    let style = |template: &str| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
    };
    let (mut counted, start) = (false, Instant::now());
    bar.set_style(style("{spinner} {msg} {elapsed}"));
    while !over.load(Relaxed) {
        let (done, total) = progress.steps();
        if total > 0 && !counted {
            counted = true;
            bar.set_style(style("{bar:20} {pos}/{len} {msg}"));
        }
        bar.set_length(total);
        bar.set_position(done);
        bar.set_message(format!(
            "{}{}",
            progress.doing(),
            left(start.elapsed(), progress.steps())
        ));
        bar.tick();
        look.wait();
    }
    bar.finish_and_clear();
}

/// Words about the time that is left, once some steps are done.
fn left(elapsed: Duration, (done, total): (u64, u64)) -> String {
    if done == 0 || total <= done || elapsed < EVERY {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() * (total - done) as f64 / done as f64;
    match seconds {
        ..99.5 => format!(", about {:.0} s left", seconds.max(1.0)),
        ..5970.0 => format!(", about {:.0} min left", seconds / 60.0),
        _ => format!(", about {:.0} h left", seconds / 3600.0),
    }
}

fn lines(look: &Look<'_>, over: &AtomicBool) {
    let (console, progress) = (look.console, look.progress);
    let (start, mut last, mut told) = (Instant::now(), Instant::now(), String::new());
    while !over.load(Relaxed) {
        let doing = progress.doing();
        let is_new = console.verbose && doing != told;
        if is_new || last.elapsed() >= LINE_EVERY {
            last = Instant::now();
            let (done, total) = progress.steps();
            let steps = if total > 0 {
                format!("{done}/{total} ")
            } else {
                String::new()
            };
            let left = left(start.elapsed(), (done, total));
            console.note(&format!(
                "{steps}{doing}, {} s so far{left}",
                start.elapsed().as_secs()
            ));
            told = doing;
        }
        look.wait();
    }
}
