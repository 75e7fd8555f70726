//! The part of `std::thread` that tests use, by another path.

use crate::{
    current::{self, here, machine},
    machine::Limit,
    memory::AtomicOrder,
    sync::{change, change_within},
};
use std::{
    cell::RefCell,
    fmt::{self, Debug, Formatter},
    io,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

/// The result of [`JoinHandle::join`]: never an error, since a panic ends the run.
pub type Result<T> = std::thread::Result<T>;

/// A thread that was spawned.
pub struct JoinHandle<T> {
    thread: usize,
    result: Slot<T>,
}

/// Starts a thread: a CPU of its own. It sees all that its parent has seen and done.
///
/// # Panics
/// There are more than [`Config::threads`](crate::Config::threads).
///
/// ```
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let sums = thread::spawn(|| 1 + 1);
///     assert_eq!(sums.join().unwrap(), 2);
/// });
/// ```
pub fn spawn<T: 'static>(body: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    let (body, result) = body_of(body);
    JoinHandle::new(current::spawn(body), result)
}

/// The place of a thread's result.
type Slot<T> = Arc<Mutex<Option<T>>>;

/// What a thread does, and where it leaves its result.
fn body_of<'b, T: 'b>(body: impl FnOnce() -> T + 'b) -> (Box<dyn FnOnce() + 'b>, Slot<T>) {
    let result = Slot::default();
    let slot = Arc::clone(&result);
    let body = Box::new(move || {
        let value = body();
        if let Ok(mut slot) = slot.lock() {
            *slot = Some(value);
        }
    });
    (body, result)
}

/// Starts threads that end before the call that made it returns, as `std::thread::Scope`.
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    /// The threads that nobody has waited for at the end.
    threads: RefCell<Vec<usize>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A thread of a scope, as `std::thread::ScopedJoinHandle`.
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T>(JoinHandle<T>, PhantomData<&'scope ()>);

/// Hands a scope to `work`, and waits until the threads have ended that were started in it.
///
/// ```
/// use interleavings::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let count = AtomicU32::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| count.fetch_add(1, Relaxed));
///         scope.spawn(|| count.fetch_add(1, Relaxed));
///     });
///     assert_eq!(count.load(Relaxed), 2);
/// });
/// ```
pub fn scope<'env, T>(work: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
    let scope = Scope {
        threads: RefCell::default(),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| work(&scope)))
        .unwrap_or_else(|payload| machine().fail_by_panic(&*payload));
    // Those that have ended may have started others.
    while let Some(thread) = scope.threads.borrow_mut().pop() {
        machine().wait_for_process(thread);
    }
    result
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread that borrows what lives longer than the scope.
    ///
    /// # Panics
    /// There are more than [`Config::threads`](crate::Config::threads).
    #[expect(
        unsafe_code,
        reason = "the compiler cannot see that the thread ends first"
    )]
    pub fn spawn<T: 'scope>(
        &'scope self,
        body: impl FnOnce() -> T + 'scope,
    ) -> ScopedJoinHandle<'scope, T> {
        let (body, result) = body_of(body);
        // SAFETY: `scope` returns after the thread has ended, and does not unwind before: a panic
        // within ends the run where it stands. What a run that ends early leaves behind, a body
        // that never ran or a frame in the middle of one, neither runs again nor is dropped.
        let body =
            unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'scope>, Box<dyn FnOnce()>>(body) };
        let thread = current::spawn(body);
        self.threads.borrow_mut().push(thread);
        ScopedJoinHandle(JoinHandle::new(thread, result), PhantomData)
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// The thread that the handle joins.
    pub fn thread(&self) -> Thread {
        self.0.thread()
    }

    /// As [`JoinHandle::join`].
    ///
    /// # Errors
    /// Never.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.0.join()
    }
}

/// Makes threads, as `std::thread::Builder`.
#[derive(Debug, Default)]
pub struct Builder;

impl Builder {
    /// A builder of a thread without a name.
    pub fn new() -> Self {
        Self
    }

    /// Takes a name, which changes nothing.
    #[must_use]
    pub fn name(self, _: String) -> Self {
        self
    }

    /// Takes a size of the stack, which changes nothing.
    #[must_use]
    pub fn stack_size(self, _: usize) -> Self {
        self
    }

    /// Starts a thread, as [`spawn`].
    ///
    /// # Errors
    /// Never.
    pub fn spawn<T: 'static>(
        self,
        body: impl FnOnce() -> T + 'static,
    ) -> io::Result<JoinHandle<T>> {
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
    /// No thread of a test runs.
    pub fn with<R>(&'static self, take: impl FnOnce(&T) -> R) -> R {
        let value = current::local(std::ptr::from_ref(self).addr(), || Rc::new((self.0)()));
        take(value.downcast_ref().expect("a key has values of one type"))
    }
}

/// `std::thread_local!` of the threads of a test.
///
/// ```
/// use interleavings::thread;
/// use std::cell::Cell;
///
/// interleavings::thread_local! {
///     static COUNT: Cell<u32> = Cell::new(0);
/// }
///
/// interleavings::model(|| {
///     let counts = thread::spawn(|| COUNT.with(|count| count.set(count.get() + 1)));
///     counts.join().unwrap();
///     assert_eq!(COUNT.with(Cell::get), 0);
/// });
/// ```
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

/// Waits until another thread unparks this one, unless one already has.
///
/// ```
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let main = thread::current();
///     let wakes = thread::spawn(move || main.unpark());
///     thread::park();
///     wakes.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn park() {
    park_within(current::token(here().process()), Limit::Never);
}

/// As [`park`]; the time may also end, at any moment.
#[track_caller]
pub fn park_timeout(_: Duration) {
    park_within(current::token(machine().process()), Limit::Time);
}

fn park_within(cell: u16, limit: Limit) {
    let take = |token| (token == 1).then_some(0);
    if change_within(cell, AtomicOrder::Acquire, "parks at", limit, take).is_none() {
        let _ = change(cell, AtomicOrder::Acquire, "parks no longer at", take);
    }
}

/// Lets other threads go first, for as long as they like.
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
        machine().update(cell, AtomicOrder::Release, "unparks at", 1, &|_| Some(1));
    }
}

/// Lets another thread go, if one can.
#[track_caller]
pub fn yield_now() {
    here().yields();
}

impl<T> JoinHandle<T> {
    fn new(thread: usize, result: Slot<T>) -> Self {
        Self { thread, result }
    }

    /// The thread that the handle joins.
    pub fn thread(&self) -> Thread {
        Thread(self.thread)
    }

    /// Waits until the thread has ended, sees all that it has done, and returns what it returned.
    ///
    /// # Errors
    /// Never.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        here().wait_for_process(self.thread);
        let value = self.result.lock().ok().and_then(|mut slot| slot.take());
        Ok(value.expect("a thread that has ended has left its result"))
    }
}

impl<T> Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.thread)
    }
}
