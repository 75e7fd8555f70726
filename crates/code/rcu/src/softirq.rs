//! The tick and the softirq: where a CPU notices grace periods, reports, and invokes callbacks.

use crate::cell::SharedCell;
use crate::cpu::Cpu;
use crate::platform::Platform;
use crate::points;
use crate::reader::Reader;
use crate::state::Rcu;

/// The kind of code that a tick interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptedCode {
    /// User space.
    User,
    /// The kernel, on behalf of a task or in another interrupt.
    Kernel,
    /// The idle loop.
    Idle,
}

impl<P: Platform> Rcu<P> {
    /// The tick of this CPU, between [`Rcu::irq_enter`] and [`Rcu::irq_exit`]. `current` is the
    /// task that it interrupted. May raise the softirq.
    pub fn tick(&self, p: &P, interrupted: InterruptedCode, current: &Reader) {
        let cpu = self.this(p);
        let no_reader = self.settings.preemptible && !current.is_reading();
        if interrupted != InterruptedCode::Kernel || no_reader {
            cpu.quiescent.set(true);
        }
        self.check_stall(p);
        if self.work_to_do(p, cpu) {
            self.raise_softirq(p);
        }
    }

    /// True if the softirq would have anything to do.
    fn work_to_do(&self, p: &P, cpu: &Cpu<P>) -> bool {
        if cpu.needs_report.get() && cpu.quiescent.get() {
            return true;
        }
        if self.nodes[cpu.leaf].sequence.load_relaxed(p) != cpu.sequence.get() {
            return true;
        }
        if cpu.offloaded {
            return cpu.owes_wake.get();
        }
        let (done, unnumbered) = (
            cpu.list.borrow(p).done() > 0,
            cpu.list.borrow(p).unnumbered(),
        );
        done || (unnumbered && !self.grace_period_runs(p))
    }

    /// The softirq of this CPU. Returns whether callbacks are left that could be invoked: then it
    /// is to be raised again.
    pub fn core(&self, p: &P) -> bool {
        let cpu = self.this(p);
        cpu.count(|counters| counters.core_runs += 1);
        self.note_grace_periods(p, cpu);
        if cpu.needs_report.get() && cpu.quiescent.get() {
            self.report(p, cpu);
            // The grace period that runs could not end before: what came until now need not wait
            // for more than the next.
            if !cpu.offloaded {
                self.accelerate(p, cpu);
            }
        }
        if cpu.offloaded {
            self.wake_deferred(p, cpu);
            return false;
        }
        let unnumbered = cpu.list.borrow(p).unnumbered();
        if unnumbered && !self.grace_period_runs(p) {
            self.accelerate(p, cpu);
        }
        self.invoke_batch(p, cpu)
    }

    /// Invokes callbacks that are ready, up to the limit; returns whether some are left.
    fn invoke_batch(&self, p: &P, cpu: &Cpu<P>) -> bool {
        let ready = cpu.list.borrow(p).done();
        if ready == 0 {
            return false;
        }
        ::points::stamp(p, points::BATCH_START, ready as u32);
        let mut invoked = 0;
        while invoked < cpu.limit.get(p) {
            // The borrow ends before the callback runs, which may queue others.
            let Some(callback) = cpu.list.borrow_mut(p).pop_done() else {
                break;
            };
            cpu.count(|counters| counters.invoked_softirq += 1);
            p.invoke(callback);
            invoked += 1;
        }
        ::points::stamp(p, points::BATCH_END, invoked as u32);
        let length = cpu.list.borrow(p).len() as u64;
        if cpu.limit.get(p) == u64::MAX && length <= self.settings.qlowmark {
            cpu.limit.set(p, self.settings.blimit);
        }
        if length < cpu.overload_mark.get(p) {
            cpu.overload_mark.set(p, length);
        }
        cpu.list.borrow(p).done() > 0
    }
}
