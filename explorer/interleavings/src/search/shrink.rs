//! Shrinking: what a failure does not need is left out, memory first, then preemptions, then what
//! CPUs do.

use super::counterexample::Counterexample;
use super::run::{RunResult, Runs};
use super::script::{Script, length};
use crate::machine::{ChoiceSource, Deviation, Kind, Strategy};
use std::ops::Range;

/// Operations of all runs that a failure is shrunk by, at most.
const OPERATIONS: u64 = 50_000_000;

/// A session, and the operations that its runs may still make.
pub struct Budget<'r, C> {
    session: &'r mut dyn Runs<C>,
    left: u64,
}

impl<'r, C> Budget<'r, C> {
    /// The budget of a failure.
    pub fn new(session: &'r mut dyn Runs<C>) -> Self {
        let left = OPERATIONS;
        Self { session, left }
    }

    /// Runs a script, if there are operations left: the run, if it breaks the same invariant as
    /// `like`. What the run did not come to is left out of it. A boot that fails has actions of its
    /// own.
    pub fn again<M: Clone>(
        &mut self,
        like: &Counterexample<M, C>,
        script: &C,
        by: ChoiceSource<'_>,
    ) -> Option<Counterexample<M, C>>
    where
        C: Clone,
    {
        if self.left == 0 {
            return None;
        }
        let RunResult {
            failure,
            steps,
            hash,
        } = self.session.run(script, by);
        self.left = self.left.saturating_sub(u64::from(steps));
        Some(Counterexample {
            failure: failure.filter(|failure| failure.invariant == like.failure.invariant)?,
            script: self.session.script(),
            schedule: self.session.schedule(),
            hash,
            steps,
            ..like.clone()
        })
    }
}

/// Leaves out of a failing run whatever it does not need, until nothing more can go, no single
/// deviation and no action, or until the budget is spent.
pub fn shrink<M: Copy, C: Script>(
    session: &mut Budget<'_, C>,
    found: &Counterexample<M, C>,
) -> Counterexample<M, C> {
    let mut best = found.clone();
    reduce(session, &mut best);
    // What is left of the script is short, so that other runs of it fail as well, some of them with
    // fewer deviations: who was found first had to come by its failure in a long run.
    let mut reductions = 0;
    for seed in 0..SEARCHES {
        if pains(&best) <= ENOUGH || reductions == REDUCTIONS {
            break;
        }
        let strategy = SEARCH[(seed % SEARCH.len() as u64) as usize];
        let by = ChoiceSource::RandomChoices(strategy, seed);
        let Some(mut other) = session
            .again(&best, &best.script, by)
            .filter(|other| other.schedule.len() <= 4 * best.schedule.len())
        else {
            continue;
        };
        reductions += 1;
        reduce(session, &mut other);
        if pains(&other) < pains(&best) {
            best = other;
        }
    }
    best
}

/// The pains of reading a schedule: what memory does is as hard to read as four
/// switches.
fn pains<M, C>(of: &Counterexample<M, C>) -> usize {
    let schedule = of.schedule.iter();
    schedule
        .map(|deviation| 1 + 3 * usize::from(deviation.kind.is_memory()))
        .sum()
}

/// The number of those that fail which are reduced.
const REDUCTIONS: u32 = 40;

/// Strategies that deviate seldom, in turn.
const SEARCH: [Strategy; 5] = [
    Strategy::Few(2),
    Strategy::Few(4),
    Strategy::Few(8),
    Strategy::Pct(1),
    Strategy::PassingOver,
];

/// Runs of what is left of the script that are tried.
const SEARCHES: u64 = 20_000;

/// A schedule of so few deviations is read at a glance.
const ENOUGH: usize = 3;

/// Leaves out until nothing more can go.
fn reduce<M: Copy, C: Script>(session: &mut Budget<'_, C>, best: &mut Counterexample<M, C>) {
    let mut changed = true;
    while changed {
        changed = false;
        changed |= without_deviations(session, best, Kind::is_memory);
        changed |= without_deviations(session, best, |_| true);
        changed |= without_actions(session, best);
        for script in best.script.plainer().collect::<Vec<_>>() {
            let schedule = best.schedule.clone();
            changed |= try_run(session, best, &script, &schedule);
        }
    }
}

/// Takes a run over if it breaks the same invariant with less.
fn try_run<M: Copy, C: Script>(
    session: &mut Budget<'_, C>,
    best: &mut Counterexample<M, C>,
    script: &C,
    schedule: &[Deviation],
) -> bool {
    let size = |of: &Counterexample<M, C>| (length(&of.script), of.schedule.len());
    let other = session.again(best, script, ChoiceSource::Schedule(schedule));
    let smaller = other.filter(|other| size(other) < size(best));
    let is_smaller = smaller.is_some();
    if let Some(smaller) = smaller {
        *best = smaller;
    }
    is_smaller
}

/// Leaves out deviations of some kinds: first half of them, then a quarter, down to single ones.
fn without_deviations<M: Copy, C: Script>(
    session: &mut Budget<'_, C>,
    best: &mut Counterexample<M, C>,
    of: impl Fn(Kind) -> bool,
) -> bool {
    let mut changed = false;
    let mut chunk = best
        .schedule
        .iter()
        .filter(|deviation| of(deviation.kind))
        .count()
        .div_ceil(2);
    while chunk > 0 {
        let mut from = 0;
        loop {
            let places: Vec<usize> = (0..best.schedule.len())
                .filter(|&at| of(best.schedule[at].kind))
                .collect();
            if from >= places.len() {
                break;
            }
            let left_out = &places[from..(from + chunk).min(places.len())];
            let schedule: Vec<Deviation> = best
                .schedule
                .iter()
                .enumerate()
                .filter(|(at, _)| !left_out.contains(at))
                .map(|(_, deviation)| *deviation)
                .collect();
            let script = best.script.clone();
            let before = best.schedule.len();
            if try_run(session, best, &script, &schedule) && best.schedule.len() < before {
                changed = true;
            } else {
                from += chunk;
            }
        }
        chunk /= 2;
    }
    changed
}

/// Leaves out actions: all those of a CPU first, then half of them, then a quarter, down to single
/// ones.
fn without_actions<M: Copy, C: Script>(
    session: &mut Budget<'_, C>,
    best: &mut Counterexample<M, C>,
) -> bool {
    let mut changed = false;
    for cpu in 0..best.script.cpus() {
        let mut chunk = best.script.actions(cpu);
        while chunk > 0 {
            let mut end = best.script.actions(cpu);
            while end > 0 {
                let mut script = best.script.clone();
                let actions = end.saturating_sub(chunk)..end;
                script.leave_out(cpu, actions.clone());
                // Deviations of later actions move with them; or else they happen to fit what comes
                // in their place.
                let moved = without(&best.schedule, cpu, &actions);
                let kept = best.schedule.clone();
                changed |= try_run(session, best, &script, &moved)
                    || try_run(session, best, &script, &kept);
                // Where the machine was not even set up, what is left is of another script.
                end = end.saturating_sub(chunk).min(best.script.actions(cpu));
            }
            chunk = chunk.min(best.script.actions(cpu)) / 2;
        }
    }
    changed
}

/// A schedule for a script from which actions of a CPU are left out.
fn without(schedule: &[Deviation], cpu: usize, actions: &Range<usize>) -> Vec<Deviation> {
    let mut left = Vec::with_capacity(schedule.len());
    for &deviation in schedule {
        match deviation
            .operation
            .action()
            .filter(|_| usize::from(deviation.process) == cpu)
        {
            Some(action) if actions.contains(&action) => {}
            Some(action) if action >= actions.end => {
                left.push(Deviation {
                    operation: deviation.operation.without(actions.len()),
                    ..deviation
                });
            }
            _ => left.push(deviation),
        }
    }
    left
}
