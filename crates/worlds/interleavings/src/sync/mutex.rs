//! A lock with its data.

use crate::current::machine;
use crate::machine::Operation;
use crate::memory::{AtomicOrder, Order};
use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};

/// The result of [`Mutex::lock`]: never an error, since a panic ends the run.
pub type LockResult<G> = Result<G, std::sync::PoisonError<G>>;

/// A `std::sync::Mutex`: one word, taken by a compare-and-swap that acquires, and given up by a
/// store that releases. A thread that finds it taken waits until the word changes.
pub struct Mutex<T: ?Sized> {
    word: u16,
    data: std::sync::Mutex<T>,
}

/// Holds a [`Mutex`] until it is dropped.
pub struct MutexGuard<'m, T: ?Sized> {
    word: u16,
    // Dropped by hand, before the word says that the lock is free.
    data: Option<std::sync::MutexGuard<'m, T>>,
}

impl<T> Mutex<T> {
    /// A lock that nobody holds.
    pub fn new(data: T) -> Self {
        Self { word: machine().make_word(0), data: std::sync::Mutex::new(data) }
    }

    /// The data.
    ///
    /// # Errors
    /// Never.
    pub fn into_inner(self) -> LockResult<T> {
        self.data.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn take(&self) -> bool {
        let did = Operation::Update { cell: self.word, what: "takes the lock", value: 1 };
        machine().update(self.word, AtomicOrder::Acquire, did, 1, |held| (held == 0).then_some(1)) == 0
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        let data = self.data.try_lock().unwrap_or_else(|error| match error {
            std::sync::TryLockError::Poisoned(poisoned) => poisoned.into_inner(),
            std::sync::TryLockError::WouldBlock => unreachable!("the word says that the lock is free"),
        });
        MutexGuard { word: self.word, data: Some(data) }
    }

    /// Takes the lock, and waits for it if need be.
    ///
    /// # Errors
    /// Never.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        while !self.take() {
            machine().wait_for_change(self.word, 1);
        }
        Ok(self.guard())
    }

    /// Takes the lock if nobody holds it.
    ///
    /// # Errors
    /// Somebody does.
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, std::sync::TryLockError<MutexGuard<'_, T>>> {
        if self.take() { Ok(self.guard()) } else { Err(std::sync::TryLockError::WouldBlock) }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("a guard has its data until it is dropped")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_mut().expect("a guard has its data until it is dropped")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.data = None;
        // While the thread panics, the run is about to end.
        if !std::thread::panicking() {
            machine().store(self.word, 0, Order::Ordered);
        }
    }
}

impl<T: ?Sized> Debug for Mutex<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("word", &self.word).finish_non_exhaustive()
    }
}

impl<T: ?Sized + Debug> Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&**self, f)
    }
}
