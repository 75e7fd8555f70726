//! The declared order: the conditions of a published run that its tables do not predict, enforced.
//!
//! A case may declare in which order CPUs reached the SCP. The machine then sees to three things,
//! and to nothing else: the declared CPU owns the timer, CPUs of a cluster ask for its lock in the
//! order, and CPUs go to the SCP's channel in the order. The time for which a CPU waits for its
//! turn is a cause of its own in the recording.

use crate::Soc;
use crate::cpu::Waiting;
use crate::points;
use engine::Time;
use std::cell::RefCell;

impl Soc {
    /// Waits for the CPU's turn for as long as the condition holds, and stamps the wait.
    fn wait_while(&self, condition: impl Fn() -> bool) {
        if !condition() {
            return;
        }
        self.stamp(points::ORDER_WAIT, 0);
        while condition() {
            self.wait_for(Waiting::Order);
        }
        self.stamp(points::ORDER_WAIT_END, 0);
    }

    /// Wakes the CPUs that wait for their turn and for which `go` is true.
    fn wake_order_waiters(&self, go: impl Fn(usize) -> bool) {
        for cpu in (0..self.cpus.len())
            .filter(|&cpu| self.cpus[cpu].waiting.get() == Waiting::Order && go(cpu))
        {
            self.scheduler.wake(cpu);
        }
    }

    /// Called before a CPU claims the timer: waits until the CPU that is to own it has claimed it.
    pub(crate) fn claim_timer_in_order(&self) {
        let cpu = self.current_cpu_index();
        let order = &self.order;
        if order.timer() == Some(cpu) {
            order.timer_claimed.set(true);
            self.wake_order_waiters(|_| true);
        } else if order.timer().is_some() {
            while !order.timer_claimed.get() {
                self.wait_for(Waiting::Order);
            }
        }
    }

    /// Called before a suspend asks for its cluster's lock: waits until the CPU before it in the
    /// order, of the same cluster, has a ticket.
    pub(crate) fn ask_in_order(&self) {
        let cpu = self.current_cpu_index();
        let cluster = self.cpus[cpu].cluster;
        let before = self
            .order
            .before(cpu, |other| self.cpus[other].cluster == cluster);
        self.queue_behind(before, &self.order.lock_requests);
    }

    /// Called before a suspend asks for the SCP's channel: waits until the CPU before it in the
    /// order has a ticket.
    pub(crate) fn send_in_order(&self) {
        let before = self.order.before(self.current_cpu_index(), |_| true);
        self.queue_behind(before, &self.order.channel_requests);
    }

    /// Called where a suspend sends nothing: whoever comes after this CPU in the order need not
    /// wait for it.
    pub(crate) fn pass_in_order(&self) {
        let cpu = self.current_cpu_index();
        if self.order.names(cpu) {
            self.order.channel_requests.borrow_mut()[cpu] = Some(self.now());
            self.wake_order_waiters(|other| other != cpu);
        }
    }

    /// Waits until the CPU `before` this one has asked for the same lock and has had the time to
    /// write a ticket.
    fn queue_behind(&self, before: Option<usize>, requests: &RefCell<Vec<Option<Time>>>) {
        let cpu = self.current_cpu_index();
        if !self.order.names(cpu) {
            return;
        }
        if let Some(before) = before {
            self.wait_while(|| requests.borrow()[before].is_none());
            // What a bakery takes to write a ticket: a store, a load of each other word, a store.
            let assumed = &self.machine.platform.assumed;
            let access = self.memory_access() + assumed.barrier + 2 * assumed.cached_access;
            let has_ticket =
                requests.borrow()[before].unwrap_or(0) + (self.cpus.len() as u64 + 1) * access;
            if let Some(left) = has_ticket.checked_sub(self.now()).filter(|&left| left > 0) {
                self.stamp(points::ORDER_WAIT, 0);
                self.advance(left);
                self.stamp(points::ORDER_WAIT_END, 0);
            }
        }
        requests.borrow_mut()[cpu] = Some(self.now());
        self.wake_order_waiters(|other| other != cpu);
    }
}
