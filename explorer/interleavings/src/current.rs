//! The machine that a test with types like those of std runs on.

use crate::machine::{Machine, OnMachine, Wait};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::Location;
use std::rc::Rc;

type Body = Box<dyn FnOnce()>;

thread_local! {
    static MACHINE: Cell<Option<&'static Machine>> = const { Cell::new(None) };
    /// The bodies of threads that have been spawned and have not started.
    static BODIES: RefCell<Vec<Option<Body>>> = const { RefCell::new(Vec::new()) };
    /// The words at which threads park, by thread.
    static TOKENS: RefCell<Vec<Option<u16>>> = const { RefCell::new(Vec::new()) };
    /// The values of `thread_local!`, by thread and by the address of their key.
    static LOCALS: RefCell<BTreeMap<(usize, usize), Rc<dyn Any>>> = const { RefCell::new(BTreeMap::new()) };
    /// Machines that no test uses at present.
    static IDLE: RefCell<Vec<(usize, &'static Machine)>> = const { RefCell::new(Vec::new()) };
}

/// The machine of the test that runs.
///
/// # Panics
/// None does.
#[track_caller]
pub(crate) fn machine() -> &'static Machine {
    MACHINE
        .get()
        .expect("this type is used inside of `interleavings::model` and `explore` only")
}

/// A machine of this many threads that lives on.
pub(crate) struct TestMachine(&'static Machine);

impl TestMachine {
    pub(crate) fn new(threads: usize) -> Self {
        let idle = IDLE.with_borrow_mut(|idle| {
            let at = idle.iter().position(|(of, _)| *of == threads)?;
            Some(idle.swap_remove(at).1)
        });
        // What lies in thrown-away frames may still name it, so it is never freed.
        let machine = idle.unwrap_or_else(|| Box::leak(Box::new(Machine::new(threads, &[], 1))));
        MACHINE.set(Some(machine));
        Self(machine)
    }
}

impl Drop for TestMachine {
    fn drop(&mut self) {
        MACHINE.set(None);
        std::mem::forget(BODIES.take());
        IDLE.with_borrow_mut(|idle| idle.push((self.0.cpus().len(), self.0)));
    }
}

impl OnMachine for TestMachine {
    fn machine(&self) -> &Machine {
        self.0
    }
}

/// Forgets threads of an earlier run.
pub(crate) fn begin(threads: usize) {
    TOKENS.replace(vec![None; threads]);
    // A run that was broken off has left its own, which may not act any more: what they borrow may
    // be gone.
    std::mem::forget(LOCALS.take());
    BODIES.with_borrow_mut(|bodies| {
        bodies
            .iter_mut()
            .for_each(|body| std::mem::forget(body.take()));
        bodies.resize_with(threads, || None);
    });
}

/// Starts another thread, and returns its number.
pub(crate) fn spawn(body: Body) -> usize {
    let machine = machine();
    machine.settle();
    let absent = |thread: &usize| machine.cpus()[*thread].waits() == Wait::Absent;
    let Some(thread) = (0..machine.cpus().len()).find(absent) else {
        panic!(
            "the test has more than {} threads: `Config::threads` allows more",
            machine.cpus().len()
        );
    };
    BODIES.with_borrow_mut(|bodies| bodies[thread] = Some(body));
    machine.start_process(thread);
    thread
}

/// The word at which a thread parks, for who parks or unparks there.
#[track_caller]
pub(crate) fn token(thread: usize) -> u16 {
    let place = Location::caller();
    TOKENS.with_borrow_mut(|tokens| {
        *tokens[thread].get_or_insert_with(|| machine().make_word(0, place))
    })
}

/// Does the work of a thread.
pub(crate) fn run(thread: usize) {
    if let Some(body) = BODIES.with_borrow_mut(|bodies| bodies[thread].take()) {
        body();
        end(thread);
    }
}

/// Drops what a thread has of `thread_local!`, as its last acts.
pub(crate) fn end(thread: usize) {
    let of_thread = |locals: &mut BTreeMap<_, _>| {
        let mut ended = locals.split_off(&(thread, 0));
        locals.append(&mut ended.split_off(&(thread + 1, 0)));
        ended
    };
    while let Some(ended) =
        Some(LOCALS.with_borrow_mut(of_thread)).filter(|ended| !ended.is_empty())
    {
        drop(ended);
    }
}

/// What the thread that runs has at a key, or else what `make` makes.
pub(crate) fn local(key: usize, make: impl FnOnce() -> Rc<dyn Any>) -> Rc<dyn Any> {
    let key = (machine().process(), key);
    if let Some(there) = LOCALS.with_borrow(|locals| locals.get(&key).cloned()) {
        return there;
    }
    let made = make();
    LOCALS.with_borrow_mut(|locals| locals.insert(key, made.clone()));
    made
}
