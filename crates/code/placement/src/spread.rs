//! Tasks spread evenly over CPUs, whatever these are; tasks that stay where they are; real-time
//! tasks.

use crate::task::{CpuSet, Policy, TaskId};
use crate::view::{Move, Placement, View};
use core::cmp::Reverse;
use random::SplitMix64;

/// Tasks stay where they are; one that may not is put on the first CPU that it may run on.
pub struct StayPut;

impl Placement for StayPut {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        allowed_or_first(view, view.allowed(task), previous)
    }
}

/// Tasks spread evenly over all CPUs, whatever their type: to where it was if that idles, otherwise
/// to the CPU with the fewest tasks; a CPU without work takes some from the fullest, and gets some
/// in the ticks of others. A new task starts on any of the CPUs with the fewest tasks: who takes all
/// CPUs for equal has no reason to prefer the first.
pub struct EvenSpread {
    random: SplitMix64,
}

impl EvenSpread {
    /// The seed decides where tasks start.
    pub const fn new(seed: u64) -> Self {
        Self {
            random: SplitMix64::new(seed),
        }
    }
}

impl Placement for EvenSpread {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        fewest(view, view.allowed(task), previous)
    }

    fn start(&mut self, view: &dyn View, task: TaskId, parent: usize) -> usize {
        let allowed = || view.allowed(task).iter(view.cpus());
        let least = allowed().map(|cpu| tasks(view, cpu)).min();
        let equal = || allowed().filter(|&cpu| Some(tasks(view, cpu)) == least);
        let which = self.random.next() % (equal().count() as u64).max(1);
        equal().nth(which as usize).unwrap_or(parent)
    }

    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        hand_over(view, CpuSet::ALL, cpu)
    }

    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        take(view, CpuSet::ALL, cpu)
    }
}

fn allowed_or_first(view: &dyn View, among: CpuSet, cpu: usize) -> usize {
    if among.has(cpu) {
        cpu
    } else {
        among.iter(view.cpus()).next().unwrap_or(cpu)
    }
}

/// The number of tasks that run on a CPU or wait for it.
pub fn tasks(view: &dyn View, cpu: usize) -> usize {
    view.waiting(cpu) + usize::from(view.running(cpu).is_some())
}

/// The task that runs on a CPU, and those that wait for it.
pub fn tasks_of(view: &dyn View, cpu: usize) -> impl Iterator<Item = TaskId> + use<> {
    let running = view.running(cpu).into_iter();
    running.chain(view.waiting_tasks(cpu))
}

/// The distance of a CPU from another, counting upwards.
fn distance(view: &dyn View, from: usize, to: usize) -> usize {
    let cpus = view.cpus().max(1);
    (to + cpus - from % cpus) % cpus
}

/// The CPU that it was on if that idles, otherwise the CPU with the fewest tasks, the next one
/// upwards first.
pub fn fewest(view: &dyn View, among: CpuSet, previous: usize) -> usize {
    if among.has(previous) && tasks(view, previous) == 0 {
        return previous;
    }
    among
        .iter(view.cpus())
        .min_by_key(|&cpu| (tasks(view, cpu), distance(view, previous, cpu)))
        .unwrap_or(previous)
}

/// The CPU to which a real-time task goes: it stays, unless one of its priority or a higher runs
/// there; then to a CPU where none does, the one with the fewest tasks.
pub fn real_time(view: &dyn View, among: CpuSet, priority: u8, previous: usize) -> usize {
    let free = |cpu: usize| {
        let running = view.running(cpu).map(|task| view.policy(task));
        !matches!(running, Some(Policy::RealTime { priority: other }) if other >= priority)
    };
    if among.has(previous) && free(previous) {
        return previous;
    }
    among
        .iter(view.cpus())
        .min_by_key(|&cpu| (!free(cpu), tasks(view, cpu), distance(view, previous, cpu)))
        .unwrap_or(previous)
}

/// A fair task that waits for a CPU, and an idle CPU of a set that it may run on.
pub fn hand_over(view: &dyn View, among: CpuSet, cpu: usize) -> Option<Move> {
    let mut waiting = view
        .waiting_tasks(cpu)
        .into_iter()
        .filter(|&task| view.policy(task).is_fair());
    waiting.find_map(|task| {
        let mut idle = (view.allowed(task) & among)
            .iter(view.cpus())
            .filter(|&other| tasks(view, other) == 0);
        idle.next().map(|to| Move { task, to })
    })
}

/// A fair task that waits for another CPU of a set, the fullest first, and may run here. A CPU with
/// a single task keeps it, though it may not have begun: two CPUs would hand such a task to and
/// fro.
pub fn take(view: &dyn View, among: CpuSet, cpu: usize) -> Option<TaskId> {
    let others = among
        .iter(view.cpus())
        .filter(|&other| other != cpu && tasks(view, other) > 1);
    let mut others: alloc::vec::Vec<_> = others.collect();
    others.sort_by_key(|&other| (Reverse(tasks(view, other)), other));
    let movable = |&task: &TaskId| view.allowed(task).has(cpu) && view.policy(task).is_fair();
    others
        .into_iter()
        .find_map(|other| view.waiting_tasks(other).into_iter().find(movable))
}
