//! Energy-aware placement: a task wakes where the machine then needs the least energy.

use crate::classes;
use crate::fair::FairLoads;
use crate::model::Model;
use crate::search::{CpuUse, Rules, WakingTask, cheapest, fits};
use crate::spread;
use crate::task::{CpuSet, Policy, TaskId};
use crate::view::{Doing, Move, Placement, View};
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

/// The time after which a machine that was found overutilised is looked at again, in ps: the
/// shortest interval of balancing in Linux is a millisecond for each CPU, in whole ticks, and 8 ms
/// hold two ticks at 250 Hz.
const LOOK_AGAIN: u64 = 8_000_000_000;

/// The policy. Where the task was, and in each domain the CPU with the most to spare, are compared
/// by the model's energy; see [`Rules`]. A CPU that is used by more than 80 % when a task wakes up
/// there or in its tick makes the machine overutilised. Until balancing finds that no CPU is,
/// energy does not count: a task wakes where it was if that CPU idles and is fast enough, otherwise
/// on an idle CPU that is, otherwise on the fastest idle one; CPUs without work take some; and one
/// that is too big for its CPU moves to an idle faster one. New tasks spread evenly.
///
/// Interrupts, and tasks that are not fair, take nothing of a CPU's capacity here; in Linux they
/// do.
#[derive(Clone)]
pub struct EnergyAware {
    model: Model,
    rules: Rules,
    loads: FairLoads,
    /// Since when a CPU was found overutilised.
    overutilised: Option<u64>,
    /// True if energy never counts.
    is_off: bool,
    /// The CPU on which whoever starts tasks runs, where that is not told by the machine.
    parent: Option<usize>,
}

impl EnergyAware {
    /// The policy with this model and the search of Linux 5.0 to 5.19.
    pub fn new(model: Model) -> Self {
        Self::with_rules(model, Rules::default())
    }

    /// The policy with the search of a kernel.
    pub fn with_rules(model: Model, rules: Rules) -> Self {
        Self {
            model,
            rules,
            loads: FairLoads::default(),
            overutilised: None,
            is_off: false,
            parent: None,
        }
    }

    /// The policy of the same kernel without an energy model: it does always what the other one
    /// does while a CPU is overutilised.
    pub fn without_energy(model: Model) -> Self {
        Self {
            overutilised: Some(0),
            is_off: true,
            ..Self::new(model)
        }
    }

    /// The same policy, with tasks that are started from a CPU.
    #[must_use]
    pub fn started_from(self, parent: usize) -> Self {
        Self {
            parent: Some(parent),
            ..self
        }
    }

    fn is_cpu_overutilised(&self, view: &dyn View, cpu: usize) -> bool {
        !fits(self.loads.used(view, cpu), view.top_capacity(cpu))
    }

    /// Notes if a CPU is used too much.
    fn look_at(&mut self, view: &dyn View, cpu: usize) {
        if self.overutilised.is_none() && self.is_cpu_overutilised(view, cpu) {
            self.overutilised = Some(view.now());
        }
    }

    /// Balancing: looks at all CPUs if it is time.
    fn balance(&mut self, view: &dyn View) {
        if !self.is_off
            && self
                .overutilised
                .is_some_and(|since| view.now() >= since + LOOK_AGAIN)
        {
            let is_over = (0..view.cpus()).any(|cpu| self.is_cpu_overutilised(view, cpu));
            self.overutilised = is_over.then(|| view.now());
        }
    }

    /// The use of a task as balancing sees it.
    fn uses(&self, view: &dyn View, task: TaskId) -> u32 {
        self.loads.task(view, task).max(self.loads.estimate(task))
    }

    /// An idle CPU that is fast enough for a task: where it was, then upwards from there, then the
    /// fastest; where it was if none idles.
    fn idle_and_fast(&self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        let (allowed, uses, cpus) = (
            view.allowed(task),
            self.uses(view, task),
            view.cpus().max(1),
        );
        let idle: Vec<usize> = (0..cpus)
            .map(|ahead| (previous + ahead) % cpus)
            .filter(|&cpu| allowed.has(cpu))
            .filter(|&cpu| spread::tasks(view, cpu) == 0)
            .collect();
        let enough = idle.iter().find(|&&cpu| fits(uses, view.top_capacity(cpu)));
        enough
            .or_else(|| idle.iter().rev().max_by_key(|&&cpu| view.top_capacity(cpu)))
            .copied()
            .unwrap_or(previous)
    }

    /// The CPU on which a task costs least.
    fn cheapest(&self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        let of = |cpu: usize| CpuUse {
            utilisation: self.loads.utilisation(view, cpu),
            estimated: self.loads.estimated(cpu),
            capacity: view.top_capacity(cpu),
            left: view.top_capacity(cpu),
        };
        let cpus: Vec<CpuUse> = (0..view.cpus()).map(of).collect();
        let waking = WakingTask {
            utilisation: self.loads.task(view, task),
            estimate: self.loads.estimate(task),
            previous,
            allowed: view.allowed(task),
        };
        cheapest(self.rules, &self.model, &cpus, &waking)
    }

    /// The CPU on which a new task starts: in the domain of its parent, unless another one has more
    /// idle CPUs or, where none has capacity to spare, less load for its capacity; there on an idle
    /// CPU or on the one with the fewest tasks.
    fn idlest(&self, view: &dyn View, allowed: CpuSet, parent: usize) -> usize {
        let groups: Vec<Group> = self
            .model
            .newest_first()
            .map(|domain| self.model.cpus_of(domain))
            .filter(|&cpus| (cpus & allowed).iter(view.cpus()).next().is_some())
            .map(|cpus| Group::new(&self.loads, view, cpus))
            .collect();
        let (local, others): (Vec<&Group>, Vec<&Group>) =
            groups.iter().partition(|group| group.cpus.has(parent));
        let other = others
            .into_iter()
            .reduce(|best, group| if group.is_idler(best) { group } else { best });
        let chosen = match (local.first(), other) {
            (Some(local), Some(other)) if other.is_clearly_idler(local) => other.cpus,
            (Some(local), _) => local.cpus,
            (None, Some(other)) => other.cpus,
            (None, None) => allowed,
        };
        spread::fewest(view, chosen & allowed, parent)
    }

    /// True if a running task is too big for its CPU.
    fn is_misfit(&self, view: &dyn View, task: TaskId, cpu: usize) -> bool {
        view.policy(task).is_fair() && !fits(self.uses(view, task), view.top_capacity(cpu))
    }
}

/// Domains as Linux compares them when a task starts.
struct Group {
    cpus: CpuSet,
    state: GroupState,
    idle: usize,
    /// Tasks that run or wait, by capacity, in parts of 1024.
    load: u64,
    utilisation: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum GroupState {
    HasSpare,
    FullyBusy,
    Overloaded,
}

/// The percentage by which groups must differ.
const IMBALANCE: u64 = 117;

impl Group {
    fn new(loads: &FairLoads, view: &dyn View, cpus: CpuSet) -> Self {
        let all = || cpus.iter(view.cpus());
        let tasks: usize = all().map(|cpu| spread::tasks(view, cpu)).sum();
        let capacity: u64 = all().map(|cpu| u64::from(view.top_capacity(cpu))).sum();
        let utilisation: u64 = all().map(|cpu| u64::from(loads.used(view, cpu))).sum();
        let weight = all().count();
        let is_full = capacity * 100 < utilisation * IMBALANCE;
        let state = match (tasks.cmp(&weight), is_full) {
            (Ordering::Less, _) => GroupState::HasSpare,
            (Ordering::Greater, true) => GroupState::Overloaded,
            (_, true) => GroupState::FullyBusy,
            (_, false) => GroupState::HasSpare,
        };
        let idle = all().filter(|&cpu| spread::tasks(view, cpu) == 0).count();
        // Each task has the load of nice 0.
        let load = tasks as u64 * 1024 * 1024 / capacity.max(1);
        Self {
            cpus,
            state,
            idle,
            load,
            utilisation,
        }
    }

    /// True if it is preferred among groups to which a task could go.
    fn is_idler(&self, than: &Self) -> bool {
        match self.state.cmp(&than.state) {
            Ordering::Equal if self.state == GroupState::HasSpare => {
                (Reverse(self.idle), self.utilisation) < (Reverse(than.idle), than.utilisation)
            }
            Ordering::Equal => self.load < than.load,
            order => order.is_lt(),
        }
    }

    /// True if a task should go there and not stay in its own group.
    fn is_clearly_idler(&self, than: &Self) -> bool {
        match self.state.cmp(&than.state) {
            Ordering::Equal if self.state == GroupState::HasSpare => self.idle > than.idle,
            Ordering::Equal => {
                let margin = 1024 * (IMBALANCE - 100) / 100;
                self.load < than.load + margin && 100 * than.load > IMBALANCE * self.load
            }
            order => order.is_lt(),
        }
    }
}

impl Placement for EnergyAware {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        let allowed = view.allowed(task);
        if let Policy::RealTime { priority } = view.policy(task) {
            return spread::real_time(view, allowed, priority, previous);
        }
        let to = match self.overutilised {
            Some(_) => self.idle_and_fast(view, task, previous),
            None => self.cheapest(view, task, previous),
        };
        // Both may say that it stays, where it may no longer run.
        if allowed.has(to) {
            to
        } else {
            spread::fewest(view, allowed, previous)
        }
    }

    fn start(&mut self, view: &dyn View, task: TaskId, parent: usize) -> usize {
        let parent = self.parent.unwrap_or(parent);
        let to = match view.policy(task) {
            Policy::RealTime { priority } => {
                spread::real_time(view, view.allowed(task), priority, parent)
            }
            Policy::Fair { .. } => self.idlest(view, view.allowed(task), parent),
        };
        self.loads.begin(view, task, to);
        to
    }

    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        self.look_at(view, cpu);
        self.balance(view);
        self.overutilised?;
        if let Some(task) = view
            .running(cpu)
            .filter(|&task| self.is_misfit(view, task, cpu))
        {
            let mut faster = (classes::faster(view, cpu) & view.allowed(task)).iter(view.cpus());
            if let Some(to) = faster.find(|&other| spread::tasks(view, other) == 0) {
                return Some(Move { task, to });
            }
        }
        spread::hand_over(view, CpuSet::ALL, cpu)
    }

    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        self.balance(view);
        self.overutilised?;
        spread::take(view, CpuSet::ALL, cpu).or_else(|| {
            let mut slower = classes::slower(view, cpu).iter(view.cpus());
            slower.find_map(|other| {
                let task = view.running(other)?;
                (view.allowed(task).has(cpu) && self.is_misfit(view, task, other)).then_some(task)
            })
        })
    }

    fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        self.loads.note(view, task, cpu, before, after);
        // A new task's use says nothing yet.
        if before == Doing::Nothing && after != Doing::Nothing && self.loads.estimate(task) > 0 {
            self.look_at(view, cpu);
        }
    }

    fn utilisation(&self, view: &dyn View, cpu: usize) -> Option<u32> {
        Some(self.loads.used(view, cpu))
    }
}
