//! Waking the thread of a group of offloaded CPUs, now or later.

use crate::bypass::LAZY_S;
use crate::cell::SharedCell;
use crate::cpu::Cpu;
use crate::group::deferred;
use crate::platform::{Platform, RcuTimer, Thread};
use crate::points;
use crate::state::Rcu;

impl<P: Platform> Rcu<P> {
    /// Wakes the group's thread if it sleeps, or in any case. A wake-up that was put off is not
    /// needed any more.
    pub(crate) fn wake_group(&self, p: &P, index: usize, force: bool) {
        let group = &self.groups[index];
        group.lock.acquire(p);
        // Linux, `__wake_nocb_gp()`: `WRITE_ONCE()` of both, under `nocb_gp_lock`.
        if group.deferred.load_relaxed(p) != deferred::NOT {
            group.deferred.store_relaxed(p, deferred::NOT);
            p.cancel_timer(RcuTimer { group: index });
        }
        let sleeps = group.sleeps.load_relaxed(p);
        let wake = sleeps || force;
        if sleeps {
            group.sleeps.store_relaxed(p, false);
        }
        group.lock.release(p);
        if wake {
            ::points::stamp(p, points::OFFLOAD_WAKE, group.leader() as u32);
            self.wake_offload(p, Thread::OffloadGp(index));
        }
    }

    /// Puts a wake-up of the group's thread off: 2 jiffies for a bypass list, 10 seconds for lazy
    /// callbacks, otherwise 1 jiffy. A stronger reason is not put off further by a weaker one.
    pub(crate) fn defer_wake(&self, p: &P, index: usize, how: u64) {
        let group = &self.groups[index];
        let now = p.jiffies();
        let timer = RcuTimer { group: index };
        group.lock.acquire(p);
        // Linux, `wake_nocb_gp_defer()`.
        let before = group.deferred.load_relaxed(p);
        match how {
            deferred::LAZY if before == deferred::NOT => {
                p.set_timer(timer, now + LAZY_S * self.settings.hz);
                group.deferred.store_relaxed(p, how);
            }
            deferred::LAZY => {}
            deferred::BYPASS => {
                p.set_timer(timer, now + 2);
                group.deferred.store_relaxed(p, how);
            }
            _ => {
                if before < deferred::WAKE {
                    p.set_timer(timer, now + 1);
                }
                group.deferred.store_relaxed(p, how.max(before));
            }
        }
        group.lock.release(p);
        self.this(p).count(|counters| counters.deferred_wakes += 1);
    }

    /// The timer fired, on whichever CPU.
    pub fn timer(&self, p: &P, timer: RcuTimer) {
        let Some(group) = self.groups.get(timer.group) else {
            return;
        };
        // Linux, `do_nocb_deferred_wakeup_timer()`: it looks under the lock. The reason is stored
        // after the timer is set, and only the lock orders that before what the timer sees.
        group.lock.acquire(p);
        let how = group.deferred.load_relaxed(p);
        group.lock.release(p);
        if how != deferred::NOT {
            self.wake_group(p, timer.group, how == deferred::FORCE);
        }
    }

    /// Makes up for a wake-up that this CPU put off only because it could not wake.
    pub(crate) fn wake_deferred(&self, p: &P, cpu: &Cpu<P>) {
        if !cpu.owes_wake.take() {
            return;
        }
        // Unless the timer or another CPU did.
        let how = self.groups[cpu.group].deferred.load_relaxed(p);
        if how >= deferred::WAKE {
            self.wake_group(p, cpu.group, how == deferred::FORCE);
        }
    }
}
