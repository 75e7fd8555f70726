//! Queueing on an offloaded CPU in the modern form: the list under its lock, or the bypass list
//! when there is much to queue or it may wait.

use crate::callback::Callback;
use crate::cell::SharedCell;
use crate::cpu::Cpu;
use crate::group::deferred;
use crate::platform::Platform;
use crate::state::Rcu;

/// Seconds after which lazy callbacks are flushed. The CPUs of a group share a timer, and a round
/// that finds them too young starts it anew: so they may wait for nearly twice as long, as they do
/// in Linux.
pub(crate) const LAZY_S: u64 = 10;

impl<P: Platform> Rcu<P> {
    /// Queues a callback on an offloaded CPU.
    pub(crate) fn enqueue_modern(&self, p: &P, cpu: &Cpu<P>, callback: Callback, lazy: bool) {
        let now = p.jiffies();
        if self.may_queue_directly(cpu, now) && !lazy {
            cpu.offload_lock.acquire(p);
            let had_pending = cpu.list.borrow(p).pending();
            self.flush_bypass(p, cpu);
            cpu.list.borrow_mut(p).push(callback);
            return self.after_enqueue(p, cpu, !had_pending);
        }
        // Linux, `rcu_nocb_try_bypass()`: all of the bypass list's words are `READ_ONCE()` and
        // `WRITE_ONCE()`, and they are only written under its lock.
        let length = cpu.bypass_length.load_relaxed(p);
        let lazy_only = length == cpu.bypass_lazy.load_relaxed(p);
        if length > 0
            && (self.bypass_is_old(p, cpu, now, lazy_only, 1) || length >= self.settings.qhimark)
        {
            cpu.offload_lock.acquire(p);
            let had_pending = cpu.list.borrow(p).pending();
            self.flush_bypass(p, cpu);
            cpu.list.borrow_mut(p).push(callback);
            return self.after_enqueue(p, cpu, !had_pending);
        }
        cpu.count(|counters| counters.queued_bypass += 1);
        cpu.bypass_lock.acquire(p);
        let first = cpu.bypass.borrow(p).is_empty();
        cpu.bypass.borrow_mut(p).push_back(callback);
        cpu.bypass_length
            .store_relaxed(p, cpu.bypass_length.load_relaxed(p) + 1);
        if lazy {
            cpu.bypass_lazy
                .store_relaxed(p, cpu.bypass_lazy.load_relaxed(p) + 1);
        }
        if first {
            cpu.bypass_first.store_relaxed(p, now);
        }
        cpu.bypass_lock.release(p);
        // The thread may be asleep without a timer, or with one for lazy callbacks only.
        if first || (lazy_only && !lazy) {
            cpu.offload_lock.acquire(p);
            if cpu.list.borrow(p).pending() {
                cpu.offload_lock.release(p);
            } else {
                self.after_enqueue(p, cpu, true);
            }
        }
    }

    /// True if this CPU has not yet queued too many callbacks past the bypass list in this jiffy. A
    /// new jiffy forgives as many as one may queue.
    fn may_queue_directly(&self, cpu: &Cpu<P>, now: u64) -> bool {
        let limit = self.settings.direct_per_jiffy;
        let count = cpu.direct_count.get();
        let count = match cpu.direct_jiffy.replace(now) == now {
            true => count + 1,
            false => count.saturating_sub(limit).min(limit),
        };
        cpu.direct_count.set(count);
        count < limit
    }

    /// True if the bypass list has waited `jiffies` since its first callback, or ten seconds if all
    /// is lazy.
    pub(crate) fn bypass_is_old(
        &self,
        p: &P,
        cpu: &Cpu<P>,
        now: u64,
        lazy_only: bool,
        jiffies: u64,
    ) -> bool {
        let wait = if lazy_only {
            LAZY_S * self.settings.hz
        } else {
            jiffies
        };
        now >= cpu.bypass_first.load_relaxed(p) + wait
    }

    /// Moves the bypass list to the end of the list. Under `offload_lock`.
    pub(crate) fn flush_bypass(&self, p: &P, cpu: &Cpu<P>) {
        if cpu.bypass_length.load_relaxed(p) == 0 {
            return;
        }
        cpu.bypass_lock.acquire(p);
        let taken = core::mem::take(&mut *cpu.bypass.borrow_mut(p));
        cpu.bypass_length.store_relaxed(p, 0);
        cpu.bypass_lazy.store_relaxed(p, 0);
        cpu.bypass_lock.release(p);
        let mut list = cpu.list.borrow_mut(p);
        taken.into_iter().for_each(|callback| list.push(callback));
    }

    /// Wakes the group's thread if nothing waited before, or if the list is too long. Releases
    /// `offload_lock`, which the caller holds.
    fn after_enqueue(&self, p: &P, cpu: &Cpu<P>, nothing_waited: bool) {
        let bypass = cpu.bypass_length.load_relaxed(p);
        let lazy = cpu.bypass_lazy.load_relaxed(p);
        let in_list = cpu.list.borrow(p).len() as u64;
        let ready = cpu.list.borrow(p).done() > 0;
        let length = in_list + bypass;
        let too_long = length
            > cpu
                .overload_mark
                .get(p)
                .saturating_add(self.settings.qhimark);
        if nothing_waited || too_long {
            cpu.overload_mark.set(p, length);
        }
        let thread_sleeps = cpu.thread_sleeps.load_relaxed(p);
        cpu.offload_lock.release(p);
        if nothing_waited {
            // All waiting callbacks are lazy and in the bypass list: they may wait longer.
            if lazy > 0 && lazy == bypass {
                self.defer_wake(p, cpu.group, deferred::LAZY);
            } else if p.may_wake() {
                self.wake_group(p, cpu.group, false);
            } else {
                cpu.owes_wake.set(true);
                self.defer_wake(p, cpu.group, deferred::WAKE);
            }
        } else if too_long && (thread_sleeps || !ready) {
            cpu.owes_wake.set(true);
            self.defer_wake(p, cpu.group, deferred::FORCE);
        }
    }
}
