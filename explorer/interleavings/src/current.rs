//! The machine that a test with types like those of std runs on.

use crate::machine::{Machine, OnMachine, Wait};
use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::BTreeMap,
    panic::Location,
    rc::Rc,
};

type Body = Box<dyn FnOnce()>;

type Locals = BTreeMap<(usize, usize), Rc<dyn Any>>;

/// A machine, and what the threads of a test have on it.
struct Lasting {
    machine: Machine,
    /// The bodies of threads that have been spawned and have not started.
    bodies: RefCell<Vec<Option<Body>>>,
    /// The words at which threads park, by thread.
    tokens: RefCell<Vec<Option<u16>>>,
    /// The values of `thread_local!`, by thread and by the address of their key.
    locals: RefCell<Locals>,
}

thread_local! {
    /// The test that runs. Types like those of std are made and used without an argument, so they
    /// find it here; it is there while `explore` is.
    static CURRENT: Cell<Option<&'static Lasting>> = const { Cell::new(None) };
    /// Machines of tests that are over, for the next ones: no run is in them.
    static IDLE: RefCell<Vec<&'static Lasting>> = const { RefCell::new(Vec::new()) };
}

#[track_caller]
fn current() -> &'static Lasting {
    CURRENT
        .get()
        .expect("this type is used inside of `interleavings::model` and `explore` only")
}

/// The machine of the test that runs.
///
/// # Panics
/// None does.
#[track_caller]
pub fn machine() -> &'static Machine {
    &current().machine
}

/// As [`machine`], for an operation that may wait where the caller stands.
#[track_caller]
pub fn here() -> &'static Machine {
    let machine = machine();
    let place = &machine.cpus()[machine.process()].place;
    place.set(Some(Location::caller()));
    machine
}

/// As [`machine`], if a test runs.
pub fn running() -> Option<&'static Machine> {
    CURRENT.get().map(|test| &test.machine)
}

/// A machine of this many threads that lives on.
pub struct TestMachine(&'static Lasting);

impl TestMachine {
    pub fn new(threads: usize) -> Self {
        let idle = IDLE.with_borrow_mut(|idle| {
            let at = idle
                .iter()
                .position(|idle| idle.machine.cpus().len() == threads)?;
            Some(idle.swap_remove(at))
        });
        let new = || Lasting {
            machine: Machine::new(threads, &[], 1),
            bodies: RefCell::default(),
            tokens: RefCell::default(),
            locals: RefCell::default(),
        };
        // What lies in thrown-away frames may still name it, so it is never freed.
        let lasting = idle.unwrap_or_else(|| Box::leak(Box::new(new())));
        CURRENT.set(Some(lasting));
        Self(lasting)
    }
}

impl Drop for TestMachine {
    fn drop(&mut self) {
        CURRENT.set(None);
        std::mem::forget(self.0.bodies.take());
        IDLE.with_borrow_mut(|idle| idle.push(self.0));
    }
}

impl OnMachine for TestMachine {
    fn machine(&self) -> &Machine {
        &self.0.machine
    }
}

/// Forgets threads of an earlier run.
pub fn begin(threads: usize) {
    let test = current();
    let mut tokens = test.tokens.borrow_mut();
    tokens.clear();
    tokens.resize(threads, None);
    // A run that was broken off has left its own, which may not act any more: what they borrow may
    // be gone.
    std::mem::forget(test.locals.take());
    let mut bodies = test.bodies.borrow_mut();
    bodies
        .iter_mut()
        .for_each(|body| std::mem::forget(body.take()));
    bodies.resize_with(threads, || None);
}

/// Starts another thread, and returns its number.
pub fn spawn(body: Body) -> usize {
    let machine = machine();
    machine.settle();
    let Some(thread) =
        (0..machine.cpus().len()).find(|thread| machine.cpus()[*thread].waits() == Wait::Absent)
    else {
        panic!(
            "the test has more than {} threads: `Config::threads` allows more",
            machine.cpus().len()
        );
    };
    current().bodies.borrow_mut()[thread] = Some(body);
    machine.start_process(thread);
    thread
}

/// The word at which a thread parks, for who parks or unparks there.
#[track_caller]
pub fn token(thread: usize) -> u16 {
    let place = Location::caller();
    let mut tokens = current().tokens.borrow_mut();
    *tokens[thread].get_or_insert_with(|| machine().make_word(0, place))
}

/// Does the work of a thread.
pub fn run(thread: usize) {
    let body = current().bodies.borrow_mut()[thread].take();
    if let Some(body) = body {
        body();
        end(thread);
    }
}

/// Drops what a thread has of `thread_local!`, as its last acts.
pub fn end(thread: usize) {
    let ended = || {
        let mut locals = current().locals.borrow_mut();
        let mut ended = locals.split_off(&(thread, 0));
        locals.append(&mut ended.split_off(&(thread + 1, 0)));
        ended
    };
    while !current().locals.borrow().is_empty() && !ended().is_empty() {}
}

/// What the thread that runs has at a key, or else what `make` makes.
pub fn local(key: usize, make: impl FnOnce() -> Rc<dyn Any>) -> Rc<dyn Any> {
    let locals = &current().locals;
    let key = (machine().process(), key);
    if let Some(there) = locals.borrow().get(&key) {
        return there.clone();
    }
    let made = make();
    locals.borrow_mut().insert(key, made.clone());
    made
}
