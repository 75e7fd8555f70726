//! The kernel as a policy of placement sees it.

use crate::kernel::Kernel;
use crate::task::{CpuSet, Policy, TaskId};
use engine::Time;
use placement::View;

impl View for Kernel {
    fn now(&self) -> Time {
        self.now
    }

    fn cpus(&self) -> usize {
        self.cpus.len()
    }

    fn capacity(&self, cpu: usize) -> u32 {
        self.cpus[cpu].capacity
    }

    fn top_capacity(&self, cpu: usize) -> u32 {
        self.hardware.domains[self.cpus[cpu].domain]
            .points
            .last()
            .map_or(0, |point| point.capacity)
    }

    fn running(&self, cpu: usize) -> Option<TaskId> {
        self.cpus[cpu].current
    }

    fn waiting(&self, cpu: usize) -> usize {
        self.cpus[cpu].queue.len()
    }

    fn waiting_tasks(&self, cpu: usize) -> Vec<TaskId> {
        self.cpus[cpu].queue.tasks().collect()
    }

    fn allowed(&self, task: TaskId) -> CpuSet {
        self.tasks[task].cpus
    }

    fn policy(&self, task: TaskId) -> Policy {
        self.tasks[task].spec.policy
    }

    fn is_kernel_thread(&self, task: TaskId) -> bool {
        self.tasks[task].thread.is_some()
    }
}
