//! Work on a thread of its own, with the GIL released, that Ctrl-C stops.

use experiment::Progress;
use pyo3::prelude::*;
use pyo3::{create_exception, exceptions::PyException};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

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
create_exception!(stopwatt, RunError, Error, "A run failed, or something that it needs is not on this machine.");

/// An error as an exception of its kind.
pub fn exception(report: &miette::Report) -> PyErr {
    let text = console::sentences(report);
    let is_of_file = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<document::Error>()
            || cause.is::<recording::Error>()
            || cause.is::<std::io::Error>()
            || cause.is::<import::ImportError>()
            || matches!(
                cause.downcast_ref::<experiment::Error>(),
                Some(experiment::Error::File(_) | experiment::Error::Recording(_))
            )
            || cause.downcast_ref::<sweep::Error>().is_some_and(|error| !matches!(error, sweep::Error::NoPoint { .. }))
    };
    let failed = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref::<experiment::Error>(), Some(experiment::Error::Failed(_)))
    };
    match () {
        () if report.chain().any(is_of_file) => DataError::new_err(text),
        () if report.chain().any(failed) => RunError::new_err(text),
        () => UsageError::new_err(text),
    }
}

/// The number of times that signals are looked for and progress is told.
const EVERY: Duration = Duration::from_millis(50);

/// Does work with the GIL released. `tell` is called with steps done, steps in all (0 where that is
/// not known) and what is going on. A signal such as Ctrl-C asks the work to stop, and is raised
/// when it has.
pub fn work<T: Send>(
    py: Python<'_>,
    progress: &Arc<Progress>,
    tell: Option<&Bound<'_, PyAny>>,
    does: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (to, from) = channel();
    let from = &std::sync::Mutex::new(from);
    thread::scope(|scope| {
        scope.spawn(move || to.send(does()));
        let mut stopped = None;
        let result = loop {
            let next = py.detach(|| {
                let from = from.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                from.recv_timeout(EVERY)
            });
            match next {
                Ok(result) => break Ok(result),
                Err(RecvTimeoutError::Disconnected) => break Err(RunError::new_err("the work panicked")),
                Err(RecvTimeoutError::Timeout) if stopped.is_some() => {}
                Err(RecvTimeoutError::Timeout) => {
                    let told = tell.map_or(Ok(()), |tell| {
                        let (done, total) = progress.steps();
                        tell.call1((done, total, progress.doing())).map(drop)
                    });
                    if let Err(error) = py.check_signals().and(told) {
                        progress.cancel();
                        stopped = Some(error);
                    }
                }
            }
        };
        match stopped {
            Some(error) => Err(error),
            None => result,
        }
    })
}
