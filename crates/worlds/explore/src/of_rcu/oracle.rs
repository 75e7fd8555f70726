//! The invariants of RCU, which hold whatever happens: the check watches from outside, and takes no
//! operation.

use std::cell::{Cell, RefCell};
use stopwatt_explore::subject::Invariant;

#[derive(Clone, Copy)]
struct Queued {
    /// The moment at which it was queued.
    at: u64,
    invoked: bool,
    /// The object that it frees.
    object: usize,
}

/// Moments are numbered in the order in which things happen.
#[derive(Default)]
pub(crate) struct Oracle {
    moment: Cell<u64>,
    /// For each reader, the moment at which its read section started.
    reads_since: RefCell<Vec<Option<u64>>>,
    queued: RefCell<Vec<Queued>>,
    left: Cell<usize>,
    freed: RefCell<Vec<bool>>,
}

/// The invariant that broke, and how.
pub(crate) type Broken = (Invariant, String);

impl Oracle {
    /// Forgets a run; takes the number of readers, and objects that are there from the start.
    pub(crate) fn begin(&self, readers: usize, objects: usize) {
        self.moment.set(0);
        self.left.set(0);
        self.queued.borrow_mut().clear();
        let mut reads = self.reads_since.borrow_mut();
        reads.clear();
        reads.resize(readers, None);
        let mut freed = self.freed.borrow_mut();
        freed.clear();
        freed.resize(objects, false);
    }

    fn next_moment(&self) -> u64 {
        self.moment.set(self.moment.get() + 1);
        self.moment.get()
    }

    pub(crate) fn read_starts(&self, reader: usize) {
        self.reads_since.borrow_mut()[reader] = Some(self.next_moment());
    }

    pub(crate) fn read_ends(&self, reader: usize) {
        self.reads_since.borrow_mut()[reader] = None;
    }

    /// A new object.
    pub(crate) fn object(&self) -> usize {
        let mut freed = self.freed.borrow_mut();
        freed.push(false);
        freed.len() - 1
    }

    /// A reader looks at an object, which must not have been freed.
    pub(crate) fn look(&self, reader: usize, object: usize) -> Result<(), Broken> {
        match self.freed.borrow()[object] {
            true => Err((Invariant::ReadersSafe, format!("task {reader} looks at object {object}, which was freed"))),
            false => Ok(()),
        }
    }

    /// A callback is about to be queued that frees an object; returns its number.
    pub(crate) fn queue(&self, object: usize) -> usize {
        let at = self.next_moment();
        let mut queued = self.queued.borrow_mut();
        queued.push(Queued { at, invoked: false, object });
        self.left.set(self.left.get() + 1);
        queued.len() - 1
    }

    /// The number of callbacks that were not invoked yet.
    pub(crate) fn left(&self) -> usize {
        self.left.get()
    }

    /// A callback that has not been invoked, if there is one.
    pub(crate) fn one_left(&self) -> Option<usize> {
        self.queued.borrow().iter().position(|queued| !queued.invoked)
    }

    /// A callback is invoked: once, and not before all have ended who were reading when it was
    /// queued.
    pub(crate) fn invoke(&self, number: usize) -> Result<(), Broken> {
        let queued = {
            let mut all = self.queued.borrow_mut();
            let before = all[number];
            all[number].invoked = true;
            before
        };
        if queued.invoked {
            return Err((Invariant::InvokedOnce, format!("callback {number} is invoked twice")));
        }
        self.left.set(self.left.get() - 1);
        self.freed.borrow_mut()[queued.object] = true;
        let reads = self.reads_since.borrow();
        match reads.iter().position(|since| since.is_some_and(|since| since < queued.at)) {
            Some(reader) => Err((
                Invariant::ReadersSafe,
                format!("callback {number} is invoked while task {reader} reads since before it was queued"),
            )),
            None => Ok(()),
        }
    }
}
