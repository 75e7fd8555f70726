//! Every execution of a test.

use crate::Error;
use crate::answer::{Answer, State};
use crate::arm::{PlacedEffect, allows, locally_ordered_before};
use crate::relation::Relation;
use crate::test::{Register, Test, Variable};
use crate::thread::{Kind, Run, all_runs};
use std::collections::{BTreeMap, BTreeSet};

/// Executions of a test, and choices of runs that have none.
const MOST_EXECUTIONS: u64 = 50_000_000;

/// Answers a test: tries each execution that there is.
///
/// # Errors
/// The test needs what is not modelled, or is too large: more than [`Relation::MOST`] effects.
pub fn answer(test: &Test) -> Result<Answer, Error> {
    let (runs, cut): (Vec<Vec<Run>>, Vec<bool>) = all_runs(test)?.into_iter().unzip();
    let locals: Vec<Vec<Relation>> =
        runs.iter().map(|runs| runs.iter().map(|run| locally_ordered_before(&run.effects)).collect()).collect();
    let most: usize = runs.iter().map(|runs| runs.iter().map(|run| run.effects.len()).max().unwrap_or(0)).sum();
    if most > Relation::MOST {
        return Err(Error::Unsupported {
            line: 0,
            what: format!("{most} accesses and barriers: {} are the most", Relation::MOST),
        });
    }
    let is_cut = cut.contains(&true);
    let mut answer = Answer { states: BTreeSet::new(), positive: 0, negative: 0, tried: 0, is_cut };
    let mut chosen = Vec::new();
    choose(test, &runs, &locals, &mut chosen, &mut answer);
    if answer.tried > MOST_EXECUTIONS {
        return Err(Error::Unsupported { line: 0, what: format!("more than {MOST_EXECUTIONS} executions") });
    }
    Ok(answer)
}

/// Chooses a run for each thread, and tries what they may do together.
fn choose(test: &Test, runs: &[Vec<Run>], locals: &[Vec<Relation>], chosen: &mut Vec<usize>, answer: &mut Answer) {
    let thread = chosen.len();
    if answer.tried > MOST_EXECUTIONS {
        return;
    }
    if thread < runs.len() {
        for number in 0..runs[thread].len() {
            chosen.push(number);
            choose(test, runs, locals, chosen, answer);
            chosen.pop();
        }
        return;
    }
    answer.tried += 1;
    let together: Vec<&Run> = chosen.iter().zip(runs).map(|(number, runs)| &runs[*number]).collect();
    let mut effects = Vec::new();
    let count = together.iter().map(|run| run.effects.len()).sum();
    let mut locally = Relation::empty(count);
    for (thread, run) in together.iter().enumerate() {
        locally.add_all(&locals[thread][chosen[thread]], effects.len());
        effects.extend(run.effects.iter().map(|&effect| PlacedEffect { thread, effect, place: 0 }));
    }
    let writes = |location: usize| {
        let of = move |placed: &&(usize, &PlacedEffect)| {
            placed.1.effect.kind == Kind::Write && placed.1.effect.location == location
        };
        effects.iter().enumerate().collect::<Vec<_>>().iter().filter(of).map(|(number, _)| *number).collect::<Vec<_>>()
    };
    let by_location: Vec<Vec<usize>> = (0..test.locations.len()).map(writes).collect();
    // A read whose value nobody writes has no execution.
    let has_source = |placed: &PlacedEffect| {
        placed.effect.kind != Kind::Read
            || test.initial[placed.effect.location] == placed.effect.value
            || by_location[placed.effect.location]
                .iter()
                .any(|write| effects[*write].effect.value == placed.effect.value)
    };
    if effects.iter().all(has_source) {
        let reads: Vec<usize> =
            (0..effects.len()).filter(|number| effects[*number].effect.kind == Kind::Read).collect();
        Execution { test, runs: &together, locally: &locally, by_location: &by_location, reads: &reads, effects }
            .order_writes(0, answer);
    }
}

struct Execution<'e> {
    test: &'e Test,
    runs: &'e [&'e Run],
    locally: &'e Relation,
    by_location: &'e [Vec<usize>],
    reads: &'e [usize],
    effects: Vec<PlacedEffect>,
}

impl Execution<'_> {
    /// Gives the writes of each location every order in which those of a thread stay as they are.
    fn order_writes(&mut self, location: usize, answer: &mut Answer) {
        match self.by_location.get(location) {
            Some(writes) => self.place_write(location, 1, &mut writes.clone(), answer),
            None => self.choose_sources(0, answer),
        }
    }

    fn place_write(&mut self, location: usize, place: usize, left: &mut Vec<usize>, answer: &mut Answer) {
        if answer.tried > MOST_EXECUTIONS {
            return;
        }
        if left.is_empty() {
            self.order_writes(location + 1, answer);
            return;
        }
        for number in 0..left.len() {
            // Another order contradicts the internal visibility requirement.
            let thread = self.effects[left[number]].thread;
            if left[..number].iter().any(|earlier| self.effects[*earlier].thread == thread) {
                continue;
            }
            let write = left.remove(number);
            self.effects[write].place = place;
            self.place_write(location, place + 1, left, answer);
            left.insert(number, write);
        }
    }

    /// Lets each read take its value from every write that has it.
    fn choose_sources(&mut self, number: usize, answer: &mut Answer) {
        if answer.tried > MOST_EXECUTIONS {
            return;
        }
        let Some(&read) = self.reads.get(number) else {
            self.count(answer);
            return;
        };
        let effect = self.effects[read].effect;
        if self.test.initial[effect.location] == effect.value && self.may_read(read, 0) {
            self.effects[read].place = 0;
            self.choose_sources(number + 1, answer);
        }
        let by_location = self.by_location;
        for &write in &by_location[effect.location] {
            let place = self.effects[write].place;
            if self.effects[write].effect.value == effect.value && self.may_read(read, place) {
                self.effects[read].place = place;
                self.choose_sources(number + 1, answer);
            }
        }
    }

    /// False where the read would see what its own thread has overwritten, or what it writes later:
    /// that contradicts the internal visibility requirement, and is not tried.
    fn may_read(&self, read: usize, place: usize) -> bool {
        let own = |&&write: &&usize| self.effects[write].thread == self.effects[read].thread;
        let mut writes = self.by_location[self.effects[read].effect.location].iter().filter(own);
        writes.all(|&write| {
            let at = self.effects[write].place;
            if write < read { at <= place } else { at > place }
        })
    }

    fn count(&self, answer: &mut Answer) {
        answer.tried += 1;
        if !allows(&self.effects, self.locally) {
            return;
        }
        let value = |variable: &Variable| match variable {
            Variable::Register(thread, number) => {
                self.runs[*thread].registers.get(&Register(*number)).copied().unwrap_or(0)
            }
            Variable::Location(name) => {
                let location = self.test.locations.iter().position(|known| known == name).unwrap_or(0);
                let last = self.by_location[location].iter().max_by_key(|write| self.effects[**write].place);
                last.map_or(self.test.initial[location], |write| self.effects[*write].effect.value)
            }
        };
        let values: BTreeMap<Variable, u64> = self
            .test
            .observed
            .iter()
            .chain(&self.test.filtered)
            .map(|variable| (variable.clone(), value(variable)))
            .collect();
        let mut state = State(values);
        if !state.holds(&self.test.filter) {
            return;
        }
        state.0.retain(|variable, _| self.test.observed.contains(variable));
        match state.holds(&self.test.condition) {
            true => answer.positive += 1,
            false => answer.negative += 1,
        }
        answer.states.insert(state);
    }
}
