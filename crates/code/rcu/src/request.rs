//! Asking for grace periods, learning of them, and reporting quiescent states up the tree.

use crate::cell::{SharedCell, SharedWord};
use crate::cpu::Cpu;
use crate::platform::Platform;
use crate::sequence::{Sequence, after_a_whole_one, in_progress};
use crate::state::Rcu;

impl<P: Platform> Rcu<P> {
    /// True if a grace period runs.
    pub(crate) fn grace_period_runs(&self, p: &P) -> bool {
        in_progress(self.sequence.load(p))
    }

    /// Asks for the end `at`, from the leaf up. Whoever finds that it was asked for already leaves
    /// the rest to whoever asked.
    pub(crate) fn request(&self, p: &P, leaf: usize, at: Sequence) {
        let mut index = leaf;
        loop {
            let node = &self.nodes[index];
            node.lock.acquire(p);
            // Linux, `rcu_start_this_gp()`: `WRITE_ONCE()` of `gp_seq_needed`.
            let known = node.needed.load_relaxed(p) >= at;
            if !known {
                node.needed.store_relaxed(p, at);
            }
            node.lock.release(p);
            match node.parent {
                _ if known => return,
                Some((parent, _)) => index = parent,
                None => break,
            }
        }
        // While one runs, the thread looks at its end whether another is needed. Linux sees to that
        // with the root's lock (`rcu_start_this_gp()`, `rcu_gp_cleanup()`). Here what was asked for
        // is stored before the lock is let go, and then the number is loaded in order; the thread
        // stores the number, and then loads in order what was asked for.
        if !self.grace_period_runs(p) {
            self.requested_at.store_relaxed(p, p.jiffies());
            self.wake_grace_period_thread(p);
        }
    }

    /// Numbers the new callbacks of this CPU, which is not offloaded, and asks for the end that
    /// they need.
    pub(crate) fn accelerate(&self, p: &P, cpu: &Cpu<P>) {
        // Linux: `rcu_seq_snap()`.
        let at = after_a_whole_one(self.sequence.load(p));
        let ask = cpu.list.borrow_mut(p).accelerate(at);
        if ask {
            self.request(p, cpu.leaf, at);
        }
    }

    /// Learns from the leaf which grace periods have ended and started. Only what happens after
    /// this counts as a quiescent state of the one that runs.
    pub(crate) fn note_grace_periods(&self, p: &P, cpu: &Cpu<P>) {
        let leaf = &self.nodes[cpu.leaf];
        if leaf.sequence.load_relaxed(p) == cpu.sequence.get() {
            return;
        }
        leaf.lock.acquire(p);
        let now = leaf.sequence.load_relaxed(p);
        let waits_for_us = in_progress(now) && leaf.mask.load_relaxed(p) & cpu.bit != 0;
        leaf.lock.release(p);
        cpu.sequence.set(now);
        cpu.needs_report.set(waits_for_us);
        cpu.quiescent.set(false);
        if !cpu.offloaded {
            cpu.list.borrow_mut(p).advance(now);
            self.accelerate(p, cpu);
        }
    }

    /// Reports the quiescent state that this CPU has passed.
    pub(crate) fn report(&self, p: &P, cpu: &Cpu<P>) {
        let leaf = &self.nodes[cpu.leaf];
        leaf.lock.acquire(p);
        if leaf.sequence.load_relaxed(p) != cpu.sequence.get() {
            // Another grace period, which began after that quiescent state.
            leaf.lock.release(p);
            cpu.quiescent.set(false);
            return;
        }
        cpu.needs_report.set(false);
        let mask = leaf.mask.load_relaxed(p);
        if mask & cpu.bit == 0 {
            leaf.lock.release(p);
            return;
        }
        leaf.mask.store_relaxed(p, mask & !cpu.bit);
        cpu.count(|counters| counters.quiescent_reported += 1);
        self.report_upwards(p, cpu.leaf);
    }

    /// Something of this node's mask was cleared, under its lock, which this releases: if nothing
    /// is left, tells the node above, and at the root the thread.
    pub(crate) fn report_upwards(&self, p: &P, from: usize) {
        let mut index = from;
        loop {
            let node = &self.nodes[index];
            let done = node.mask.load_relaxed(p) == 0;
            node.lock.release(p);
            match node.parent {
                _ if !done => return,
                None => return self.wake_grace_period_thread(p),
                Some((parent, bit)) => {
                    // The grace period cannot end in between: the parent still waits for this bit.
                    let parent_node = &self.nodes[parent];
                    parent_node.lock.acquire(p);
                    let mask = parent_node.mask.load_relaxed(p);
                    parent_node.mask.store_relaxed(p, mask & !bit);
                    index = parent;
                }
            }
        }
    }
}
