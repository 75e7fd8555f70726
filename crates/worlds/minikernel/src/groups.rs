//! Task groups: a group has one share of what it is in, and its tasks and groups have shares of
//! that.
//!
//! Linux has a queue for each group on each CPU. Here a task has the weight that comes out of
//! those: its share of the group's tasks that are ready anywhere, times the group's own share.

use crate::kernel::Kernel;
use crate::runqueue::WEIGHT;
use crate::task::TaskId;

impl Kernel {
    /// A task's weight among all that are ready; 0 for a real-time task.
    pub fn weight(&self, task: TaskId) -> u64 {
        let task = &self.tasks[task];
        let (mut weight, mut group) = (task.weight, task.group);
        while weight > 0 && group > 0 {
            let at = group - 1;
            weight = (weight * WEIGHT / self.ready[at].max(weight)).max(1);
            group = self.groups[at].parent;
        }
        weight
    }

    /// Something of a weight is ready in a group, or no longer ready. A group is ready as long as
    /// anything in it is.
    pub fn group_changes(&mut self, group: usize, weight: u64, gains: bool) {
        if group == 0 || weight == 0 {
            return;
        }
        let at = group - 1;
        let before = self.ready[at];
        let after = if gains {
            before + weight
        } else {
            before - weight
        };
        self.ready[at] = after;
        if before == 0 || after == 0 {
            self.group_changes(self.groups[at].parent, WEIGHT, gains);
        }
    }

    /// A task that is ready has come from a group into the one that it is in now.
    pub fn change_group(&mut self, task: TaskId, from: usize) {
        let (to, weight) = (self.tasks[task].group, self.tasks[task].weight);
        self.group_changes(from, weight, false);
        self.group_changes(to, weight, true);
    }
}
