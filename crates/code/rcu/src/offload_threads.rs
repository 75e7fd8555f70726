//! The threads of offloaded CPUs.
//!
//! In the modern form, a group's grace-period thread makes rounds: it numbers and advances the
//! lists of its CPUs, wakes the threads of those whose callbacks are ready, and sleeps until the
//! earliest grace period that a list waits for has ended. Each CPU's own thread only invokes.

use crate::cell::{SharedCell, SharedWord};
use crate::cpu::Cpu;
use crate::group::{Group, Phase, deferred};
use crate::platform::{Platform, RcuTimer, Step, Thread};
use crate::state::Rcu;

impl<P: Platform> Rcu<P> {
    /// One step of a thread of offloaded CPUs. It invokes at most one callback.
    pub fn offload_thread(&self, p: &P, thread: Thread) -> Step {
        match thread {
            Thread::Offload(cpu) if self.cpus.get(cpu).is_some_and(|cpu| cpu.offloaded) => {
                self.step_2013(p, &self.cpus[cpu])
            }
            Thread::OffloadGp(index) if index < self.groups.len() => self.step_group(p, index),
            Thread::OffloadCb(cpu) if self.cpus.get(cpu).is_some_and(|cpu| cpu.offloaded) => {
                self.step_callbacks(p, cpu)
            }
            Thread::GracePeriod => self.grace_period_thread(p),
            _ => Step::Sleep { until: None },
        }
    }

    fn step_group(&self, p: &P, index: usize) -> Step {
        let group = &self.groups[index];
        match group.phase.get(p) {
            Phase::Wait => self.group_waits(p, group, index),
            Phase::Scan(position) => match group.cpus.get(position) {
                Some(&cpu) => {
                    self.scan(p, group, cpu);
                    group.phase.set(p, Phase::Scan(position + 1));
                    Step::Again
                }
                None => self.end_of_round(p, group, index),
            },
        }
    }

    /// Sleeps on, unless it was woken or the grace period has passed; then starts a round.
    fn group_waits(&self, p: &P, group: &Group<P>, index: usize) -> Step {
        let leader = &self.cpus[group.leader()];
        // Nobody else stores it.
        let at = leader.waits_for.load_relaxed(p);
        let passed = group
            .earliest
            .get(p)
            .is_some_and(|at| self.nodes[leader.leaf].sequence.load(p) >= at);
        // Linux, `nocb_gp_wait()`: `READ_ONCE()` of `nocb_gp_sleep`; who cleared it has woken us.
        if !passed && group.sleeps.load_relaxed(p) {
            return Step::Sleep { until: None };
        }
        if at != 0 {
            leader.waits_for.store_relaxed(p, 0);
        }
        group.lock.acquire(p);
        if group.deferred.load_relaxed(p) != deferred::NOT {
            group.deferred.store_relaxed(p, deferred::NOT);
            p.cancel_timer(RcuTimer { group: index });
        }
        // From here on whoever queues wakes, whether or not the round has passed its list.
        group.sleeps.store_relaxed(p, true);
        group.lock.release(p);
        group.earliest.set(p, None);
        group.bypass.set(p, false);
        group.lazy.set(p, false);
        group.phase.set(p, Phase::Scan(0));
        Step::Again
    }

    /// Looks after the callbacks of one CPU.
    fn scan(&self, p: &P, group: &Group<P>, index: usize) {
        let cpu = &self.cpus[index];
        let now = p.jiffies();
        cpu.offload_lock.acquire(p);
        let mut bypass = cpu.bypass_length.load_relaxed(p);
        let mut lazy = cpu.bypass_lazy.load_relaxed(p);
        if bypass > 0
            && (self.bypass_is_old(p, cpu, now, lazy == bypass, 2)
                || bypass > self.settings.qhimark.saturating_mul(2))
        {
            self.flush_bypass(p, cpu);
            (bypass, lazy) = (0, 0);
        }
        if bypass == 0 && cpu.list.borrow(p).len() == 0 {
            return cpu.offload_lock.release(p);
        }
        if bypass > 0 {
            let only_lazy = if bypass == lazy {
                &group.lazy
            } else {
                &group.bypass
            };
            only_lazy.set(p, true);
        }
        self.advance_offloaded(p, cpu);
        if let Some(at) = cpu.list.borrow(p).waits_for() {
            group.earliest.set(
                p,
                Some(
                    group
                        .earliest
                        .get(p)
                        .map_or(at, |earliest| earliest.min(at)),
                ),
            );
        }
        let ready = cpu.list.borrow(p).done() > 0;
        // Linux, `nocb_gp_wait()`: `WRITE_ONCE()` of `nocb_cb_sleep`, under `nocb_lock`.
        let wake = ready && cpu.thread_sleeps.load_relaxed(p);
        if wake {
            cpu.thread_sleeps.store_relaxed(p, false);
        }
        cpu.offload_lock.release(p);
        if wake {
            self.wake_offload(p, Thread::OffloadCb(index));
        }
    }

    /// Advances the list of an offloaded CPU and numbers what has no number. Under `offload_lock`.
    fn advance_offloaded(&self, p: &P, cpu: &Cpu<P>) {
        let ended = self.nodes[cpu.leaf].sequence.load(p);
        cpu.list.borrow_mut(p).advance(ended);
        let unnumbered = cpu.list.borrow(p).unnumbered();
        if unnumbered {
            self.accelerate(p, cpu);
        }
    }

    /// All lists were seen: sets a timer for what waits in bypass lists, and sleeps.
    fn end_of_round(&self, p: &P, group: &Group<P>, index: usize) -> Step {
        if group.bypass.get(p) {
            self.defer_wake(p, index, deferred::BYPASS);
        } else if group.lazy.get(p) {
            self.defer_wake(p, index, deferred::LAZY);
        }
        group.phase.set(p, Phase::Wait);
        if let Some(at) = group.earliest.get(p) {
            // Known before the next step looks, or the end could come in between.
            self.cpus[group.leader()].waits_for.store(p, at);
        }
        Step::Again
    }

    /// A step of the thread that invokes the callbacks of a CPU, in the modern form.
    fn step_callbacks(&self, p: &P, index: usize) -> Step {
        let cpu = &self.cpus[index];
        if self.invoke_one_of_batch(p, cpu) {
            return Step::Again;
        }
        cpu.offload_lock.acquire(p);
        // Callbacks that are new stay without a number: giving them one, and asking for their grace
        // period, is the other thread's.
        let ended = self.nodes[cpu.leaf].sequence.load(p);
        let passed = cpu.list.borrow(p).waits_for().is_some_and(|at| at <= ended);
        if passed {
            self.advance_offloaded(p, cpu);
        }
        let ready = cpu.list.borrow(p).done();
        if ready == 0 {
            cpu.thread_sleeps.store_relaxed(p, true);
            cpu.offload_lock.release(p);
            return Step::Sleep { until: None };
        }
        {
            let mut list = cpu.list.borrow_mut(p);
            cpu.batch
                .borrow_mut(p)
                .extend(core::iter::from_fn(|| list.pop_done()));
        }
        cpu.offload_lock.release(p);
        Step::Again
    }
}
