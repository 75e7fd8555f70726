//! The progress of a run, and the wish to stop it.

use memory::{Short, Watch};
use miette::Diagnostic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The progress of a run, and the wish to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    doing: Mutex<String>,
    cancelled: AtomicBool,
    /// Why it is to stop, if that is because memory is short.
    short: OnceLock<Short>,
    abandonable: AtomicBool,
    /// The run that this is a part of.
    whole: Option<Arc<Progress>>,
}

/// A run was to stop, and did.
#[derive(Debug, PartialEq, thiserror::Error, Diagnostic)]
pub enum Cancellation {
    /// Somebody wished it.
    #[error("stopped; nothing was kept")]
    Asked,
    /// Memory was about to run out.
    #[error("stopped before memory ran out: {0}; nothing was kept")]
    #[diagnostic(help("{LESS_MEMORY}"))]
    Short(Short),
}

/// Words for what would be right where memory is short.
pub const LESS_MEMORY: &str = "ask for less at a time: fewer iterations, seeds, releases or events";

impl Progress {
    /// The progress of a part of something: its steps are its own, and it is to stop when the whole
    /// is.
    pub fn of_part(whole: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self {
            whole: Some(whole.clone()),
            ..Self::default()
        })
    }

    /// There will be the given number of steps; `what` they are is shown, in the plural.
    pub fn expect(&self, total: u64, what: &str) {
        self.total.fetch_add(total, Relaxed);
        self.say(what);
    }

    /// A step is done.
    pub fn step(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    /// Says what is going on now.
    pub fn say(&self, what: &str) {
        what.clone_into(&mut self.doing.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Steps done, and the number of all; 0 where that is not known.
    pub fn steps(&self) -> (u64, u64) {
        (self.done.load(Relaxed), self.total.load(Relaxed))
    }

    /// A word or two about what is going on.
    pub fn doing(&self) -> String {
        self.doing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Says whether the run may be left in the middle of a step: nothing of it is kept before its
    /// end, and there is nothing to clear up.
    pub fn set_abandonable(&self, abandonable: bool) {
        self.abandonable.store(abandonable, Relaxed);
    }

    /// Returns true if the run may be left in the middle of a step.
    pub fn is_abandonable(&self) -> bool {
        self.abandonable.load(Relaxed)
    }

    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Asks the run to stop if memory is about to run out. True if it is.
    pub fn cancel_if_short(&self, watch: &Watch) -> bool {
        let Some(short) = watch.short() else {
            return false;
        };
        let _ = self.short.set(short);
        self.cancel();
        true
    }

    /// [`Cancellation`] if the run is to stop: for long runs to ask now and then.
    ///
    /// # Errors
    /// The run is to stop.
    pub fn check(&self) -> Result<(), Cancellation> {
        if self.cancelled.load(Relaxed) {
            Err(self
                .short
                .get()
                .cloned()
                .map_or(Cancellation::Asked, Cancellation::Short))
        } else {
            self.whole.as_ref().map_or(Ok(()), |whole| whole.check())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_stops_with_the_whole_and_has_steps_of_its_own() {
        let whole = Arc::new(Progress::default());
        let part = Progress::of_part(&whole);
        part.expect(3, "runs");
        part.step();
        assert_eq!(
            (whole.steps(), part.steps(), part.doing().as_str()),
            ((0, 0), (1, 3), "runs")
        );
        assert_eq!(part.check(), Ok(()));
        whole.cancel();
        assert_eq!(part.check(), Err(Cancellation::Asked));
    }
}
