//! The order in which a case declares that its CPUs reach the SCP.

use engine::Time;
use std::cell::{Cell, RefCell};

/// The order that a case declares, and how far the iteration has come in it.
#[derive(Default)]
pub(crate) struct DeclaredOrder {
    cpus: RefCell<Vec<usize>>,
    /// True if the first of the order has claimed the timer.
    pub(crate) timer_claimed: Cell<bool>,
    /// When a CPU asked for its cluster's lock, by its number.
    pub(crate) lock_requests: RefCell<Vec<Option<Time>>>,
    /// When a CPU asked for the SCP's channel, by its number.
    pub(crate) channel_requests: RefCell<Vec<Option<Time>>>,
}

impl DeclaredOrder {
    /// Declares an order for a machine with `count` CPUs; empty: there is none.
    pub(crate) fn declare(&self, cpus: &[usize], count: usize) {
        self.cpus.replace(cpus.iter().copied().filter(|&cpu| cpu < count).collect());
        self.lock_requests.replace(vec![None; count]);
        self.channel_requests.replace(vec![None; count]);
    }

    /// Starts an iteration.
    pub(crate) fn begin(&self) {
        self.timer_claimed.set(false);
        self.lock_requests.borrow_mut().fill(None);
        self.channel_requests.borrow_mut().fill(None);
    }

    /// True if the order names `cpu`.
    pub(crate) fn names(&self, cpu: usize) -> bool {
        self.cpus.borrow().contains(&cpu)
    }

    /// The first CPU of the order, if there is an order.
    pub(crate) fn first(&self) -> Option<usize> {
        self.cpus.borrow().first().copied()
    }

    /// The nearest CPU before `cpu` in the order, among those for which `counts` is true.
    pub(crate) fn before(&self, cpu: usize, counts: impl Fn(usize) -> bool) -> Option<usize> {
        let cpus = self.cpus.borrow();
        let place = cpus.iter().position(|&other| other == cpu)?;
        cpus[..place].iter().rev().copied().find(|&other| counts(other))
    }

    /// The first of the order who has not asked for the channel yet.
    pub(crate) fn next_to_send(&self) -> Option<usize> {
        let requests = self.channel_requests.borrow();
        self.cpus.borrow().iter().copied().find(|&cpu| requests[cpu].is_none())
    }
}
