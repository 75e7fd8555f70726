//! Locks with their data, and what waits below one.

use super::guard::{Guard, LockResult, TryLockResult};
use crate::current::{here, machine};
use crate::machine::Limit;
use crate::memory::{AtomicOrder, Order};
use std::panic::Location;
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

/// The word of a lock that is held for writing; else it counts those who read.
const WRITER: u64 = u64::MAX;

/// Changes a word if `change` makes something of it; what it held, as an error if it did not.
pub(crate) fn change(
    cell: u16,
    order: AtomicOrder,
    what: &'static str,
    change: impl Fn(u64) -> Option<u64>,
) -> Result<u64, u64> {
    let before = machine().update(cell, order, what, 1, &change);
    if change(before).is_some() {
        Ok(before)
    } else {
        Err(before)
    }
}

/// As [`change`], and waits until it does something, or until the limit: `None` then.
pub(crate) fn change_within(
    cell: u16,
    order: AtomicOrder,
    what: &'static str,
    limit: Limit,
    to: impl Fn(u64) -> Option<u64>,
) -> Option<u64> {
    while !machine().times_out(limit) {
        match change(cell, order, what, &to) {
            Ok(before) => return Some(before),
            Err(before) if machine().wait_for_change(cell, before, limit) => {}
            Err(_) => break,
        }
    }
    None
}

/// As [`change`], which acquires.
fn attempt<G>(
    cell: u16,
    what: &'static str,
    to: impl Fn(u64) -> Option<u64>,
) -> Result<u64, TryLockError<G>> {
    machine()
        .look_below(cell, || change(cell, AtomicOrder::Acquire, what, to))
        .map_err(|_| TryLockError::WouldBlock)
}

/// As [`change_within`], without a limit.
#[track_caller]
fn wait_for(cell: u16, what: &'static str, to: impl Fn(u64) -> Option<u64>) {
    here().look_below(cell, || {
        change_within(cell, AtomicOrder::Acquire, what, Limit::Never, to)
    });
}

fn take(held: u64) -> Option<u64> {
    (held == 0).then_some(WRITER)
}

fn share(held: u64) -> Option<u64> {
    (held != WRITER).then(|| held + 1)
}

/// Who wrote lets go: by a store that releases.
fn free(word: u16) {
    machine().look_below(word, || machine().store(word, 0, Order::Ordered));
}

/// One of those who read lets go.
fn leave(word: u16) {
    let _ = machine().look_below(word, || {
        change(word, AtomicOrder::Release, "lets go of", |held| {
            Some(held - 1)
        })
    });
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
        #[derive(Debug)]
        pub struct $name<T: ?Sized> {
            word: u16,
            data: std::sync::$name<T>,
        }

        impl<T> $name<T> {
            /// A lock that nobody holds.
            #[track_caller]
            pub fn new(data: T) -> Self {
                Self {
                    word: machine().make_word(0, Location::caller()),
                    data: std::sync::$name::new(data),
                }
            }

            /// The data.
            ///
            /// # Errors
            /// Never.
            pub fn into_inner(self) -> LockResult<T> {
                self.data.into_inner()
            }

            /// The data, which nobody else can reach.
            ///
            /// # Errors
            /// Never.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.data.get_mut()
            }
        }

        impl<T: Default> Default for $name<T> {
            #[track_caller]
            fn default() -> Self {
                Self::new(T::default())
            }
        }
    };
}
lock!(
    Mutex,
    "A `std::sync::Mutex`: one word. Who finds it taken waits until the word changes.

```
use interleavings::sync::{Arc, Mutex};
use interleavings::thread;

interleavings::model(|| {
    let count = Arc::new(Mutex::new(0));
    let other = count.clone();
    let adds = thread::spawn(move || *other.lock().unwrap() += 1);
    *count.lock().unwrap() += 1;
    adds.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
});
```"
);
lock!(
    RwLock,
    "A `std::sync::RwLock`: one word, which counts readers or says that somebody writes.

```
use interleavings::sync::{Arc, RwLock};
use interleavings::thread;

interleavings::model(|| {
    let pair = Arc::new(RwLock::new((0, 0)));
    let other = pair.clone();
    let writes = thread::spawn(move || *other.write().unwrap() = (1, 1));
    let (left, right) = *pair.read().unwrap();
    assert_eq!(left, right);
    writes.join().unwrap();
});
```"
);

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock, and waits for it if need be.
    ///
    /// # Errors
    /// Never.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        wait_for(self.word, "takes the lock", take);
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
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        wait_for(self.word, "reads below", share);
        Ok(Guard::new((), self.word, leave, self.data.try_read()))
    }

    /// Takes the lock for writing, and waits until nobody has it.
    ///
    /// # Errors
    /// Never.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        wait_for(self.word, "writes below", take);
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

/// A `std::sync::Condvar`: a word with the numbers of the threads that wait, as a queue. Who waits
/// first is told first, and nobody wakes without being told.
///
/// ```
/// use interleavings::sync::{Arc, Condvar, Mutex};
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let pair = Arc::new((Mutex::new(false), Condvar::new()));
///     let other = pair.clone();
///     let tells = thread::spawn(move || {
///         *other.0.lock().unwrap() = true;
///         other.1.notify_one();
///     });
///     let told = pair.1.wait_while(pair.0.lock().unwrap(), |told| !*told).unwrap();
///     assert!(*told);
///     drop(told);
///     tells.join().unwrap();
/// });
/// ```
#[derive(Debug)]
pub struct Condvar(u16);

/// Whether a wait ended by its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// True if the wait ended by its time.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// The lock again, and how the wait ended.
type Waited<'m, T> = (MutexGuard<'m, T>, WaitTimeoutResult);

/// Bits of a number in the queue; the first one is the lowest.
const NUMBER: u32 = 5;
/// Threads that may wait for a condition at a time.
const MOST_WAITING: u32 = u64::BITS / NUMBER;

fn come(queue: u64, number: u64) -> Option<u64> {
    let behind = (u64::BITS - queue.leading_zeros()).div_ceil(NUMBER);
    assert!(
        behind < MOST_WAITING,
        "at most {MOST_WAITING} threads wait for a condition at a time"
    );
    Some(queue | number << (NUMBER * behind))
}

/// The queue without a number, if it is there.
fn go(queue: u64, number: u64) -> Option<u64> {
    let bit = |place| NUMBER * place;
    let place =
        (0..MOST_WAITING).find(|&place| queue >> bit(place) & ((1 << NUMBER) - 1) == number)?;
    let before = queue & ((1 << bit(place)) - 1);
    Some(before | queue >> bit(place + 1) << bit(place))
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
    #[track_caller]
    pub fn wait<'m, T: ?Sized>(&self, guard: MutexGuard<'m, T>) -> LockResult<MutexGuard<'m, T>> {
        Ok(self.wait_within(guard, Limit::Never).0)
    }

    /// As [`Condvar::wait`], but its time may end at any moment.
    ///
    /// # Errors
    /// Never.
    pub fn wait_timeout<'m, T: ?Sized>(
        &self,
        guard: MutexGuard<'m, T>,
        _: Duration,
    ) -> LockResult<Waited<'m, T>> {
        Ok(self.wait_within(guard, Limit::Time))
    }

    #[track_caller]
    fn wait_within<'m, T: ?Sized>(&self, guard: MutexGuard<'m, T>, limit: Limit) -> Waited<'m, T> {
        let lock = guard.lock;
        let number = here().process() as u64 + 1;
        let _ = change(
            self.0,
            AtomicOrder::Acquire,
            "begins to wait for",
            |queue| come(queue, number),
        );
        drop(guard);
        let told = change_within(self.0, AtomicOrder::Acquire, "waits for", limit, |queue| {
            go(queue, number).is_none().then_some(queue)
        })
        .is_some();
        // It may be told in the last moment.
        let ended = !told
            && change(
                self.0,
                AtomicOrder::Acquire,
                "waits no longer for",
                |queue| go(queue, number),
            )
            .is_ok();
        (
            lock.lock().unwrap_or_else(PoisonError::into_inner),
            WaitTimeoutResult(ended),
        )
    }

    /// Waits while `condition` says so.
    ///
    /// # Errors
    /// Never.
    #[track_caller]
    pub fn wait_while<'m, T: ?Sized>(
        &self,
        guard: MutexGuard<'m, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'m, T>> {
        Ok(self.wait_while_within(guard, Limit::Never, condition).0)
    }

    /// As [`Condvar::wait_while`], but its time may end at any moment.
    ///
    /// # Errors
    /// Never.
    pub fn wait_timeout_while<'m, T: ?Sized>(
        &self,
        guard: MutexGuard<'m, T>,
        _: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<Waited<'m, T>> {
        Ok(self.wait_while_within(guard, Limit::Time, condition))
    }

    #[track_caller]
    fn wait_while_within<'m, T: ?Sized>(
        &self,
        guard: MutexGuard<'m, T>,
        limit: Limit,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> Waited<'m, T> {
        let mut waited = (guard, WaitTimeoutResult(false));
        while condition(&mut waited.0) {
            if waited.1.timed_out() {
                return waited;
            }
            waited = self.wait_within(waited.0, limit);
        }
        (waited.0, WaitTimeoutResult(false))
    }

    /// Wakes one of the threads that wait.
    pub fn notify_one(&self) {
        self.tell("tells one of those who wait for", |queue| queue >> NUMBER);
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        self.tell("tells all who wait for", |_| 0);
    }

    /// Leaves a part of the queue, if somebody waits.
    fn tell(&self, what: &'static str, rest: fn(u64) -> u64) {
        let _ = change(self.0, AtomicOrder::Release, what, |queue| {
            (queue != 0).then(|| rest(queue))
        });
    }
}
