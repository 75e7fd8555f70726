//! A task's way through its phases, and what it is doing now.

use crate::callbacks::ThreadNumber;
use crate::counts::TaskCounts;
use crate::runqueue::weight;
use crate::task::{Action, CpuSet, Policy, TaskId, TaskSpec};
use engine::{SplitMix64, Time};
use soc::Work;
use soc::meter::OwnerId;
use std::rc::Rc;

/// Actions that compute for less than this in sum are taken as one, in ns.
const SHORT_NS: u64 = 20_000;

/// The state of a task.
#[derive(Clone, Copy, PartialEq)]
pub enum Life {
    /// It has not started.
    Unborn,
    /// It waits for a CPU.
    Waiting,
    /// It runs, or is about to.
    Running,
    /// It is blocked.
    Blocked,
    /// It has ended.
    Ended,
}

/// A task or a kernel thread.
pub struct Task {
    pub(crate) spec: Rc<TaskSpec>,
    /// The task of the workload that it is, or is a copy of.
    pub(crate) origin: TaskId,
    /// A thread of the code that looks after callbacks.
    pub(crate) thread: Option<ThreadNumber>,
    pub(crate) life: Life,
    pub(crate) cpus: CpuSet,
    /// CPU on which the task is, or was last.
    pub(crate) cpu: usize,
    pub(crate) weight: u64,
    pub(crate) vruntime: u64,
    /// The work that is left to compute, and its owner.
    pub(crate) left: Work,
    /// A time that is left to compute for, however fast the core is, in ps.
    pub(crate) time_left: Time,
    pub(crate) owner: OwnerId,
    /// Work of a thread that comes after what is left, with its owner.
    pub(crate) then: Option<(OwnerId, Work)>,
    /// A thread: whether somebody woke it since its last step began.
    pub(crate) woken: bool,
    /// The mutex that it waits for.
    pub(crate) wants: Option<usize>,
    /// The task group, counted as in a phase.
    pub(crate) group: usize,
    /// Wake-ups so far: a timer for an earlier sleep does nothing.
    pub(crate) sleep: u64,
    /// When a timer should have woken it.
    pub(crate) expected: Option<Time>,
    /// The base of each of its own timers.
    pub(crate) timers: Vec<Time>,
    /// When the period of a timer began that the task is busy with.
    pub(crate) period: Option<Time>,
    /// When it started.
    pub(crate) begin: Time,
    /// The time that it has run since it was put on its CPU, in ps.
    pub(crate) slice: Time,
    pub(crate) random: SplitMix64,
    pub(crate) counts: TaskCounts,
    place: Position,
}

/// Position of a task in its phases.
#[derive(Clone, Copy, Default)]
struct Position {
    round: u32,
    phase: usize,
    turn: u32,
    action: usize,
}

impl Task {
    pub fn new(spec: Rc<TaskSpec>, origin: TaskId, owner: OwnerId, random: SplitMix64) -> Self {
        let weight = match spec.policy {
            Policy::Fair { nice } => weight(nice),
            Policy::RealTime { .. } => 0,
        };
        Self {
            cpus: spec.cpus,
            spec,
            origin,
            thread: None,
            life: Life::Unborn,
            cpu: 0,
            weight,
            vruntime: 0,
            left: Work::NONE,
            time_left: 0,
            owner,
            then: None,
            woken: false,
            wants: None,
            group: 0,
            sleep: 0,
            expected: None,
            timers: Vec::new(),
            period: None,
            begin: 0,
            slice: 0,
            random,
            counts: TaskCounts::default(),
            place: Position::default(),
        }
    }

    /// The next action, in the order of phases and loops; `None` at the end.
    pub fn next_action(&mut self) -> Option<Action> {
        let mut empty = 0;
        loop {
            if self
                .spec
                .loops
                .is_some_and(|loops| self.place.round >= loops)
            {
                return None;
            }
            let Some(phase) = self.spec.phases.get(self.place.phase) else {
                self.place = Position {
                    round: self.place.round.saturating_add(1),
                    ..Position::default()
                };
                self.counts.loops += 1;
                // A program without actions would go round for ever.
                empty += 1;
                if empty > 1 {
                    return None;
                }
                continue;
            };
            if phase.loops.is_some_and(|loops| self.place.turn >= loops) || phase.actions.is_empty()
            {
                self.place = Position {
                    phase: self.place.phase + 1,
                    turn: 0,
                    action: 0,
                    ..self.place
                };
                continue;
            }
            if (self.place.turn, self.place.action) == (0, 0) {
                self.cpus = phase.cpus.unwrap_or(self.cpus);
                self.group = phase.group.unwrap_or(self.group);
            }
            let Some(action) = phase.actions.get(self.place.action) else {
                self.place = Position {
                    turn: self.place.turn.saturating_add(1),
                    action: 0,
                    ..self.place
                };
                continue;
            };
            self.place.action += 1;
            return Some(*action);
        }
    }

    /// Adds work. Much short work in a row is computed as one, for each takes time to simulate.
    pub fn add_work(&mut self, action: Action) {
        let mut sum = self.add(action);
        while sum < SHORT_NS {
            let Some(more) = self.next_that_computes() else {
                break;
            };
            sum += self.add(more).max(1);
        }
    }

    /// As [`Self::next_period`], of one of its own timers.
    pub fn next_own_period(&mut self, timer: usize, period: u64, relative: bool, now: u64) -> u64 {
        if self.timers.len() <= timer {
            self.timers.resize(timer + 1, self.begin);
        }
        self.timers[timer] = self.next_period(self.timers[timer], period, relative, now);
        self.timers[timer]
    }

    /// Moves a timer on by a period from its base and counts the period that ends: its response
    /// time, whether it was missed, and how many were skipped. Returns when the next one begins, in
    /// ps. A timer that is `relative` starts anew at `now` if it is late.
    pub fn next_period(&mut self, base: Time, period: u64, relative: bool, now: u64) -> u64 {
        let mut next = base.saturating_add(period);
        let is_late = next < now;
        let mut skipped = 0;
        if next <= now && relative {
            skipped = (now - next) / period.max(1);
            next = now;
        }
        if let Some(began) = self.period.replace(next) {
            self.counts
                .responses
                .push(now.saturating_sub(began) / 1_000);
            self.counts.misses += u64::from(is_late);
            self.counts.skipped += skipped;
        }
        next
    }

    /// The next action, if it only computes, on the same CPUs and in the same group.
    pub fn next_that_computes(&mut self) -> Option<Action> {
        let before = (self.place, self.cpus, self.group, self.counts.loops);
        let next = self.next_action();
        let computes = matches!(next, Some(Action::Run { .. } | Action::RunTime(_)));
        if computes && (self.cpus, self.group) == (before.1, before.2) {
            return next;
        }
        (self.place, self.cpus, self.group, self.counts.loops) = before;
        None
    }

    pub fn is_fair(&self) -> bool {
        matches!(self.spec.policy, Policy::Fair { .. })
    }

    /// True if it still is in the sleep of this number.
    pub fn is_in_sleep(&self, sleep: u64) -> bool {
        (self.sleep, self.life) == (sleep, Life::Blocked)
    }

    /// True if it still has something to compute.
    pub fn computes(&self) -> bool {
        self.left > Work::NONE || self.time_left > 0
    }

    /// The time that it computes at a capacity, in ps.
    pub fn time(&self, capacity: u32) -> Time {
        self.left.time(capacity) + self.time_left
    }

    /// Adds an action that computes to what is left; the time in ns that it was given for.
    pub fn add(&mut self, action: Action) -> u64 {
        match action {
            Action::Run { time, capacity } => {
                let ns = time.next(&mut self.random);
                self.left += Work::done(capacity, ns.saturating_mul(1_000));
                ns
            }
            Action::RunTime(time) => {
                let ns = time.next(&mut self.random);
                self.time_left += ns.saturating_mul(1_000);
                ns
            }
            _ => 0,
        }
    }

    /// It has computed for a time at a capacity, as a task of a weight.
    pub fn compute(&mut self, capacity: u32, elapsed: Time, weight: u64) {
        let of_work = elapsed.min(self.left.time(capacity));
        self.left -= Work::done(capacity, of_work);
        self.time_left = self.time_left.saturating_sub(elapsed - of_work);
        self.counts.ran += elapsed;
        self.slice += elapsed;
        // Real-time tasks have no weight and no account of it.
        self.vruntime += (elapsed * crate::runqueue::WEIGHT)
            .checked_div(weight)
            .unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Phase;

    fn task(loops: Option<u32>, phases: Vec<Phase>) -> Task {
        let spec = TaskSpec {
            loops,
            phases,
            ..TaskSpec::forever("made", Vec::new())
        };
        Task::new(Rc::new(spec), 0, 0, SplitMix64::new(1))
    }

    #[test]
    fn phases_and_loops_are_gone_through_in_order() {
        let phase = |loops, actions: &[Action]| Phase {
            loops,
            ..Phase::once(actions.to_vec())
        };
        let mut task = task(
            Some(2),
            vec![
                phase(Some(2), &[Action::Lock(0), Action::Unlock(0)]),
                phase(Some(0), &[Action::Exit]),
                phase(Some(1), &[Action::Yield]),
            ],
        );
        let all: Vec<_> = std::iter::from_fn(|| task.next_action()).collect();
        let round = [
            Action::Lock(0),
            Action::Unlock(0),
            Action::Lock(0),
            Action::Unlock(0),
            Action::Yield,
        ];
        assert_eq!(all, [round, round].concat());
        assert_eq!(task.counts.loops, 2);
    }

    #[test]
    fn a_program_without_actions_ends() {
        assert_eq!(task(None, Vec::new()).next_action(), None);
        assert_eq!(
            task(
                None,
                vec![Phase {
                    loops: None,
                    ..Phase::once(Vec::new())
                }]
            )
            .next_action(),
            None
        );
    }

    #[test]
    fn work_that_was_interrupted_goes_on_where_it_was() {
        let mut task = task(None, Vec::new());
        task.left = Work::done(1024, 1_000);
        task.time_left = 500;
        assert_eq!(task.time(512), 2_500);
        task.compute(512, 1_000, 1024);
        assert_eq!((task.time(1024), task.vruntime), (1_000, 1_000));
        task.compute(1024, 900, 1024);
        assert_eq!(task.time(1024), 100);
        task.compute(1024, 100, 1024);
        assert!(!task.computes());
    }
}
