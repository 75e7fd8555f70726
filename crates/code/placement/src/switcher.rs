//! The big.LITTLE switcher: a fast and a slow CPU are a pair that looks like one CPU, and one of
//! the two is on.

use crate::accounts::Accounts;
use crate::classes;
use crate::spread;
use crate::task::{CpuSet, TaskId};
use crate::view::{Doing, Move, Placement, View};
use alloc::vec::Vec;

/// A pair stays on a side for at least this long, in ps: 4 ms, assumed.
const SETTLE: u64 = 4_000_000_000;

#[derive(Clone, Copy)]
struct Pair {
    fast: usize,
    slow: usize,
    is_fast: bool,
    since: Option<u64>,
}

impl Pair {
    fn on(self) -> usize {
        if self.is_fast { self.fast } else { self.slow }
    }

    fn off(self) -> usize {
        if self.is_fast { self.slow } else { self.fast }
    }

    fn has(self, cpu: usize) -> bool {
        cpu == self.fast || cpu == self.slow
    }
}

/// Pairs of the first fast and the first slow CPU, the second ones, and so on; a CPU without a
/// partner stays off. The fast side is on while 1.25 times what the pair's tasks use is more than
/// the slow side can do. Tasks spread evenly over the pairs. A task that may not run on any side
/// that is on runs where it may.
#[derive(Default)]
pub struct Switcher {
    accounts: Accounts,
    pairs: Vec<Pair>,
}

impl Switcher {
    /// A switcher that has not seen its CPUs yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Brings the pairs up to date, and gives the CPUs that are on.
    fn look(&mut self, view: &dyn View) -> CpuSet {
        if self.pairs.is_empty() {
            let (fastest, slowest) = (classes::fastest(view), classes::slowest(view));
            if fastest == slowest {
                return CpuSet::ALL;
            }
            let pairs = fastest.iter(view.cpus()).zip(slowest.iter(view.cpus()));
            self.pairs = pairs
                .map(|(fast, slow)| Pair {
                    fast,
                    slow,
                    is_fast: false,
                    since: None,
                })
                .collect();
        }
        for pair in &mut self.pairs {
            let used = self.accounts.utilisation(view, pair.fast)
                + self.accounts.utilisation(view, pair.slow);
            let is_fast = used + used / 4 > view.top_capacity(pair.slow);
            let has_settled = pair.since.is_none_or(|since| view.now() >= since + SETTLE);
            if is_fast != pair.is_fast && has_settled {
                (pair.is_fast, pair.since) = (is_fast, Some(view.now()));
            }
        }
        CpuSet::from_cpus(self.pairs.iter().map(|pair| pair.on()))
    }

    /// The side that is on of a CPU's pair.
    fn side(&self, cpu: usize) -> usize {
        self.pairs
            .iter()
            .find(|pair| pair.has(cpu))
            .map_or(cpu, |pair| pair.on())
    }
}

impl Placement for Switcher {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        let allowed = view.allowed(task);
        let on = self.look(view);
        spread::fewest(
            view,
            (allowed & on).or_if_empty(allowed),
            self.side(previous),
        )
    }

    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        let on = self.look(view);
        let to = self.side(cpu);
        if to != cpu {
            // The pair has switched: who is still here follows, one in each tick; the other side
            // pulls the rest.
            return spread::tasks_of(view, cpu)
                .find(|&task| view.allowed(task).has(to))
                .map(|task| Move { task, to });
        }
        spread::hand_over(view, on, cpu)
    }

    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        let on = self.look(view);
        if !on.has(cpu) {
            return None;
        }
        let other = self
            .pairs
            .iter()
            .find(|pair| pair.has(cpu))
            .map(|pair| pair.off());
        let left = other.into_iter().flat_map(|other| {
            view.waiting_tasks(other)
                .into_iter()
                .chain(view.running(other))
        });
        let mut left = left.filter(|&task| view.allowed(task).has(cpu));
        left.next().or_else(|| spread::take(view, on, cpu))
    }

    fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        self.accounts.note(view, task, cpu, before, after);
    }

    fn utilisation(&self, view: &dyn View, cpu: usize) -> Option<u32> {
        Some(self.accounts.utilisation(view, cpu))
    }
}
