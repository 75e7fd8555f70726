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
        self.active_at.store(p, p.jiffies());
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
        let before = self.sequence.load(p);
        if self.nodes[0].needed.load(p) <= before {
            return Step::Sleep { until: None };
        }
        let now = p.jiffies();
        self.started_at.store(p, now);
        self.stall_at.store(p, now + self.settings.stall_s * self.settings.hz);
        self.force.store(p, false);
        self.first_look.set(p, true);
        // From here on new callbacks need the next one.
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
            self.phase.set(p, GpPhase::Wait(p.jiffies() + self.settings.force_jiffies()));
            return Step::Again;
        };
        let sequence = self.sequence.load(p);
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
        if self.nodes[0].mask.load(p) == 0 {
            self.phase.set(p, GpPhase::End(0));
            return Step::Again;
        }
        if !self.force.swap(p, false) && p.jiffies() < look_at {
            return Step::Sleep { until: Some(look_at) };
        }
        self.gp_counters.update(p, |counters| counters.force_quiescent_states += 1);
        let sequence = self.sequence.load(p);
        ::points::stamp(p, points::FORCE_QUIESCENT_STATE, number(sequence) as u32);
        self.phase.set(p, GpPhase::Force(self.first_leaf, self.first_look.replace(p, false)));
        Step::Again
    }

    /// Reports for those CPUs of a leaf that are idle, or were since the first look, and interrupts
    /// those that hold the grace period up for long.
    fn force_leaf(&self, p: &P, index: usize, first: bool) -> Step {
        let Some(leaf) = self.nodes.get(index) else {
            self.phase.set(p, GpPhase::Wait(p.jiffies() + self.settings.force_jiffies()));
            return Step::Again;
        };
        self.phase.set(p, GpPhase::Force(index + 1, first));
        leaf.lock.acquire(p);
        let mask = leaf.mask.load_relaxed(p);
        let mut left = mask;
        for (number, bit) in leaf.members().filter(|&(_, bit)| mask & bit != 0) {
            let cpu = &self.cpus[number];
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
        let started = self.started_at.load(p);
        if now < started + patience {
            return;
        }
        for (number, _) in self.nodes[leaf].members().filter(|&(_, bit)| mask & bit != 0) {
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
        let ended = self.sequence.load(p) + 1;
        let Some(node) = self.nodes.get(index) else {
            self.stall_at.store(p, u64::MAX);
            self.requested_at.store(p, p.jiffies());
            self.sequence.store(p, ended);
            self.gp_counters.update(p, |counters| counters.grace_periods += 1);
            ::points::stamp(p, points::GRACE_PERIOD_END, number(ended) as u32);
            self.phase.set(p, GpPhase::Idle);
            return Step::Again;
        };
        node.lock.acquire(p);
        node.sequence.store_relaxed(p, ended);
        node.lock.release(p);
        for (number, _) in node.members() {
            let cpu = &self.cpus[number];
            let Some(thread) = cpu.waiter else { continue };
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
