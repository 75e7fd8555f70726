//! The interface of a policy: what it sees of the kernel, what it is asked and what it is told.

use crate::task::{CpuSet, Policy, TaskId};
use alloc::vec::Vec;

/// The part of the kernel that a policy of placement can see.
pub trait View {
    /// The present time in ps.
    fn now(&self) -> u64;
    /// Number of CPUs, at most 64.
    fn cpus(&self) -> usize;
    /// Capacity of a CPU at its present operating point.
    fn capacity(&self, cpu: usize) -> u32;
    /// Capacity of a CPU at its highest operating point.
    fn top_capacity(&self, cpu: usize) -> u32;
    /// The task that runs on a CPU; `None` where it idles.
    fn running(&self, cpu: usize) -> Option<TaskId>;
    /// The number of tasks that wait for a CPU, the running one not counted.
    fn waiting(&self, cpu: usize) -> usize;
    /// The tasks that wait for a CPU.
    fn waiting_tasks(&self, cpu: usize) -> Vec<TaskId>;
    /// CPUs on which a task may run.
    fn allowed(&self, task: TaskId) -> CpuSet;
    /// A task's policy.
    fn policy(&self, task: TaskId) -> Policy;
    /// True if it is a kernel thread.
    fn is_kernel_thread(&self, task: TaskId) -> bool;
}

/// The activity of a task, for accounts of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doing {
    /// It was blocked, or had not started.
    Nothing,
    /// It waited for a CPU.
    Waiting,
    /// It ran.
    Running,
}

/// A move that the policy wants.
#[derive(Debug, PartialEq)]
pub struct Move {
    /// The task; it may be running.
    pub task: TaskId,
    /// The CPU to which the task goes.
    pub to: usize,
}

/// A policy of placement. CPUs that a task may not run on are corrected by the kernel, to the first
/// that it may.
pub trait Placement {
    /// A task wakes up; `previous` is where it was.
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize;

    /// A task starts; `parent` is where the one runs that has started it, or the first CPU that it
    /// may run on.
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

    /// A task has done something on `cpu` until now, and does something else from now on. Told at
    /// every change, at ticks, and before the capacity changes.
    fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        let _ = (view, task, cpu, before, after);
    }

    /// The utilisation of a CPU, 0 to 1024 of the platform's fastest; `None` if the policy does not
    /// keep it.
    fn utilisation(&self, view: &dyn View, cpu: usize) -> Option<u32> {
        let _ = (view, cpu);
        None
    }
}
