//! Which scheduler's process runs on this thread.

use std::cell::Cell;
use std::ptr::{from_ref, null};

thread_local! {
    /// The scheduler whose process runs on this thread; null while none does.
    static RUNNING: Cell<*const ()> = const { Cell::new(null()) };
}

/// Marks a scheduler as the running one of this thread for as long as it lives.
pub struct Running(*const ());

impl Running {
    /// Marks `scheduler`.
    pub fn enter<S>(scheduler: &S) -> Self {
        Self(RUNNING.replace(from_ref(scheduler).cast()))
    }

    /// Says that no process runs.
    pub fn none() -> Self {
        Self(RUNNING.replace(null()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// True if a process of `scheduler` runs on this thread.
#[inline(always)]
pub fn is_running<S>(scheduler: &S) -> bool {
    std::ptr::eq(RUNNING.get(), from_ref(scheduler).cast())
}
