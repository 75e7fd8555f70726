//! Energy-aware placement: a task wakes where the machine then needs the least energy.

use crate::accounts::Accounts;
use crate::classes;
use crate::model::Model;
use crate::pelt::Pelt;
use crate::spread;
use crate::task::{CpuSet, Policy, TaskId};
use crate::view::{Doing, Move, Placement, View};
use alloc::vec::Vec;

/// The policy. Where it was, and in each domain the CPU with the most to spare, are compared by the
/// model's energy; what does not fit into 80 % of a CPU is not compared. While any CPU is used by
/// more than 80 %, energy does not count: tasks spread evenly, and one that is too big for its CPU
/// moves to an idle faster one. New tasks spread evenly and count as half of the CPU that they
/// start on.
///
/// Utilisation is that of load tracking alone; Linux since 4.17 also remembers what a task used
/// when it last slept.
#[derive(Clone, Debug)]
pub struct EnergyAware {
    model: Model,
    accounts: Accounts,
}

/// True if a use fits into 80 % of a capacity.
fn fits(used: u32, capacity: u32) -> bool {
    u64::from(used) * 1280 <= u64::from(capacity) * 1024
}

impl EnergyAware {
    /// The policy with this model.
    pub fn new(model: Model) -> Self {
        Self { model, accounts: Accounts::default() }
    }

    fn is_overutilised(&self, view: &dyn View) -> bool {
        (0..view.cpus()).any(|cpu| !fits(self.accounts.utilisation(view, cpu), view.top_capacity(cpu)))
    }

    /// The cheapest CPU for a task; `None` if it fits nowhere.
    fn cheapest(&self, view: &dyn View, task: TaskId, previous: usize) -> Option<usize> {
        let cpus = view.cpus();
        let task_uses = self.accounts.load(view, task).utilisation();
        let used: Vec<_> = (0..cpus).map(|cpu| self.accounts.utilisation_without(view, cpu, task)).collect();
        let allowed = view.allowed(task);
        let holds = |&cpu: &usize| fits(used[cpu].saturating_add(task_uses), view.top_capacity(cpu));
        let spare = |cpu: usize| view.top_capacity(cpu).saturating_sub(used[cpu]);
        let best_of = |domain: CpuSet| {
            let among = (domain & allowed).iter(cpus).filter(holds);
            among.max_by_key(|&cpu| (spare(cpu), cpu == previous, core::cmp::Reverse(cpu)))
        };
        let stays = Some(previous).filter(|&cpu| cpu < cpus && allowed.has(cpu)).filter(holds);
        let candidates = stays.into_iter().chain(self.model.domains().filter_map(best_of));
        let energy = |with: usize| self.model.energy(cpus, |cpu| used[cpu] + if cpu == with { task_uses } else { 0 });
        // Of equal ones the first: where it was.
        candidates.min_by_key(|&cpu| energy(cpu))
    }

    /// True if a running task is too big for its CPU.
    fn is_misfit(&self, view: &dyn View, task: TaskId, cpu: usize) -> bool {
        view.policy(task).is_fair() && !fits(self.accounts.load(view, task).utilisation(), view.top_capacity(cpu))
    }
}

impl Placement for EnergyAware {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        let allowed = view.allowed(task);
        if let Policy::RealTime { priority } = view.policy(task) {
            return spread::real_time(view, allowed, priority, previous);
        }
        let cheapest = match self.is_overutilised(view) {
            true => None,
            false => self.cheapest(view, task, previous),
        };
        cheapest.unwrap_or_else(|| spread::fewest(view, allowed, previous))
    }

    fn start(&mut self, view: &dyn View, task: TaskId, parent: usize) -> usize {
        let to = match view.policy(task) {
            Policy::RealTime { priority } => spread::real_time(view, view.allowed(task), priority, parent),
            Policy::Fair { .. } => spread::fewest(view, view.allowed(task), parent),
        };
        self.accounts.begin(task, to, Pelt::full(view.now(), view.top_capacity(to) / 2));
        to
    }

    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        if !self.is_overutilised(view) {
            return None;
        }
        if let Some(task) = view.running(cpu).filter(|&task| self.is_misfit(view, task, cpu)) {
            let mut faster = (classes::faster(view, cpu) & view.allowed(task)).iter(view.cpus());
            if let Some(to) = faster.find(|&other| spread::tasks(view, other) == 0) {
                return Some(Move { task, to });
            }
        }
        spread::hand_over(view, CpuSet::ALL, cpu)
    }

    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        if !self.is_overutilised(view) {
            return None;
        }
        spread::take(view, CpuSet::ALL, cpu).or_else(|| {
            let mut slower = classes::slower(view, cpu).iter(view.cpus());
            slower.find_map(|other| {
                let task = view.running(other)?;
                (view.allowed(task).has(cpu) && self.is_misfit(view, task, other)).then_some(task)
            })
        })
    }

    fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        self.accounts.note(view, task, cpu, before, after);
    }

    fn utilisation(&self, view: &dyn View, cpu: usize) -> Option<u32> {
        Some(self.accounts.utilisation(view, cpu))
    }
}
