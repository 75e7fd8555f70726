//! Objects that tasks wait for each other with: mutexes, conditions, semaphores and barriers. First
//! come, first served.

use crate::task::{TaskId, Workload};
use engine::Time;
use std::collections::VecDeque;

#[derive(Default)]
pub struct Mutex {
    pub(crate) name: String,
    pub(crate) holder: Option<TaskId>,
    pub(crate) waiters: VecDeque<TaskId>,
}

impl Mutex {
    /// Takes it for a task, or queues the task; whether it was taken. A task that holds it already
    /// waits for itself, as with a mutex of POSIX threads of the usual kind.
    pub fn lock(&mut self, task: TaskId) -> bool {
        if self.holder.is_none() {
            self.holder = Some(task);
            return true;
        }
        self.waiters.push_back(task);
        false
    }

    /// Gives it to the next that waits, who is to be woken. Nothing if `task` does not hold it.
    pub fn unlock(&mut self, task: TaskId) -> Option<TaskId> {
        if self.holder != Some(task) {
            return None;
        }
        self.holder = self.waiters.pop_front();
        self.holder
    }
}

#[derive(Default)]
pub struct Semaphore {
    count: u32,
    waiters: VecDeque<TaskId>,
}

impl Semaphore {
    /// Adds one, which the next that waits gets: it is to be woken.
    pub fn post(&mut self) -> Option<TaskId> {
        let next = self.waiters.pop_front();
        if next.is_none() {
            self.count = self.count.saturating_add(1);
        }
        next
    }

    /// Takes one for a task, or queues the task; whether one was there.
    pub fn wait(&mut self, task: TaskId) -> bool {
        if self.count > 0 {
            self.count -= 1;
            return true;
        }
        self.waiters.push_back(task);
        false
    }
}

#[derive(Default)]
pub struct Barrier {
    parties: usize,
    waiters: Vec<TaskId>,
}

impl Barrier {
    /// A task arrives. If it is the last, those that wait are to be woken and it goes on; otherwise
    /// it waits.
    pub fn arrive(&mut self, task: TaskId) -> Option<Vec<TaskId>> {
        if self.waiters.len() + 1 >= self.parties {
            return Some(std::mem::take(&mut self.waiters));
        }
        self.waiters.push(task);
        None
    }
}

/// The objects of a workload.
#[derive(Default)]
pub struct Objects {
    pub(crate) mutexes: Vec<Mutex>,
    /// For each condition the tasks that wait, and the mutex that each wants back, if any.
    pub(crate) conditions: Vec<VecDeque<(TaskId, Option<usize>)>>,
    pub(crate) semaphores: Vec<Semaphore>,
    pub(crate) barriers: Vec<Barrier>,
    /// The base of each shared timer, once a task used it.
    pub(crate) timers: Vec<Option<Time>>,
}

impl Objects {
    pub fn new(workload: &Workload) -> Self {
        Self {
            mutexes: workload
                .mutexes
                .iter()
                .map(|name| Mutex {
                    name: name.clone(),
                    ..Mutex::default()
                })
                .collect(),
            conditions: vec![VecDeque::new(); workload.conditions],
            semaphores: workload
                .semaphores
                .iter()
                .map(|&count| Semaphore {
                    count,
                    ..Semaphore::default()
                })
                .collect(),
            barriers: workload
                .barriers
                .iter()
                .map(|&parties| Barrier {
                    parties,
                    ..Barrier::default()
                })
                .collect(),
            timers: vec![None; workload.timers],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutex_goes_to_those_who_wait_in_their_order() {
        let mut mutex = Mutex::default();
        assert!(mutex.lock(1) && !mutex.lock(2) && !mutex.lock(3));
        assert_eq!(
            mutex.unlock(2),
            None,
            "who does not hold it cannot give it away"
        );
        assert_eq!(
            [mutex.unlock(1), mutex.unlock(2), mutex.unlock(3)],
            [Some(2), Some(3), None]
        );
    }

    #[test]
    fn a_semaphore_remembers_and_a_barrier_lets_all_go_at_once() {
        let mut semaphore = Semaphore::default();
        assert_eq!(semaphore.post(), None);
        assert!(semaphore.wait(1) && !semaphore.wait(2));
        assert_eq!(semaphore.post(), Some(2));
        let mut barrier = Barrier {
            parties: 3,
            ..Barrier::default()
        };
        assert_eq!(
            [barrier.arrive(1), barrier.arrive(2), barrier.arrive(3)],
            [None, None, Some(vec![1, 2])]
        );
        assert_eq!(barrier.arrive(1), None, "and it starts anew");
    }
}
