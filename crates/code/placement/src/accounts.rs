//! Load tracking of all tasks, and of CPUs as the sum of the tasks that were there last.

use crate::pelt::Pelt;
use crate::spread;
use crate::task::TaskId;
use crate::view::{Doing, Move, Placement, View};
use alloc::vec::Vec;

/// The element of a list at the number of a task or a CPU. A shorter list is filled with defaults.
pub fn slot<T: Clone + Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    &mut list[at]
}

#[derive(Clone, Copy, Debug)]
struct Account {
    pelt: Pelt,
    doing: Doing,
    cpu: usize,
}

/// The loads of all tasks.
///
/// A blocked task's load stays on its last CPU and decays there, as in Linux. The load of a task
/// that has ended decays as well; Linux removes it at once.
#[derive(Default)]
pub struct Accounts {
    tasks: Vec<Option<Account>>,
    /// The tasks that were last on each CPU and are not forgotten.
    homes: Vec<Vec<TaskId>>,
}

impl Accounts {
    /// A task starts with this load. One that has an account keeps it.
    pub fn begin(&mut self, task: TaskId, cpu: usize, pelt: Pelt) {
        if self.account(task).is_none() {
            self.set(
                task,
                Account {
                    pelt,
                    doing: Doing::Nothing,
                    cpu,
                },
            );
        }
    }

    /// The reasons that [`Placement::note`] gives.
    pub fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        let new = Account {
            pelt: Pelt::new(view.now()),
            doing: before,
            cpu,
        };
        let mut account = self.account(task).unwrap_or(new);
        account.pelt.update(view.now(), before, view.capacity(cpu));
        self.set(
            task,
            Account {
                doing: after,
                cpu,
                ..account
            },
        );
    }

    /// The load of a task at present. One that is not known has none.
    pub fn load(&self, view: &dyn View, task: TaskId) -> Pelt {
        let Some(Account {
            mut pelt,
            doing,
            cpu,
        }) = self.account(task)
        else {
            return Pelt::new(view.now());
        };
        pelt.update(view.now(), doing, view.capacity(cpu));
        pelt
    }

    /// The utilisation of a CPU's tasks at present, those that are blocked included, in units of
    /// capacity.
    pub fn utilisation(&self, view: &dyn View, cpu: usize) -> u32 {
        self.homes
            .get(cpu)
            .into_iter()
            .flatten()
            .map(|&task| self.load(view, task).utilisation())
            .fold(0, u32::saturating_add)
    }

    /// The loads of the tasks that run on a CPU or wait for it, each of 1024, whatever their
    /// weights.
    pub fn unweighted_load(&self, view: &dyn View, cpu: usize) -> u32 {
        spread::tasks_of(view, cpu)
            .map(|task| self.load(view, task).ratio())
            .sum()
    }

    fn account(&self, task: TaskId) -> Option<Account> {
        self.tasks.get(task).copied().flatten()
    }

    fn set(&mut self, task: TaskId, account: Account) {
        slot(&mut self.homes, account.cpu);
        let before = slot(&mut self.tasks, task).replace(account);
        if before.is_none_or(|before| before.cpu != account.cpu) {
            if let Some(before) = before {
                self.homes[before.cpu].retain(|&other| other != task);
            }
            self.forget(account.cpu, account.pelt);
            self.homes[account.cpu].push(task);
        }
    }

    /// Drops from a CPU the tasks of which nothing is left. `newest` knows the time.
    fn forget(&mut self, cpu: usize, newest: Pelt) {
        let tasks = &mut self.tasks;
        self.homes[cpu].retain(|&task| {
            let gone = tasks[task].is_some_and(|account| {
                account.doing == Doing::Nothing && account.pelt.is_forgotten_at(&newest)
            });
            if gone {
                tasks[task] = None;
            }
            !gone
        });
    }
}

/// A policy that keeps no accounts itself, with accounts, so that frequencies can follow the load.
pub struct TrackingPolicy<P> {
    policy: P,
    accounts: Accounts,
}

impl<P> TrackingPolicy<P> {
    /// Adds accounts to a policy.
    pub fn new(policy: P) -> Self {
        Self {
            policy,
            accounts: Accounts::default(),
        }
    }
}

impl<P: Placement> Placement for TrackingPolicy<P> {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        self.policy.wake(view, task, previous)
    }

    fn start(&mut self, view: &dyn View, task: TaskId, parent: usize) -> usize {
        self.policy.start(view, task, parent)
    }

    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        self.policy.tick(view, cpu)
    }

    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        self.policy.pull(view, cpu)
    }

    fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        self.policy.note(view, task, cpu, before, after);
        self.accounts.note(view, task, cpu, before, after);
    }

    fn utilisation(&self, view: &dyn View, cpu: usize) -> Option<u32> {
        Some(self.accounts.utilisation(view, cpu))
    }
}
