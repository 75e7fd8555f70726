//! Locks with their data, and what waits below one.

use super::guard::{Guard, LockResult, TryLockResult};
use crate::current::machine;
use crate::machine::Operation;
use crate::memory::{AtomicOrder, Order};
use std::fmt::{self, Debug, Formatter};
use std::panic::Location;
use std::sync::TryLockError;

/// The word of a lock that is held for writing; else it counts those who read.
const WRITER: u64 = u64::MAX;

/// Changes a word if `change` makes something of it; what it held, as an error if it did not.
pub(super) fn change(
    cell: u16,
    order: AtomicOrder,
    what: &'static str,
    change: impl Fn(u64) -> Option<u64>,
) -> Result<u64, u64> {
    let did = Operation::Update { cell, what, value: 1 };
    let before = machine().update(cell, order, did, 1, &change);
    if change(before).is_some() { Ok(before) } else { Err(before) }
}

/// As [`change`], which acquires, and waits until it does something.
pub(super) fn change_in_time(cell: u16, what: &'static str, to: impl Fn(u64) -> Option<u64>) -> u64 {
    loop {
        match change(cell, AtomicOrder::Acquire, what, &to) {
            Ok(before) => return before,
            Err(before) => machine().wait_for_change(cell, before),
        }
    }
}

/// As [`change`], which acquires.
fn attempt<G>(cell: u16, what: &'static str, to: impl Fn(u64) -> Option<u64>) -> Result<u64, TryLockError<G>> {
    change(cell, AtomicOrder::Acquire, what, to).map_err(|_| TryLockError::WouldBlock)
}

fn take(held: u64) -> Option<u64> {
    (held == 0).then_some(WRITER)
}

fn share(held: u64) -> Option<u64> {
    (held != WRITER).then(|| held + 1)
}

/// Who wrote lets go: by a store that releases.
fn free(word: u16) {
    machine().store(word, 0, Order::Ordered);
}

/// One of those who read lets go.
fn leave(word: u16) {
    let _ = change(word, AtomicOrder::Release, "lets go of", |held| Some(held - 1));
}

/// Holds a [`Mutex`] until it is dropped.
pub type MutexGuard<'m, T> = Guard<&'m Mutex<T>, std::sync::MutexGuard<'m, T>>;
/// Holds an [`RwLock`] for reading until it is dropped.
pub type RwLockReadGuard<'l, T> = Guard<(), std::sync::RwLockReadGuard<'l, T>>;
/// Holds an [`RwLock`] for writing until it is dropped.
pub type RwLockWriteGuard<'l, T> = Guard<(), std::sync::RwLockWriteGuard<'l, T>>;

macro_rules! lock {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        pub struct $name<T: ?Sized> {
            word: u16,
            data: std::sync::$name<T>,
        }

        impl<T> $name<T> {
            /// A lock that nobody holds.
            #[track_caller]
            pub fn new(data: T) -> Self {
                Self { word: machine().make_word(0, Location::caller()), data: std::sync::$name::new(data) }
            }

            /// The data.
            ///
            /// # Errors
            /// Never.
            pub fn into_inner(self) -> LockResult<T> {
                self.data.into_inner()
            }
        }

        impl<T: Default> Default for $name<T> {
            #[track_caller]
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T: ?Sized> Debug for $name<T> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("word", &self.word).finish_non_exhaustive()
            }
        }
    };
}
lock!(Mutex, "A `std::sync::Mutex`: one word. Who finds it taken waits until the word changes.");
lock!(RwLock, "A `std::sync::RwLock`: one word, which counts readers or says that somebody writes.");

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock, and waits for it if need be.
    ///
    /// # Errors
    /// Never.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        change_in_time(self.word, "takes the lock", take);
        Ok(Guard::new(self, self.word, free, self.data.try_lock()))
    }

    /// Takes the lock if nobody holds it.
    ///
    /// # Errors
    /// Somebody does.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        attempt(self.word, "takes the lock", take)?;
        Ok(Guard::new(self, self.word, free, self.data.try_lock()))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock for reading, and waits until nobody writes.
    ///
    /// # Errors
    /// Never.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        change_in_time(self.word, "reads below", share);
        Ok(Guard::new((), self.word, leave, self.data.try_read()))
    }

    /// Takes the lock for writing, and waits until nobody has it.
    ///
    /// # Errors
    /// Never.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        change_in_time(self.word, "writes below", take);
        Ok(Guard::new((), self.word, free, self.data.try_write()))
    }

    /// Takes the lock for reading if nobody writes.
    ///
    /// # Errors
    /// Somebody does.
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        attempt(self.word, "reads below", share)?;
        Ok(Guard::new((), self.word, leave, self.data.try_read()))
    }

    /// Takes the lock for writing if nobody has it.
    ///
    /// # Errors
    /// Somebody has it.
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        attempt(self.word, "writes below", take)?;
        Ok(Guard::new((), self.word, free, self.data.try_write()))
    }
}

/// A `std::sync::Condvar`: a word that counts those who have begun to wait, in its upper half, and
/// those who were told. Who waits first is told first, and nobody wakes without being told.
#[derive(Debug)]
pub struct Condvar(u16);

/// One more who waits.
const WAITING: u64 = 1 << 32;

fn told(word: u64) -> u64 {
    word % WAITING
}

impl Condvar {
    /// A condition that nobody waits for.
    #[allow(clippy::new_without_default)]
    #[track_caller]
    pub fn new() -> Self {
        Self(machine().make_word(0, Location::caller()))
    }

    /// Lets the lock go, waits until it is told, and takes the lock again.
    ///
    /// # Errors
    /// Never.
    pub fn wait<'m, T: ?Sized>(&self, guard: MutexGuard<'m, T>) -> LockResult<MutexGuard<'m, T>> {
        let lock = guard.lock;
        let began = change_in_time(self.0, "begins to wait for", |word| Some(word + WAITING));
        drop(guard);
        change_in_time(self.0, "waits for", |word| (told(word) > began / WAITING).then_some(word));
        lock.lock()
    }

    /// Waits while `condition` says so.
    ///
    /// # Errors
    /// Never.
    pub fn wait_while<'m, T: ?Sized>(
        &self,
        guard: MutexGuard<'m, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'m, T>> {
        let mut guard = guard;
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Tells one of those who wait.
    pub fn notify_one(&self) {
        let one = |word| (told(word) < word / WAITING).then_some(word + 1);
        let _ = change(self.0, AtomicOrder::Release, "tells one of those who wait for", one);
    }

    /// Tells all who wait.
    pub fn notify_all(&self) {
        let all = |word| Some(word - told(word) + word / WAITING);
        let _ = change(self.0, AtomicOrder::Release, "tells all who wait for", all);
    }
}
