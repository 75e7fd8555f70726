//! Work on a thread of its own, with the GIL released, that Ctrl-C stops.

use console::Console;
use experiment::Progress;
use memory::Watch;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

create_exception!(
    stopwatt,
    Error,
    PyException,
    "Something cannot be done. The text says what is wrong and where, and on a line `help:` what would be right."
);
create_exception!(
    stopwatt,
    UsageError,
    Error,
    "It was asked for something that there is not: an experiment, a setting, a release, a format."
);
create_exception!(
    stopwatt,
    DataError,
    Error,
    "A file is wrong or damaged, or cannot be read or written: a plan, a platform, a log, a recording."
);
create_exception!(
    stopwatt,
    RunError,
    Error,
    "A run failed, or something that it needs is not on this machine."
);

/// An error as an exception of its kind.
pub fn exception(report: &miette::Report) -> PyErr {
    let text = console::sentences(report);
    let is_of_file = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<document::Error>()
            || cause.is::<recording::Error>()
            || cause.is::<recording::facts::FactsError>()
            || cause.is::<std::io::Error>()
            || cause.is::<import::ImportError>()
            || matches!(
                cause.downcast_ref::<experiment::Error>(),
                Some(experiment::Error::File(_) | experiment::Error::Recording(_))
            )
            || cause
                .downcast_ref::<sweep::Error>()
                .is_some_and(|error| !matches!(error, sweep::Error::NoPoint { .. }))
    };
    match () {
        () if stopwatt::is_of_memory(report) => PyMemoryError::new_err(text),
        () if report.chain().any(is_of_file) => DataError::new_err(text),
        () if report.chain().any(|cause| {
            matches!(
                cause.downcast_ref::<experiment::Error>(),
                Some(experiment::Error::Failed(_))
            )
        }) =>
        {
            RunError::new_err(text)
        }
        () => UsageError::new_err(text),
    }
}

/// The time between two looks at signals, memory and progress.
const EVERY: Duration = Duration::from_millis(30);

/// The time that work may take to end by itself when it was asked to stop. After that the call
/// ends, and the work at its next step.
const PATIENCE: Duration = Duration::from_millis(250);

/// The time that work which was left behind has to clear up when Python ends.
const PATIENCE_AT_END: Duration = Duration::from_secs(1);

/// Work that was asked to stop and left behind.
static LEFT: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// The work that can be asked to stop: a run by its progress, or whatever a command runs on a
/// console.
#[derive(Clone)]
pub enum Asked {
    Run(Arc<Progress>),
    Command(Console),
}

impl Asked {
    fn stop(&self) {
        match self {
            Self::Run(progress) => progress.cancel(),
            Self::Command(console) => console.stop(),
        }
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        match self {
            Self::Run(progress) => Some(progress.clone()),
            Self::Command(console) => console.progress(),
        }
    }
}

/// Does work on a thread of its own, with the GIL released. `tell` is called with steps done, steps
/// in all (0 where that is not known) and what is going on.
///
/// A signal such as Ctrl-C asks the work to stop, and is raised when it has, or after [`PATIENCE`]:
/// a step of some work takes minutes, and nothing of it is kept. Where memory is about to run out,
/// the same is done with a `MemoryError`.
pub fn work<T: Send + 'static>(
    py: Python<'_>,
    asked: &Asked,
    tell: Option<&Bound<'_, PyAny>>,
    does: impl FnOnce() -> miette::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (to, from) = channel();
    // A receiver must not be shared, and who waits releases the GIL.
    let from = Mutex::new(from);
    let thread = thread::spawn(move || {
        // Nobody takes the result of what was left behind.
        let _ = to.send(does());
    });
    let mut watch = None;
    let mut stopped: Option<(PyErr, Instant)> = None;
    loop {
        let next = py.detach(|| {
            from.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv_timeout(EVERY)
        });
        match (next, &stopped) {
            (Ok(_) | Err(RecvTimeoutError::Disconnected), Some(_)) => break,
            (Ok(result), None) => return result.map_err(|error| exception(&error)),
            (Err(RecvTimeoutError::Disconnected), None) => {
                return Err(RunError::new_err("the work panicked"));
            }
            (Err(RecvTimeoutError::Timeout), Some((_, since))) if since.elapsed() < PATIENCE => {}
            (Err(RecvTimeoutError::Timeout), Some(_)) => {
                let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
                left.retain(|thread| !thread.is_finished());
                left.push(thread);
                break;
            }
            (Err(RecvTimeoutError::Timeout), None) => {
                let progress = asked.progress();
                let told = tell
                    .zip(progress.as_ref())
                    .map_or(Ok(()), |(tell, progress)| {
                        let (done, total) = progress.steps();
                        tell.call1((done, total, progress.doing())).map(drop)
                    });
                let watch = watch.get_or_insert_with(Watch::new);
                let short = progress
                    .filter(|progress| progress.cancel_if_short(watch))
                    .and_then(|progress| progress.check().err());
                let error = match (py.check_signals().and(told), short) {
                    (Err(error), _) => error,
                    (Ok(()), Some(short)) => exception(&short.into()),
                    (Ok(()), None) => continue,
                };
                asked.stop();
                stopped = Some((error, Instant::now()));
            }
        }
    }
    Err(stopped.map_or_else(|| RunError::new_err("the work ended"), |(error, _)| error))
}

/// Work that needs nothing but time: nobody can stop it, and it is left behind at Ctrl-C.
pub fn just<T: Send + 'static>(
    py: Python<'_>,
    does: impl FnOnce() -> miette::Result<T> + Send + 'static,
) -> PyResult<T> {
    work(py, &Asked::Run(Arc::default()), None, does)
}

/// When Python ends: what was left behind may clear up, and files that are not whole are removed.
#[pyfunction]
pub fn end(py: Python<'_>) {
    py.detach(|| {
        let left = std::mem::take(&mut *LEFT.lock().unwrap_or_else(PoisonError::into_inner));
        let since = Instant::now();
        while left.iter().any(|thread| !thread.is_finished()) && since.elapsed() < PATIENCE_AT_END {
            thread::sleep(EVERY);
        }
        disk::remove_partials();
    });
}
