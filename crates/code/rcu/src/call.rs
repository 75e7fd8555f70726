//! Queueing a callback.

use crate::callback::{Callback, Urgency};
use crate::cell::SharedCell;
use crate::cpu::Cpu;
use crate::platform::Platform;
use crate::points;
use crate::settings::Form;
use crate::state::Rcu;

impl<P: Platform> Rcu<P> {
    /// Queues a callback on this CPU: it is invoked once, after a grace period that starts after
    /// this call. Not from an idle CPU outside of an interrupt.
    pub fn call(&self, p: &P, callback: Callback) {
        let cpu = self.this(p);
        let lazy = match self.settings.form {
            Form::Y2013 => callback.urgency == Urgency::Lazy,
            Form::Modern => {
                self.settings.lazy && cpu.offloaded && callback.urgency != Urgency::Hurry
            }
        };
        cpu.count(|counters| {
            counters.queued += 1;
            counters.queued_lazy += u64::from(lazy);
        });
        ::points::stamp(p, points::CALL, callback.function);
        // The caller may have hidden the object with a store that orders nothing. It comes before
        // the number of the grace period is read, or a reader that started after that grace period
        // still found the object. Linux: the barriers of `rcu_segcblist_add_len()`.
        p.barrier();
        self.enqueue(p, cpu, callback, lazy);
    }

    /// Puts a callback on the list that is this CPU's to use.
    pub(crate) fn enqueue(&self, p: &P, cpu: &Cpu<P>, callback: Callback, lazy: bool) {
        match self.settings.form {
            Form::Y2013 if cpu.offloaded => self.enqueue_2013(p, cpu, callback),
            Form::Modern if cpu.offloaded => self.enqueue_modern(p, cpu, callback, lazy),
            _ => {
                cpu.list.borrow_mut(p).push(callback);
                self.check_overload(p, cpu);
            }
        }
    }

    /// Hurries if this CPU has far more callbacks than when it last looked: invokes all that are
    /// ready at once, and makes the grace period end soon or start.
    fn check_overload(&self, p: &P, cpu: &Cpu<P>) {
        let length = cpu.list.borrow(p).len() as u64;
        if length
            <= cpu
                .overload_mark
                .get(p)
                .saturating_add(self.settings.qhimark)
        {
            return;
        }
        cpu.overload_mark.set(p, length);
        self.note_grace_periods(p, cpu);
        if self.grace_period_runs(p) {
            cpu.limit.set(p, u64::MAX);
            // Linux, `rcu_force_quiescent_state()`: `WRITE_ONCE()` of `gp_flags`, then the wake-up.
            self.force.store_relaxed(p, true);
            self.wake_grace_period_thread(p);
        } else {
            self.accelerate(p, cpu);
        }
    }
}
