//! Grace periods that take too long.

use crate::cell::{Order, SharedCell, SharedWord};
use crate::node::READERS;
use crate::platform::Platform;
use crate::points;
use crate::sequence::{in_progress, number};
use crate::stall_report::Stall;
use crate::state::Rcu;
use alloc::vec::Vec;

impl<P: Platform> Rcu<P> {
    /// Looked at in each tick: has the grace period lasted too long, or has one that was asked for
    /// not started? The first CPU to see it reports, and again after three times as long.
    pub(crate) fn check_stall(&self, p: &P) {
        let now = p.jiffies();
        let limit = self.settings.stall_s * self.settings.hz;
        // Linux, `check_cpu_stall()`: the number, then the limit, then the start, which lies behind
        // the limit if the next grace period is about to store its own. The exchange of the limit
        // fails if it is no longer that of the same grace period.
        let sequence = self.sequence.load(p);
        let at = self.stall_at.load_relaxed(p);
        if in_progress(sequence) {
            if now >= at {
                let started = self.started_at.load_relaxed(p);
                if started < at
                    && self
                        .stall_at
                        .compare_exchange(p, at, now + 3 * limit, Order::Full)
                {
                    self.report_stall(p, number(sequence), now - started, true);
                }
            }
        } else if self.nodes[0].needed.load_relaxed(p) > sequence {
            let age = now - self.requested_at.load_relaxed(p).min(now);
            // While no grace period runs, nobody else sets `stall_at`, and the next start sets it
            // anew.
            if age >= limit
                && (at == u64::MAX || now >= at)
                && self
                    .stall_at
                    .compare_exchange(p, at, now + 3 * limit, Order::Full)
            {
                self.report_stall(p, number(sequence) + 1, age, false);
            }
        }
    }

    fn report_stall(&self, p: &P, grace_period: u64, age: u64, started: bool) {
        let mut stall = Stall {
            grace_period,
            age,
            started,
            cpus: Vec::new(),
            readers: Vec::new(),
            thread_starved: None,
        };
        for leaf in &self.nodes[self.first_leaf..] {
            leaf.lock.acquire(p);
            let mask = leaf.mask.load_relaxed(p);
            let sequence = leaf.sequence.load_relaxed(p);
            stall.cpus.extend(
                leaf.members()
                    .filter(|&(_, bit)| mask & bit != 0)
                    .map(|(cpu, _)| cpu),
            );
            if mask & READERS != 0 {
                let blocked = leaf.blocked.borrow(p);
                stall.readers.extend(
                    blocked
                        .iter()
                        .filter(|entry| entry.from <= sequence)
                        .map(|entry| entry.reader),
                );
            }
            leaf.lock.release(p);
        }
        // The thread never means to sleep for two seconds while there is something to do.
        let inactive = p.jiffies() - self.active_at.load_relaxed(p).min(p.jiffies());
        stall.thread_starved = (inactive > 2 * self.settings.hz).then_some(inactive);
        ::points::stamp(p, points::STALL, grace_period as u32);
        p.stall(&stall);
    }
}
