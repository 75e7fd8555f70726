//! The grace-period thread: starts grace periods, looks at those who hold them up, and ends them.

use crate::cell::{SharedCell, SharedWord};
use crate::node::READERS;
use crate::platform::{Platform, Step};
use crate::points;
use crate::sequence::number;
use crate::state::{GpPhase, Rcu};

impl<P: Platform> Rcu<P> {
    /// One step of the grace-period thread: at most one node of the tree.
    pub fn grace_period_thread(&self, p: &P) -> Step {
        self.active_at.store_relaxed(p, p.jiffies());
        match self.phase.get(p) {
            GpPhase::Idle => self.start(p),
            GpPhase::Start(index) => self.start_node(p, index),
            GpPhase::Wait(look_at) => self.wait(p, look_at),
            GpPhase::Force(leaf, first) => self.force_leaf(p, leaf, first),
            GpPhase::End(index) => self.end_node(p, index),
        }
    }

    /// Starts a grace period if one was asked for.
    fn start(&self, p: &P) -> Step {
        // Nobody else stores the number.
        let before = self.sequence.load_relaxed(p);
        // Behind the end of the last one: see `Rcu::request`.
        if self.nodes[0].needed.load(p) <= before {
            return Step::Sleep { until: None };
        }
        let now = p.jiffies();
        self.started_at.store_relaxed(p, now);
        // Linux, `record_gp_stall_check_time()`: the start before the limit.
        self.stall_at
            .store_release(p, now + self.settings.stall_s * self.settings.hz);
        self.force.store_relaxed(p, false);
        self.first_look.set(p, true);
        // From here on new callbacks need the next one. Linux, `rcu_seq_start()`: all that the
        // thread does now comes after this.
        self.sequence.store(p, before + 1);
        ::points::stamp(p, points::GRACE_PERIOD_START, number(before + 1) as u32);
        self.phase.set(p, GpPhase::Start(0));
        Step::Again
    }

    /// A node waits for all its children, a leaf for its CPUs that are online and for the readers
    /// that were preempted there. Parents come first, so that a leaf that waits for nobody can say
    /// so.
    fn start_node(&self, p: &P, index: usize) -> Step {
        let Some(node) = self.nodes.get(index) else {
            self.phase.set(
                p,
                GpPhase::Wait(p.jiffies() + self.settings.force_jiffies()),
            );
            return Step::Again;
        };
        let sequence = self.sequence.load_relaxed(p);
        node.lock.acquire(p);
        let mask = match node.is_leaf() {
            true if node.blocked.borrow(p).is_empty() => node.online.load_relaxed(p),
            true => node.online.load_relaxed(p) | READERS,
            false => node.children,
        };
        node.mask.store_relaxed(p, mask);
        node.sequence.store_relaxed(p, sequence);
        match mask {
            0 => self.report_upwards(p, index),
            _ => node.lock.release(p),
        }
        self.note_on_own_leaf(p, index);
        self.phase.set(p, GpPhase::Start(index + 1));
        Step::Again
    }

    /// Sleeps until everybody has reported or a look is due.
    fn wait(&self, p: &P, look_at: u64) -> Step {
        // Linux, `rcu_gp_fqs_loop()`: `READ_ONCE()` of `qsmask`. The root's lock comes after it.
        if self.nodes[0].mask.load_relaxed(p) == 0 {
            self.phase.set(p, GpPhase::End(0));
            return Step::Again;
        }
        // Linux, `rcu_gp_fqs()`: `READ_ONCE()` of `gp_flags`. Who asks at the same moment loses no
        // more than what is done now.
        if self.force.load_relaxed(p) {
            self.force.store_relaxed(p, false);
        } else if p.jiffies() < look_at {
            return Step::Sleep {
                until: Some(look_at),
            };
        }
        self.gp_counters
            .update(p, |counters| counters.force_quiescent_states += 1);
        let sequence = self.sequence.load_relaxed(p);
        ::points::stamp(p, points::FORCE_QUIESCENT_STATE, number(sequence) as u32);
        self.phase.set(
            p,
            GpPhase::Force(self.first_leaf, self.first_look.replace(p, false)),
        );
        Step::Again
    }

    /// Reports for those CPUs of a leaf that are idle, or were since the first look, and interrupts
    /// those that hold the grace period up for long.
    fn force_leaf(&self, p: &P, index: usize, first: bool) -> Step {
        let Some(leaf) = self.nodes.get(index) else {
            self.phase.set(
                p,
                GpPhase::Wait(p.jiffies() + self.settings.force_jiffies()),
            );
            return Step::Again;
        };
        self.phase.set(p, GpPhase::Force(index + 1, first));
        leaf.lock.acquire(p);
        let mask = leaf.mask.load_relaxed(p);
        let mut left = mask;
        for (number, bit) in leaf.members().filter(|&(_, bit)| mask & bit != 0) {
            let cpu = &self.cpus[number];
            // Linux, `ct_rcu_watching_cpu_acquire()`: what the CPU read before it went idle comes
            // before what the thread does now.
            let counter = cpu.dynticks.load(p);
            if first {
                cpu.snapshot.set(p, counter);
            }
            if counter % 2 == 0 || counter != cpu.snapshot.get(p) {
                left &= !bit;
                cpu.forced.update(p, |count| *count += 1);
            }
        }
        if left != mask {
            leaf.mask.store_relaxed(p, left);
            self.report_upwards(p, index);
        } else {
            leaf.lock.release(p);
        }
        self.interrupt_holders(p, index, left);
        Step::Again
    }

    /// Interrupts the CPUs of a leaf that have held the grace period up for a tenth of a second,
    /// and no more often than that.
    fn interrupt_holders(&self, p: &P, leaf: usize, mask: u64) {
        let patience = self.settings.hz / 10;
        let now = p.jiffies();
        let started = self.started_at.load_relaxed(p);
        if now < started + patience {
            return;
        }
        for (number, _) in self.nodes[leaf]
            .members()
            .filter(|&(_, bit)| mask & bit != 0)
        {
            let cpu = &self.cpus[number];
            if now >= cpu.resched_at.get(p).max(started) + patience {
                cpu.resched_at.set(p, now);
                cpu.resched.update(p, |count| *count += 1);
                p.resched(number);
            }
        }
    }

    /// Tells a node that the grace period has ended, and wakes the threads that wait for that;
    /// after the last node, all is over.
    fn end_node(&self, p: &P, index: usize) -> Step {
        let ended = self.sequence.load_relaxed(p) + 1;
        let Some(node) = self.nodes.get(index) else {
            self.stall_at.store_relaxed(p, u64::MAX);
            self.requested_at.store_relaxed(p, p.jiffies());
            // Linux, `rcu_seq_end()`. Before the next look at what was asked for.
            self.sequence.store(p, ended);
            self.gp_counters
                .update(p, |counters| counters.grace_periods += 1);
            ::points::stamp(p, points::GRACE_PERIOD_END, number(ended) as u32);
            self.phase.set(p, GpPhase::Idle);
            return Step::Again;
        };
        node.lock.acquire(p);
        // Threads of offloaded CPUs read it without the lock, and invoke: Linux has the barrier on
        // their side (`rcu_nocb_wait_gp()`).
        node.sequence.store_release(p, ended);
        node.lock.release(p);
        for (number, _) in node.members() {
            let cpu = &self.cpus[number];
            let Some(thread) = cpu.waiter else { continue };
            // Behind the number, as the thread loads the number behind this: one of them sees the
            // other's. Linux: the barriers of `prepare_to_swait_event()` and `swq_has_sleeper()`.
            let at = cpu.waits_for.load(p);
            if at != 0 && at <= ended {
                self.wake_offload(p, thread);
            }
        }
        self.note_on_own_leaf(p, index);
        self.phase.set(p, GpPhase::End(index + 1));
        Step::Again
    }

    /// The CPU that runs the thread learns at once what the thread did to its leaf: when the thread
    /// then sleeps, that is a quiescent state. Linux 3.10 does so as well, in `rcu_gp_init` and
    /// `rcu_gp_cleanup`.
    fn note_on_own_leaf(&self, p: &P, index: usize) {
        let cpu = self.this(p);
        if cpu.leaf == index {
            self.note_grace_periods(p, cpu);
        }
    }
}
