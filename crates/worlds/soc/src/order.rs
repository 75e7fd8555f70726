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
    claimed: Cell<bool>,
    /// When a CPU asked for its cluster's lock, by its number.
    asked: RefCell<Vec<Option<Time>>>,
    /// When a CPU asked for the SCP's channel.
    sent: RefCell<Vec<Option<Time>>>,
}

impl DeclaredOrder {
    /// Declares an order for a machine with `count` CPUs; empty: there is none.
    pub(crate) fn declare(&self, cpus: &[usize], count: usize) {
        self.cpus.replace(cpus.iter().copied().filter(|&cpu| cpu < count).collect());
        self.asked.replace(vec![None; count]);
        self.sent.replace(vec![None; count]);
    }

    /// Starts an iteration.
    pub(crate) fn begin(&self) {
        self.claimed.set(false);
        self.asked.borrow_mut().fill(None);
        self.sent.borrow_mut().fill(None);
    }

    fn holds(&self, cpu: usize) -> bool {
        self.cpus.borrow().contains(&cpu)
    }

    fn first(&self) -> Option<usize> {
        self.cpus.borrow().first().copied()
    }

    /// Who is before `cpu` in the order, among those that `counts`.
    fn before(&self, cpu: usize, counts: impl Fn(usize) -> bool) -> Option<usize> {
        let cpus = self.cpus.borrow();
        let place = cpus.iter().position(|&other| other == cpu)?;
        cpus[..place].iter().rev().copied().find(|&other| counts(other))
    }

    /// The first of the order who has not asked for the channel yet.
    pub(crate) fn next_to_send(&self) -> Option<usize> {
        let sent = self.sent.borrow();
        self.cpus.borrow().iter().copied().find(|&cpu| sent[cpu].is_none())
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
        let cluster = self.cpus[cpu].cluster;
        let before = self.order.before(cpu, |other| self.cpus[other].cluster == cluster);
        self.queue_behind(before, &self.order.asked);
    }

    /// Before a suspend asks for the SCP's channel: the CPU before it in the order has its ticket.
    pub(crate) fn send_in_order(&self) {
        let before = self.order.before(self.this_cpu_index(), |_| true);
        self.queue_behind(before, &self.order.sent);
    }

    /// Keeps the CPU back until the one `before` it has asked for the same lock, and has had the time to write a ticket.
    fn queue_behind(&self, before: Option<usize>, asked: &RefCell<Vec<Option<Time>>>) {
        let cpu = self.this_cpu_index();
        if !self.order.holds(cpu) {
            return;
        }
        if let Some(before) = before {
            self.keep_back(|| asked.borrow()[before].is_none());
            // What a bakery takes to write a ticket: a store, a load of each other word, a store.
            let assumed = &self.machine.platform.assumed;
            let access = self.memory_access() + assumed.barrier + 2 * assumed.cached_access;
            let has_ticket = asked.borrow()[before].unwrap_or(0) + (self.cpus.len() as u64 + 1) * access;
            if let Some(left) = has_ticket.checked_sub(self.scheduler.now()).filter(|&left| left > 0) {
                self.stamp(points::ORDER_WAIT, 0);
                self.advance(left);
                self.stamp(points::ORDER_WAIT_END, 0);
            }
        }
        asked.borrow_mut()[cpu] = Some(self.scheduler.now());
        self.let_go(|other| other != cpu);
    }
}
