//! The order in which a case declares that its CPUs reach the SCP.

use engine::Time;
use std::cell::{Cell, RefCell};

/// The conditions of a parallel suspend that cannot be predicted, declared: who does what first.
#[derive(Clone, Default, PartialEq)]
pub struct Order {
    /// The order in which CPUs reach the SCP; empty: whatever comes.
    pub scp: Vec<usize>,
    /// The CPU that owns the timer, and so wakes first; `None`: the first of `scp`, or whoever
    /// comes first.
    pub timer: Option<usize>,
    /// The order in which the timer's owner wakes the others; empty: by number.
    pub wakes: Vec<usize>,
}

/// The order that a case declares, and how far the iteration has come in it.
#[derive(Default)]
pub(crate) struct DeclaredOrder {
    cpus: RefCell<Vec<usize>>,
    /// The CPU that is to claim the timer first.
    timer: Cell<Option<usize>>,
    /// The order in which the timer's owner wakes the others; empty: by number.
    wakes: RefCell<Vec<usize>>,
    /// True if that CPU has claimed the timer.
    pub(crate) timer_claimed: Cell<bool>,
    /// When a CPU asked for its cluster's lock, by its number.
    pub(crate) lock_requests: RefCell<Vec<Option<Time>>>,
    /// When a CPU asked for the SCP's channel, by its number.
    pub(crate) channel_requests: RefCell<Vec<Option<Time>>>,
}

impl DeclaredOrder {
    /// Declares an order for a machine with `count` CPUs.
    pub(crate) fn declare(&self, order: &Order, count: usize) {
        let known = |cpus: &[usize]| -> Vec<usize> {
            let cpus = cpus.iter().copied();
            cpus.filter(|&cpu| cpu < count).collect()
        };
        let cpus = known(&order.scp);
        self.timer.set(
            order
                .timer
                .filter(|&cpu| cpu < count)
                .or(cpus.first().copied()),
        );
        self.cpus.replace(cpus);
        // Those that it does not name come last, so that each is woken.
        let mut wakes = known(&order.wakes);
        wakes.extend((0..count).filter(|cpu| !order.wakes.contains(cpu)));
        self.wakes.replace(wakes);
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

    /// The CPU that is to claim the timer first, if one is declared.
    pub(crate) fn timer(&self) -> Option<usize> {
        self.timer.get()
    }

    /// The CPU that the timer's owner wakes at a place.
    pub(crate) fn woken_at(&self, place: usize) -> usize {
        self.wakes.borrow().get(place).copied().unwrap_or(place)
    }

    /// The nearest CPU before `cpu` in the order, among those for which `counts` is true.
    pub(crate) fn before(&self, cpu: usize, counts: impl Fn(usize) -> bool) -> Option<usize> {
        let cpus = self.cpus.borrow();
        let place = cpus.iter().position(|&other| other == cpu)?;
        cpus[..place]
            .iter()
            .rev()
            .copied()
            .find(|&other| counts(other))
    }

    /// The first of the order who has not asked for the channel yet.
    pub(crate) fn next_to_send(&self) -> Option<usize> {
        let requests = self.channel_requests.borrow();
        self.cpus
            .borrow()
            .iter()
            .copied()
            .find(|&cpu| requests[cpu].is_none())
    }
}
