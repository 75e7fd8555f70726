//! Who runs where: the questions that the kernel asks, and the simplest answers.

use crate::task::{CpuSet, Policy, TaskId};
use engine::Time;

/// What a policy of placement can see.
pub trait View {
    /// The present time in ps.
    fn now(&self) -> Time;
    /// Number of CPUs.
    fn cpus(&self) -> usize;
    /// The domain of a CPU.
    fn domain(&self, cpu: usize) -> usize;
    /// Capacity of a CPU at its present operating point.
    fn capacity(&self, cpu: usize) -> u32;
    /// Capacity of a CPU at its highest operating point.
    fn top_capacity(&self, cpu: usize) -> u32;
    /// The task that runs on a CPU; `None` where it idles.
    fn running(&self, cpu: usize) -> Option<TaskId>;
    /// How many tasks wait for a CPU, the running one not counted.
    fn waiting(&self, cpu: usize) -> usize;
    /// The tasks that wait for a CPU.
    fn waiting_tasks(&self, cpu: usize) -> Vec<TaskId>;
    /// Where a task may run.
    fn allowed(&self, task: TaskId) -> CpuSet;
    /// A task's policy.
    fn policy(&self, task: TaskId) -> Policy;
    /// Whether it is a kernel thread.
    fn is_kernel_thread(&self, task: TaskId) -> bool;
}

/// What a task did, for accounts of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It was blocked, or had not started.
    Nothing,
    /// It waited for a CPU.
    Waiting,
    /// It ran.
    Running,
}

/// A move that the policy wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The task; it may be running.
    pub task: TaskId,
    /// Where to.
    pub to: usize,
}

/// A policy of placement. CPUs that a task may not run on are corrected by the kernel, to the first that it may.
pub trait Placement {
    /// A task wakes up; `previous` is where it was.
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize;

    /// A task starts; `parent` is where the one runs that has started it, or the first CPU that it may run on.
    fn start(&mut self, view: &dyn View, task: TaskId, parent: usize) -> usize {
        self.wake(view, task, parent)
    }

    /// The tick of a busy CPU: who should go elsewhere.
    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        let _ = (view, cpu);
        None
    }

    /// A CPU is about to idle: a waiting or running task of another CPU that it should take.
    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        let _ = (view, cpu);
        None
    }

    /// A task has done something on `cpu` until now, and does something else from now on. Told at every change, at ticks, and before the
    /// capacity changes.
    fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        let _ = (view, task, cpu, before, after);
    }

    /// The utilisation of a CPU, 0 to 1024 of the platform's fastest; `None` if the policy does not keep it.
    fn utilisation(&self, view: &dyn View, cpu: usize) -> Option<u32> {
        let _ = (view, cpu);
        None
    }
}

/// Tasks stay where they are; one that may not is put on the first CPU that it may run on.
#[derive(Clone, Copy, Debug, Default)]
pub struct StayPut;

impl Placement for StayPut {
    fn wake(&mut self, _view: &dyn View, _task: TaskId, previous: usize) -> usize {
        previous
    }
}

/// Tasks spread evenly over all CPUs, whatever their type: to where it was if that idles, otherwise to the CPU with the fewest tasks; a CPU
/// without work takes some from the fullest, and gets some in the ticks of others.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvenSpread;

impl EvenSpread {
    fn load(view: &dyn View, cpu: usize) -> usize {
        view.waiting(cpu) + usize::from(view.running(cpu).is_some())
    }
}

impl Placement for EvenSpread {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        let allowed = view.allowed(task);
        let load = |cpu: usize| Self::load(view, cpu);
        if allowed.has(previous) && load(previous) == 0 {
            return previous;
        }
        let distance = |cpu: usize| (cpu + view.cpus() - previous) % view.cpus();
        allowed.iter(view.cpus()).min_by_key(|&cpu| (load(cpu), distance(cpu))).unwrap_or(previous)
    }

    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        let fair = |&task: &TaskId| matches!(view.policy(task), Policy::Fair { .. });
        let task = view.waiting_tasks(cpu).into_iter().find(fair)?;
        let to = view.allowed(task).iter(view.cpus()).find(|&other| Self::load(view, other) == 0)?;
        Some(Move { task, to })
    }

    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        let others = (0..view.cpus()).filter(|&other| other != cpu && view.waiting(other) > 0);
        let mut others: Vec<_> = others.collect();
        others.sort_by_key(|&other| (usize::MAX - Self::load(view, other), other));
        let movable = |&task: &TaskId| view.allowed(task).has(cpu) && matches!(view.policy(task), Policy::Fair { .. });
        others.into_iter().find_map(|other| view.waiting_tasks(other).into_iter().find(movable))
    }
}
