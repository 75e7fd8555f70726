//! The declared order: the conditions of a published run that its tables do not predict, enforced.
//!
//! A case may declare in which order CPUs reached the SCP. The machine then sees to three things, and to nothing else:
//! the first of the order owns the timer, CPUs of a cluster ask for its lock in the order, and CPUs go to the SCP's channel
//! in the order. What a CPU is kept back for shows as a cause of its own.

use crate::Soc;
use crate::log::points;
use crate::system::Waiting;
use engine::Time;
use std::cell::{Cell, RefCell};

/// An order and how far a case has come in it.
#[derive(Default)]
pub(crate) struct DeclaredOrder {
    cpus: RefCell<Vec<usize>>,
    /// How many have the channel, or had it.
    sent: Cell<usize>,
    claimed: Cell<bool>,
    /// When a CPU asked for its cluster's lock, by its number.
    asked: RefCell<Vec<Option<Time>>>,
}

impl DeclaredOrder {
    /// Declares an order for a machine with `count` CPUs; empty: there is none.
    pub(crate) fn declare(&self, cpus: &[usize], count: usize) {
        self.cpus.replace(cpus.to_vec());
        self.asked.replace(vec![None; count]);
    }

    /// Starts an iteration.
    pub(crate) fn begin(&self) {
        self.sent.set(0);
        self.claimed.set(false);
        self.asked.borrow_mut().fill(None);
    }

    fn holds(&self, cpu: usize) -> bool {
        self.cpus.borrow().contains(&cpu)
    }

    fn first(&self) -> Option<usize> {
        self.cpus.borrow().first().copied()
    }

    /// Who goes to the channel next.
    pub(crate) fn next_to_send(&self) -> Option<usize> {
        self.cpus.borrow().get(self.sent.get()).copied()
    }

    fn must_wait_to_send(&self, cpu: usize) -> bool {
        let cpus = self.cpus.borrow();
        let left = &cpus[self.sent.get().min(cpus.len())..];
        left.contains(&cpu) && left[0] != cpu
    }
}

impl Soc {
    fn keep_back(&self, while_true: impl Fn() -> bool) {
        if !while_true() {
            return;
        }
        self.stamp(points::ORDER_WAIT, 0);
        while while_true() {
            self.waiting(Waiting::Order);
        }
        self.stamp(points::ORDER_WAIT_END, 0);
    }

    fn let_go(&self, go: impl Fn(usize) -> bool) {
        for cpu in (0..self.cpus.len()).filter(|&cpu| self.cpus[cpu].waiting.get() == Waiting::Order && go(cpu)) {
            self.scheduler.wake(cpu);
        }
    }

    /// Before a CPU claims the timer: the first of the order does so first.
    pub(crate) fn let_the_first_claim(&self) {
        let cpu = self.this_cpu_index();
        let order = &self.order;
        if order.first() == Some(cpu) {
            order.claimed.set(true);
            self.let_go(|other| order.holds(other));
        } else if order.holds(cpu) {
            while !order.claimed.get() {
                self.waiting(Waiting::Order);
            }
        }
    }

    /// Before a suspend asks for its cluster's lock: the CPU before it in the order and the cluster has its ticket.
    pub(crate) fn ask_in_order(&self) {
        let cpu = self.this_cpu_index();
        let before = {
            let cpus = self.order.cpus.borrow();
            let same = |&&other: &&usize| self.cpus[other].cluster == self.cpus[cpu].cluster;
            let Some(place) = cpus.iter().position(|&other| other == cpu) else { return };
            cpus[..place].iter().rev().find(same).copied()
        };
        if let Some(before) = before {
            let asked = || self.order.asked.borrow()[before];
            self.keep_back(|| asked().is_none());
            // What a bakery takes to write a ticket: a store, a load of each other word, a store.
            let assumed = &self.machine.platform.assumed;
            let access = self.memory_access() + assumed.barrier + 2 * assumed.cached_access;
            let has_ticket = asked().unwrap_or(0) + (self.cpus.len() as u64 + 1) * access;
            if let Some(left) = has_ticket.checked_sub(self.scheduler.now()).filter(|&left| left > 0) {
                self.stamp(points::ORDER_WAIT, 0);
                self.advance(left);
                self.stamp(points::ORDER_WAIT_END, 0);
            }
        }
        self.order.asked.borrow_mut()[cpu] = Some(self.scheduler.now());
        self.let_go(|other| other != cpu);
    }

    /// Before a CPU asks for the channel: all that the order puts before it have had it.
    pub(crate) fn send_in_order(&self) {
        let cpu = self.this_cpu_index();
        self.keep_back(|| self.order.must_wait_to_send(cpu));
    }

    /// The CPU has the channel: the next of the order may ask for it.
    pub(crate) fn sends_now(&self) {
        if self.order.next_to_send() == Some(self.this_cpu_index()) {
            self.order.sent.set(self.order.sent.get() + 1);
            self.let_go(|other| self.order.next_to_send() == Some(other));
        }
    }
}
