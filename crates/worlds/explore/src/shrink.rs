//! Shrinking: what a failure does not need is left out, memory first, then preemptions, then calls and CPUs.

use crate::choice::{Deviation, Kind};
use crate::found::Found;
use crate::run::{By, Runs};
use crate::scenario::Scenario;
use crate::strategy::Strategy;

/// Leaves out of a failing run whatever it does not need, until nothing more can go: no single deviation and no call.
pub(crate) fn shrink(session: &mut dyn Runs, found: &Found) -> Found {
    let mut best = found.clone();
    reduce(session, &mut best);
    // What is left of the calls is short, so that other runs of it fail as well, some of them with fewer deviations: who was found first had
    // to come by its failure in a long run.
    for seed in 0..SEARCHES {
        if best.schedule.len() <= ENOUGH {
            break;
        }
        let strategy = [Strategy::Pct(1), Strategy::Pct(2), Strategy::PassingOver][(seed % 3) as usize];
        let ran = session.run(&best.scenario, By::Drawn(strategy, seed));
        let Some(failure) = ran.failure.filter(|failure| failure.invariant == best.failure.invariant) else { continue };
        let schedule = session.schedule();
        if schedule.len() > 4 * best.schedule.len() {
            continue;
        }
        let mut other = Found { failure, schedule, hash: ran.hash, steps: ran.steps, ..best.clone() };
        reduce(session, &mut other);
        if other.schedule.len() < best.schedule.len() {
            best = other;
        }
    }
    best
}

/// Runs of what is left of the calls that are tried.
const SEARCHES: u64 = 20_000;

/// A schedule of so few deviations is read at a glance.
const ENOUGH: usize = 3;

/// Leaves out until nothing more can go.
fn reduce(session: &mut dyn Runs, best: &mut Found) {
    let mut changed = true;
    while changed {
        changed = false;
        changed |= without_deviations(session, best, Kind::is_memory);
        changed |= without_deviations(session, best, |_| true);
        changed |= without_calls(session, best);
    }
}

/// Takes a run over if it breaks the same invariant with less.
fn try_run(session: &mut dyn Runs, best: &mut Found, scenario: &Scenario, schedule: &[Deviation]) -> bool {
    let ran = session.run(scenario, By::Schedule(schedule));
    match ran.failure {
        Some(failure) if failure.invariant == best.failure.invariant => {
            // What the run did not come to is gone as well. A boot that fails has calls of its own, of which none can go.
            let (scenario, schedule) = (session.scenario(), session.schedule());
            let size = |scenario: &Scenario, schedule: &[Deviation]| {
                (scenario.cpus.iter().map(Vec::len).sum::<usize>(), schedule.len())
            };
            let (before, after) = (size(&best.scenario, &best.schedule), size(&scenario, &schedule));
            let smaller = after.0 < before.0 || after.0 == before.0 && after.1 < before.1;
            if smaller {
                *best = Found { failure, scenario, schedule, hash: ran.hash, steps: ran.steps, ..best.clone() };
            }
            smaller
        }
        _ => false,
    }
}

/// Leaves out deviations of some kinds: first half of them, then a quarter, down to single ones.
fn without_deviations(session: &mut dyn Runs, best: &mut Found, of: impl Fn(Kind) -> bool) -> bool {
    let mut changed = false;
    let mut chunk = best.schedule.iter().filter(|deviation| of(deviation.kind)).count().div_ceil(2);
    while chunk > 0 {
        let mut from = 0;
        loop {
            let places: Vec<usize> = (0..best.schedule.len()).filter(|&at| of(best.schedule[at].kind)).collect();
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
            let scenario = best.scenario.clone();
            let before = best.schedule.len();
            if try_run(session, best, &scenario, &schedule) && best.schedule.len() < before {
                changed = true;
            } else {
                from += chunk;
            }
        }
        chunk /= 2;
    }
    changed
}

/// Leaves out the calls of whole CPUs, then single calls.
fn without_calls(session: &mut dyn Runs, best: &mut Found) -> bool {
    let mut changed = false;
    for cpu in 0..best.scenario.cpus.len() {
        if best.scenario.cpus[cpu].is_empty() {
            continue;
        }
        let mut scenario = best.scenario.clone();
        scenario.cpus[cpu].clear();
        let schedule = best.schedule.clone();
        changed |= try_run(session, best, &scenario, &schedule);
    }
    for cpu in 0..best.scenario.cpus.len() {
        let mut at = best.scenario.cpus[cpu].len();
        while at > 0 {
            at -= 1;
            if at >= best.scenario.cpus[cpu].len() {
                continue;
            }
            let mut scenario = best.scenario.clone();
            scenario.cpus[cpu].remove(at);
            let schedule = best.schedule.clone();
            changed |= try_run(session, best, &scenario, &schedule);
        }
    }
    changed
}
