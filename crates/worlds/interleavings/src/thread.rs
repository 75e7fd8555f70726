//! The part of `std::thread` that tests use, by another path.

use crate::current::{self, machine};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex};

/// The result of [`JoinHandle::join`]: never an error, since a panic ends the run.
pub type Result<T> = std::thread::Result<T>;

/// A thread that was spawned.
pub struct JoinHandle<T> {
    thread: usize,
    result: Arc<Mutex<Option<T>>>,
}

/// Starts a thread: a CPU of its own. It sees all that its parent has seen and done.
///
/// # Panics
/// There are more than [`Config::threads`](crate::Config::threads).
pub fn spawn<T: 'static>(body: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    let result = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&result);
    let thread = current::spawn(Box::new(move || {
        let value = body();
        if let Ok(mut slot) = slot.lock() {
            *slot = Some(value);
        }
    }));
    JoinHandle { thread, result }
}

/// Lets another thread go, if one can.
pub fn yield_now() {
    machine().yields();
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, sees all that it has done, and returns what it returned.
    ///
    /// # Errors
    /// Never.
    pub fn join(self) -> Result<T> {
        machine().wait_for_process(self.thread);
        let value = self.result.lock().ok().and_then(|mut slot| slot.take());
        Ok(value.expect("a thread that has ended has left its result"))
    }
}

impl<T> Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.thread)
    }
}
