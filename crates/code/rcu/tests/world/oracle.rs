//! What must hold, whatever happens: it watches from outside, and takes no time.

use std::cell::{Cell, RefCell};

#[derive(Clone, Copy)]
struct Queued {
    /// The moment at which it was queued.
    at: u64,
    invoked: bool,
    /// What it frees.
    object: usize,
}

/// Moments are numbered in the order in which things happen.
#[derive(Default)]
pub struct Oracle {
    moment: Cell<u64>,
    /// For each task, the moment at which its read section started.
    reads_since: RefCell<Vec<Option<u64>>>,
    queued: RefCell<Vec<Queued>>,
    left: Cell<u64>,
    freed: RefCell<Vec<bool>>,
    failure: RefCell<Option<String>>,
}

impl Oracle {
    fn next_moment(&self) -> u64 {
        self.moment.set(self.moment.get() + 1);
        self.moment.get()
    }

    /// Keeps the first failure.
    pub fn fail(&self, what: impl FnOnce() -> String) {
        self.failure.borrow_mut().get_or_insert_with(what);
    }

    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    pub fn failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    pub fn read_starts(&self, task: usize) {
        let now = self.next_moment();
        let mut reads = self.reads_since.borrow_mut();
        if reads.len() <= task {
            reads.resize(task + 1, None);
        }
        reads[task] = Some(now);
    }

    pub fn read_ends(&self, task: usize) {
        self.reads_since.borrow_mut()[task] = None;
    }

    /// A new object.
    pub fn object(&self) -> usize {
        self.freed.borrow_mut().push(false);
        self.freed.borrow().len() - 1
    }

    /// A task reads an object, which must not have been freed.
    pub fn read(&self, task: usize, object: usize) {
        if self.freed.borrow()[object] {
            self.fail(|| format!("task {task} reads object {object}, which was freed"));
        }
    }

    /// A callback is about to be queued that frees an object; returns its number.
    pub fn queue(&self, object: usize) -> u64 {
        let queued = Queued { at: self.next_moment(), invoked: false, object };
        self.queued.borrow_mut().push(queued);
        self.left.set(self.left.get() + 1);
        self.callbacks() - 1
    }

    pub fn callbacks(&self) -> u64 {
        self.queued.borrow().len() as u64
    }

    /// Callbacks that were not invoked yet.
    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// A callback that has not been invoked, if there is one.
    pub fn one_left(&self) -> Option<usize> {
        self.queued.borrow().iter().position(|queued| !queued.invoked)
    }

    /// A callback is invoked: once, and not before all have ended who were reading when it was queued.
    pub fn invoke(&self, number: u64) {
        let queued = {
            let mut all = self.queued.borrow_mut();
            let queued = &mut all[number as usize];
            let before = *queued;
            queued.invoked = true;
            before
        };
        if queued.invoked {
            return self.fail(|| format!("callback {number} was invoked twice"));
        }
        self.left.set(self.left.get() - 1);
        self.freed.borrow_mut()[queued.object] = true;
        let reads = self.reads_since.borrow();
        if let Some(task) = reads.iter().position(|since| since.is_some_and(|since| since < queued.at)) {
            self.fail(|| format!("callback {number} was invoked while task {task} reads since before it was queued"));
        }
    }
}
