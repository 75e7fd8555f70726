//! The part of `std::thread` that tests use, by another path.

use crate::current::{self, machine};
use crate::machine::{Limit, Operation};
use crate::memory::AtomicOrder;
use crate::sync::{change, change_within};
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

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

/// Makes threads, as `std::thread::Builder`. Names and sizes of stacks change nothing here.
#[derive(Debug, Default)]
pub struct Builder;

impl Builder {
    /// What has no name yet.
    pub fn new() -> Self {
        Self
    }

    /// The same.
    #[must_use]
    pub fn name(self, _: String) -> Self {
        self
    }

    /// The same.
    #[must_use]
    pub fn stack_size(self, _: usize) -> Self {
        self
    }

    /// Starts a thread, as [`spawn`].
    ///
    /// # Errors
    /// Never.
    pub fn spawn<T: 'static>(self, body: impl FnOnce() -> T + 'static) -> io::Result<JoinHandle<T>> {
        Ok(spawn(body))
    }
}

/// A value of each thread, as `std::thread::LocalKey`; made by
/// [`thread_local!`](crate::thread_local), and dropped when the thread has done its work.
#[derive(Debug)]
pub struct LocalKey<T: 'static>(fn() -> T);

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(make: fn() -> T) -> Self {
        Self(make)
    }

    /// Hands the value of the thread that runs to `take`.
    ///
    /// # Panics
    /// None does.
    pub fn with<R>(&'static self, take: impl FnOnce(&T) -> R) -> R {
        let value = current::local(std::ptr::from_ref(self).addr(), || Rc::new((self.0)()));
        take(value.downcast_ref().expect("a key has values of one type"))
    }
}

/// `std::thread_local!` of the threads of a test.
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attribute:meta])* $visible:vis static $name:ident: $of:ty = $value:expr);* $(;)?) => {
        $($(#[$attribute])* $visible static $name: $crate::thread::LocalKey<$of> =
            $crate::thread::LocalKey::new(|| $value);)*
    };
}

/// A thread, as `std::thread::Thread`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread(usize);

/// The thread that runs.
pub fn current() -> Thread {
    Thread(machine().process())
}

/// Waits until somebody unparks this thread, if nobody has.
#[track_caller]
pub fn park() {
    park_within(current::token(machine().process()), Limit::Never);
}

/// As [`park`], but its time may end at any moment.
#[track_caller]
pub fn park_timeout(_: Duration) {
    park_within(current::token(machine().process()), Limit::Time);
}

fn park_within(cell: u16, limit: Limit) {
    let take = |token| (token == 1).then_some(0);
    if change_within(cell, "parks at", limit, take).is_none() {
        let _ = change(cell, AtomicOrder::Acquire, "parks no longer at", take);
    }
}

/// A point at which others may go first, for as long as they like.
pub fn sleep(_: Duration) {
    machine().pause();
}

impl Thread {
    /// The number of the thread, 0 for the first one.
    pub fn id(&self) -> usize {
        self.0
    }

    /// Lets the thread go on, or pass by its next [`park`].
    #[track_caller]
    pub fn unpark(&self) {
        let cell = current::token(self.0);
        let did = Operation::Update { cell, what: "unparks at", value: 1 };
        machine().update(cell, AtomicOrder::Release, did, 1, |_| Some(1));
    }
}

/// Lets another thread go, if one can.
pub fn yield_now() {
    machine().yields();
}

impl<T> JoinHandle<T> {
    /// The thread.
    pub fn thread(&self) -> Thread {
        Thread(self.thread)
    }

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
