//! Tasks that could run on a CPU, and whose turn it is.

use crate::task::{Policy, TaskId};
use std::collections::VecDeque;

/// The weight of nice 0.
pub const WEIGHT: u64 = 1024;

/// The weight of a nice value: a quarter more for each step down.
pub fn weight(nice: i8) -> u64 {
    let nice = nice.clamp(-20, 19);
    let power = |base: u128| base.pow(u32::from(nice.unsigned_abs()));
    let (up, down) = if nice < 0 {
        (power(5), power(4))
    } else {
        (power(4), power(5))
    };
    ((u128::from(WEIGHT) * up + down / 2) / down).max(1) as u64
}

/// A fair task that waits.
struct Fair {
    vruntime: u64,
    task: TaskId,
}

/// The tasks that wait for a CPU. The one that runs is not among them.
#[derive(Default)]
pub struct RunQueue {
    fair: Vec<Fair>,
    /// Real-time tasks by priority, the highest first, and by arrival.
    real_time: VecDeque<(u8, TaskId)>,
    /// The least virtual run time that anybody here had: newcomers start there.
    pub floor: u64,
}

impl RunQueue {
    pub fn len(&self) -> usize {
        self.fair.len() + self.real_time.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Raises the floor to what the running task has, unless somebody who waits has less.
    pub fn raise_floor(&mut self, running: Option<u64>) {
        let least = self.least().into_iter().chain(running).min();
        self.floor = self.floor.max(least.unwrap_or(self.floor));
    }

    /// Adds a task; `first` puts a real-time task before those of its priority.
    pub fn add(&mut self, task: TaskId, policy: Policy, vruntime: u64, first: bool) {
        match policy {
            Policy::Fair { .. } => self.fair.push(Fair { vruntime, task }),
            Policy::RealTime { priority } => {
                let at = self
                    .real_time
                    .iter()
                    .take_while(|&&(other, _)| other > priority || (other == priority && !first))
                    .count();
                self.real_time.insert(at, (priority, task));
            }
        }
    }

    /// Takes a task out; false if it is not there.
    pub fn remove(&mut self, task: TaskId) -> bool {
        let before = self.len();
        self.fair.retain(|fair| fair.task != task);
        self.real_time.retain(|&(_, other)| other != task);
        self.len() < before
    }

    /// Takes out whoever is next: the real-time task of the highest priority, otherwise the fair
    /// one that has run least.
    pub fn take(&mut self) -> Option<TaskId> {
        if let Some((_, task)) = self.real_time.pop_front() {
            return Some(task);
        }
        let (at, _) = self
            .fair
            .iter()
            .enumerate()
            .min_by_key(|(_, fair)| (fair.vruntime, fair.task))?;
        Some(self.fair.swap_remove(at).task)
    }

    /// The highest priority of a real-time task that waits.
    pub fn real_time(&self) -> Option<u8> {
        self.real_time.front().map(|&(priority, _)| priority)
    }

    /// The least virtual run time of a fair task that waits.
    pub fn least(&self) -> Option<u64> {
        self.fair.iter().map(|fair| fair.vruntime).min()
    }

    /// All that wait.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> {
        self.real_time
            .iter()
            .map(|&(_, task)| task)
            .chain(self.fair.iter().map(|fair| fair.task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nice_step_is_a_quarter() {
        assert_eq!(
            [weight(0), weight(-1), weight(1), weight(19)],
            [1024, 1280, 819, 15]
        );
        assert_eq!(weight(-20), 88_818);
    }

    #[test]
    fn real_time_goes_first_by_priority_then_the_fair_one_that_has_run_least() {
        let mut queue = RunQueue::default();
        queue.add(1, Policy::Fair { nice: 0 }, 50, false);
        queue.add(2, Policy::Fair { nice: 0 }, 40, false);
        queue.add(3, Policy::RealTime { priority: 10 }, 0, false);
        queue.add(4, Policy::RealTime { priority: 20 }, 0, false);
        queue.add(5, Policy::RealTime { priority: 20 }, 0, true);
        queue.add(6, Policy::RealTime { priority: 20 }, 0, false);
        let order: Vec<_> = std::iter::from_fn(|| queue.take()).collect();
        assert_eq!(order, [5, 4, 6, 3, 2, 1]);
    }

    #[test]
    fn the_floor_only_rises() {
        let mut queue = RunQueue::default();
        queue.add(1, Policy::Fair { nice: 0 }, 50, false);
        queue.raise_floor(Some(70));
        assert_eq!(queue.floor, 50);
        queue.raise_floor(Some(20));
        assert_eq!(queue.floor, 50);
        queue.take();
        queue.raise_floor(Some(70));
        assert_eq!(queue.floor, 70);
    }
}
