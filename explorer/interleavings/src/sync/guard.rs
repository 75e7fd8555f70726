//! The guards of locks.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::TryLockError;

/// The result of taking a lock: never an error, since a panic ends the run.
pub type LockResult<G> = Result<G, std::sync::PoisonError<G>>;

/// The result of trying to take a lock: an error if somebody holds it.
pub type TryLockResult<G> = Result<G, TryLockError<G>>;

/// Holds a lock until it is dropped.
pub struct Guard<L, D> {
    pub(super) lock: L,
    word: u16,
    let_go: fn(u16),
    // Dropped by hand, before the word says that the lock is free.
    data: Option<D>,
}

impl<L, D> Guard<L, D> {
    /// A guard of what a lock of std holds, which is free since the word says so.
    pub(super) fn new(lock: L, word: u16, let_go: fn(u16), data: TryLockResult<D>) -> Self {
        let data = data.unwrap_or_else(|error| match error {
            TryLockError::Poisoned(poisoned) => poisoned.into_inner(),
            TryLockError::WouldBlock => unreachable!("the word says that the lock is free"),
        });
        Self {
            lock,
            word,
            let_go,
            data: Some(data),
        }
    }
}

impl<L, D: Deref> Deref for Guard<L, D> {
    type Target = D::Target;

    fn deref(&self) -> &D::Target {
        self.data
            .as_ref()
            .expect("a guard has its data until it is dropped")
    }
}

impl<L, D: DerefMut> DerefMut for Guard<L, D> {
    fn deref_mut(&mut self) -> &mut D::Target {
        self.data
            .as_mut()
            .expect("a guard has its data until it is dropped")
    }
}

impl<L, D> Drop for Guard<L, D> {
    fn drop(&mut self) {
        self.data = None;
        // While the thread panics, the run is about to end.
        if !std::thread::panicking() {
            (self.let_go)(self.word);
        }
    }
}

impl<L, D: Deref<Target: Debug>> Debug for Guard<L, D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&**self, f)
    }
}
