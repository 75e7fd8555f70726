//! Offloading as in Linux 3.8 to 3.16: a thread per CPU takes what is queued, waits for a grace
//! period itself, and invokes.

use crate::callback::Callback;
use crate::cell::{SharedCell, SharedWord};
use crate::cpu::Cpu;
use crate::platform::{Platform, Step};
use crate::points;
use crate::sequence::after_a_whole_one;
use crate::state::Rcu;

impl<P: Platform> Rcu<P> {
    /// Queues a callback for the thread, and wakes it if the queue was empty, or when it is too
    /// long.
    pub(crate) fn enqueue_2013(&self, p: &P, cpu: &Cpu<P>, callback: Callback) {
        cpu.offload_lock.acquire(p);
        let length = {
            let mut queue = cpu.queue.borrow_mut(p);
            queue.push_back(callback);
            queue.len() as u64
        };
        let too_long = length
            > cpu
                .overload_mark
                .get(p)
                .saturating_add(self.settings.qhimark);
        if length == 1 {
            cpu.overload_mark.set(p, 0);
        } else if too_long {
            cpu.overload_mark.set(p, length);
        }
        cpu.offload_lock.release(p);
        if (length == 1 || too_long)
            && let Some(thread) = cpu.waiter
        {
            ::points::stamp(p, points::OFFLOAD_WAKE, p.this_cpu() as u32);
            self.wake_offload(p, thread);
        }
    }

    /// A step of the thread of `cpu`: takes what is queued, looks whether the grace period has
    /// passed, or invokes one callback.
    pub(crate) fn step_2013(&self, p: &P, cpu: &Cpu<P>) -> Step {
        let Some(at) = cpu.batch_at.get(p) else {
            return self.take_queue(p, cpu);
        };
        // The sequence waited for is stored before the check, or the end could come in between.
        // Linux, `rcu_nocb_wait_gp()`: the barrier of `set_current_state()` before, `smp_mb()`
        // behind.
        cpu.waits_for.store(p, at);
        if self.nodes[cpu.leaf].sequence.load(p) < at {
            return Step::Sleep { until: None };
        }
        cpu.waits_for.store_relaxed(p, 0);
        self.invoke_one_of_batch(p, cpu);
        if cpu.batch.borrow(p).is_empty() {
            cpu.batch_at.set(p, None);
        }
        Step::Again
    }

    fn take_queue(&self, p: &P, cpu: &Cpu<P>) -> Step {
        cpu.offload_lock.acquire(p);
        let taken = core::mem::take(&mut *cpu.queue.borrow_mut(p));
        cpu.offload_lock.release(p);
        if taken.is_empty() {
            return Step::Sleep { until: None };
        }
        *cpu.batch.borrow_mut(p) = taken;
        let at = after_a_whole_one(self.sequence.load(p));
        cpu.batch_at.set(p, Some(at));
        self.request(p, cpu.leaf, at);
        Step::Again
    }

    /// Invokes the oldest callback that the calling thread has taken for `cpu`; whether there was
    /// one.
    pub(crate) fn invoke_one_of_batch(&self, p: &P, cpu: &Cpu<P>) -> bool {
        let left = cpu.batch.borrow(p).len() as u32;
        if left == 0 {
            return false;
        }
        if cpu.batch_size.get(p) == 0 {
            cpu.batch_size.set(p, left);
            ::points::stamp(p, points::BATCH_START, left);
        }
        let Some(callback) = cpu.batch.borrow_mut(p).pop_front() else {
            return false;
        };
        cpu.invoked_thread.update(p, |count| *count += 1);
        p.invoke(callback);
        if left == 1 {
            ::points::stamp(p, points::BATCH_END, cpu.batch_size.take(p));
        }
        true
    }
}
