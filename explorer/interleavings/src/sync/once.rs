//! What is done once.

use super::locks::{Condvar, Mutex, change};
use crate::current::machine;
use crate::machine::Limit;
use crate::memory::{AtomicOrder, Order};
use std::ops::Deref;
use std::panic::Location;

const RUNS: u64 = 1;
const DONE: u64 = 2;

/// A `std::sync::Once`: a word.
///
/// ```
/// use interleavings::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use interleavings::sync::{Arc, Once};
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let once = Arc::new((Once::new(), AtomicU32::new(0)));
///     let set = |(once, count): &(Once, AtomicU32)| once.call_once(|| _ = count.fetch_add(1, Relaxed));
///     let other = once.clone();
///     let sets = thread::spawn(move || set(&other));
///     set(&once);
///     sets.join().unwrap();
///     assert_eq!(once.1.load(Relaxed), 1);
/// });
/// ```
#[derive(Debug)]
pub struct Once(u16);

impl Once {
    /// A `Once` whose work was not done yet.
    #[allow(clippy::new_without_default)]
    #[track_caller]
    pub fn new() -> Self {
        Self(machine().make_word(0, Location::caller()))
    }

    /// Does `work`, or waits until another thread has done it.
    pub fn call_once(&self, work: impl FnOnce()) {
        loop {
            match change(self.0, AtomicOrder::Acquire, "begins", |state| {
                (state == 0).then_some(RUNS)
            }) {
                Ok(_) => {
                    work();
                    machine().store(self.0, DONE, Order::Ordered);
                    return;
                }
                Err(RUNS) => _ = machine().wait_for_change(self.0, RUNS, Limit::Never),
                Err(_) => return,
            }
        }
    }

    /// True if the work was done.
    pub fn is_completed(&self) -> bool {
        machine().load(self.0, machine().acquiring()) == DONE
    }
}

/// A `std::sync::OnceLock`.
///
/// ```
/// use interleavings::sync::{Arc, OnceLock};
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let value = Arc::new(OnceLock::new());
///     let other = value.clone();
///     let makes = thread::spawn(move || *other.get_or_init(|| 1));
///     let ours = *value.get_or_init(|| 2);
///     assert_eq!(makes.join().unwrap(), ours);
/// });
/// ```
#[derive(Debug)]
pub struct OnceLock<T> {
    once: Once,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// A value that is not there yet.
    #[allow(clippy::new_without_default)]
    #[track_caller]
    pub fn new() -> Self {
        Self {
            once: Once::new(),
            value: std::sync::OnceLock::new(),
        }
    }

    /// The value, if it is there.
    pub fn get(&self) -> Option<&T> {
        self.value.get().filter(|_| self.once.is_completed())
    }

    /// The value; makes it first if it is not there.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if !self.once.is_completed() {
            self.once.call_once(|| drop(self.value.set(make())));
        }
        self.value
            .get()
            .expect("what was done once has left its value")
    }

    /// Sets the value.
    ///
    /// # Errors
    /// It is there already: the other one.
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("a value is set once"));
        value.map_or(Ok(()), Err)
    }
}

/// A value that is made when it is first used, as `std::sync::LazyLock`.
#[derive(Debug)]
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: std::sync::Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that is made when it is first asked for.
    #[track_caller]
    pub fn new(make: F) -> Self {
        Self {
            value: OnceLock::new(),
            make: std::sync::Mutex::new(Some(make)),
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        let make = || {
            self.make
                .lock()
                .ok()
                .and_then(|mut make| make.take())
                .expect("a value is made once")
        };
        self.value.get_or_init(|| make()())
    }
}

/// A `std::sync::Barrier`, of the same parts: a lock, and a condition for it.
///
/// ```
/// use interleavings::sync::{Arc, Barrier};
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let barrier = Arc::new(Barrier::new(2));
///     let other = barrier.clone();
///     let waits = thread::spawn(move || other.wait().is_leader());
///     let leads = barrier.wait().is_leader();
///     assert_ne!(waits.join().unwrap(), leads);
/// });
/// ```
#[derive(Debug)]
pub struct Barrier {
    /// Those who have come, and how often it has opened.
    state: Mutex<(usize, usize)>,
    opens: Condvar,
    threads: usize,
}

/// Whether a thread was the last that came.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// True for one thread of those that waited.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier that opens when `threads` threads wait.
    #[track_caller]
    pub fn new(threads: usize) -> Self {
        Self {
            state: Mutex::new((0, 0)),
            opens: Condvar::new(),
            threads,
        }
    }

    /// Waits until the barrier opens.
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let opened = state.1;
        state.0 += 1;
        if state.0 < self.threads {
            let _opened = self.opens.wait_while(state, |state| state.1 == opened);
            return BarrierWaitResult(false);
        }
        *state = (0, opened + 1);
        self.opens.notify_all();
        BarrierWaitResult(true)
    }
}
