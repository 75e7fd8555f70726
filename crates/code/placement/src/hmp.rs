//! HMP: unequal CPUs on purpose. A task with a high load runs on fast CPUs, one with a low load on
//! slow ones.
//!
//! After Rasmussen's patches as vendors' trees have them. Between two classes of CPUs nothing is
//! balanced: a task crosses only by the rules here. Within a class tasks spread evenly.

use crate::accounts::{Accounts, slot};
use crate::classes;
use crate::pelt::Pelt;
use crate::spread;
use crate::task::{CpuSet, Policy, TaskId};
use crate::view::{Doing, Move, Placement, View};
use alloc::vec::Vec;

/// Settings of [`Hmp`].
pub struct HmpSettings {
    /// A task whose load is above this, of 1024, moves up.
    pub up: u32,
    /// A task whose load is below this, of 1024, moves down.
    pub down: u32,
    /// Nobody moves up unless a fast CPU has a load of less than this, the loads of its tasks added
    /// up; `None` to go without the rule.
    pub room: Option<u32>,
    /// True if a fast CPU with too many tasks hands one to an idle slow CPU: the lightest, if it
    /// gets at most three quarters of what it could use, and no fast CPU idles.
    pub offload: bool,
}

impl Default for HmpSettings {
    /// Vendors' values. The room is their 1024 - 64.
    fn default() -> Self {
        Self {
            up: 700,
            down: 512,
            room: Some(960),
            offload: true,
        }
    }
}

impl HmpSettings {
    /// The thresholds of the first patches, 512 and 256.
    pub fn early() -> Self {
        Self {
            up: 512,
            down: 256,
            ..Self::default()
        }
    }
}

/// Only tasks up to this nice value move up, and others down whatever their load: 0 is the default
/// priority. Vendors let nice values below 5 pass; the talk says priority at least default, as here.
const HIGHEST_NICE: i8 = 0;

/// No second move of a task in the same direction within this time, in units of 1024 ns.
const SETTLE: u64 = 4096;

/// The share of what it could use up to which a task counts as starved, of 1024.
const STARVED: u32 = 768;

/// The policy.
#[derive(Default)]
pub struct Hmp {
    settings: HmpSettings,
    accounts: Accounts,
    /// The last move of each task: true if it went up, and when, in units of 1024 ns.
    moved: Vec<Option<(bool, u64)>>,
}

impl Hmp {
    /// A policy that knows no tasks yet.
    pub fn new(settings: HmpSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    fn units(view: &dyn View) -> u64 {
        (view.now() / 1_000) >> 10
    }

    /// True if a task may move up, or down. A move in one direction allows one in the other at once.
    fn has_settled(&self, view: &dyn View, task: TaskId, goes_up: bool) -> bool {
        let last = self.moved.get(task).copied().flatten();
        last.is_none_or(|(went_up, at)| {
            went_up != goes_up || Self::units(view).saturating_sub(at) >= SETTLE
        })
    }

    /// The CPU with the least load, that of its tasks added up whatever their weights.
    fn least_loaded(&self, view: &dyn View, among: CpuSet) -> Option<(u32, usize)> {
        let load = |cpu| {
            (
                self.accounts.unweighted_load(view, cpu),
                spread::tasks(view, cpu),
                cpu,
            )
        };
        among
            .iter(view.cpus())
            .map(load)
            .min()
            .map(|(load, _, cpu)| (load, cpu))
    }

    /// CPU to which a fair task on `cpu` should move up; none if it should stay.
    fn up(&self, view: &dyn View, task: TaskId, cpu: usize) -> Option<usize> {
        let Policy::Fair { nice } = view.policy(task) else {
            return None;
        };
        let heavy = self.accounts.load(view, task).ratio() > self.settings.up;
        if !heavy || nice > HIGHEST_NICE || !self.has_settled(view, task, true) {
            return None;
        }
        let (load, to) =
            self.least_loaded(view, classes::faster(view, cpu) & view.allowed(task))?;
        self.settings
            .room
            .is_none_or(|room| load < room)
            .then_some(to)
    }

    /// CPU to which a fair task on `cpu` should move down; none if it should stay.
    fn down(&self, view: &dyn View, task: TaskId, cpu: usize) -> Option<usize> {
        let Policy::Fair { nice } = view.policy(task) else {
            return None;
        };
        let (_, to) = self.least_loaded(view, classes::slower(view, cpu) & view.allowed(task))?;
        if nice > HIGHEST_NICE {
            return Some(to);
        }
        let light = self.accounts.load(view, task).ratio() < self.settings.down;
        (light && self.has_settled(view, task, false)).then_some(to)
    }

    fn note_move(&mut self, view: &dyn View, task: TaskId, goes_up: bool) {
        *slot(&mut self.moved, task) = Some((goes_up, Self::units(view)));
    }

    /// A task of a full fast CPU for an idle slow one.
    fn offload(&self, view: &dyn View, cpu: usize) -> Option<Move> {
        let is_idle = |&other: &usize| spread::tasks(view, other) == 0;
        let crowded = view.waiting(cpu) > 0
            && classes::same(view, cpu)
                .iter(view.cpus())
                .all(|other| !is_idle(&other));
        if !self.settings.offload || !crowded {
            return None;
        }
        let (_, task) = spread::tasks_of(view, cpu)
            .filter(|&task| view.policy(task).is_fair())
            .map(|task| (self.accounts.load(view, task).ratio(), task))
            .min()?;
        let starved = self.accounts.load(view, task).served() <= STARVED;
        let to = (classes::slower(view, cpu) & view.allowed(task))
            .iter(view.cpus())
            .find(is_idle)?;
        starved.then_some(Move { task, to })
    }
}

impl Placement for Hmp {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        let allowed = view.allowed(task);
        if let Policy::RealTime { priority } = view.policy(task) {
            return spread::real_time(view, allowed, priority, previous);
        }
        if let Some(to) = self.up(view, task, previous) {
            self.note_move(view, task, true);
            return to;
        }
        if let Some(to) = self.down(view, task, previous) {
            self.note_move(view, task, false);
            return to;
        }
        spread::fewest(
            view,
            (classes::same(view, previous) & allowed).or_if_empty(allowed),
            previous,
        )
    }

    /// A new task of a user starts on the fastest class and counts as one that has always run: it
    /// shows what it needs.
    fn start(&mut self, view: &dyn View, task: TaskId, parent: usize) -> usize {
        if !view.policy(task).is_fair() || view.is_kernel_thread(task) {
            return self.wake(view, task, parent);
        }
        let allowed = view.allowed(task);
        let among = (allowed & classes::fastest(view)).or_if_empty(allowed);
        let to = self.least_loaded(view, among).map_or(parent, |(_, to)| to);
        self.accounts
            .begin(task, to, Pelt::full(view.now(), view.capacity(to)));
        to
    }

    /// The running task moves up if its load says so, and without it waking up; otherwise a crowded
    /// CPU hands tasks over.
    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        if let Some(task) = view.running(cpu)
            && let Some(to) = self.up(view, task, cpu)
        {
            self.note_move(view, task, true);
            return Some(Move { task, to });
        }
        if let Some(offloaded) = self.offload(view, cpu) {
            self.note_move(view, offloaded.task, false);
            return Some(offloaded);
        }
        spread::hand_over(view, classes::same(view, cpu), cpu)
    }

    /// An idle CPU takes what waits in its own class; then a fast one takes the heaviest task of
    /// the slower class that may move up.
    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        if let Some(task) = spread::take(view, classes::same(view, cpu), cpu) {
            return Some(task);
        }
        let tasks = classes::slower(view, cpu)
            .iter(view.cpus())
            .flat_map(|other| spread::tasks_of(view, other).map(move |task| (other, task)));
        let (_, task) = tasks
            .filter(|&(other, task)| {
                view.allowed(task).has(cpu) && self.up(view, task, other).is_some()
            })
            .max_by_key(|&(_, task)| {
                (
                    self.accounts.load(view, task).ratio(),
                    core::cmp::Reverse(task),
                )
            })?;
        self.note_move(view, task, true);
        Some(task)
    }

    fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        self.accounts.note(view, task, cpu, before, after);
    }

    fn utilisation(&self, view: &dyn View, cpu: usize) -> Option<u32> {
        Some(self.accounts.utilisation(view, cpu))
    }
}
