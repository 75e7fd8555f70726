//! The progress of a run, and the wish to stop it.

use miette::Diagnostic;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The progress of a run, and the wish to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    doing: Mutex<String>,
    cancelled: AtomicBool,
    silent: AtomicBool,
    abandonable: AtomicBool,
    /// The run that this is a part of.
    whole: Option<Arc<Progress>>,
}

/// A run was to stop, and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped; nothing was kept")
    }
}

impl std::error::Error for Cancelled {}

impl Diagnostic for Cancelled {}

impl Progress {
    /// The progress of a part of something: its steps are its own, and it is to stop when the whole
    /// is.
    pub fn of_part(whole: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self { whole: Some(whole.clone()), ..Self::default() })
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
        self.doing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The run itself writes on the terminal from now on: progress must not be drawn over it.
    pub fn leave_terminal(&self) {
        self.silent.store(true, Relaxed);
    }

    /// Returns true if progress is not to be drawn.
    pub fn is_silent(&self) -> bool {
        self.silent.load(Relaxed)
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

    /// [`Cancelled`] if the run is to stop: for long runs to ask now and then.
    ///
    /// # Errors
    /// The run is to stop.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.cancelled.load(Relaxed) {
            true => Err(Cancelled),
            false => self.whole.as_ref().map_or(Ok(()), |whole| whole.check()),
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
        assert_eq!((whole.steps(), part.steps(), part.doing().as_str()), ((0, 0), (1, 3), "runs"));
        assert_eq!(part.check(), Ok(()));
        whole.cancel();
        assert_eq!(part.check(), Err(Cancelled));
    }
}
