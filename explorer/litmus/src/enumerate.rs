//! Every execution of a test.

use crate::{
    Error, ErrorKind, Result,
    answer::Answer,
    arm::{PlacedEffect, allows, locally_ordered_before},
    relation::Relation,
    supply::Supply,
    test::{Instruction, Kind, Register, Test, Variable},
    thread::{Run, all_runs},
};
/// Answers a test: tries each execution that there is, in as many steps as the test may take.
///
/// # Errors
/// The test needs what is not modelled, has more than [`Relation::MOST`] effects, or takes more steps.
pub fn answer(test: &Test) -> Result<Answer> {
    for instruction in test.threads.iter().flatten() {
        if let Instruction::Maintain { line, .. } = instruction {
            return Err(Error::unsupported(*line, "maintenance of caches"));
        }
    }
    let (runs, cut): (Vec<Vec<Run>>, Vec<bool>) = all_runs(test)?.into_iter().unzip();
    let locals: Vec<Vec<Relation>> = runs
        .iter()
        .map(|runs| {
            runs.iter()
                .map(|run| locally_ordered_before(&run.effects))
                .collect()
        })
        .collect();
    let most: usize = runs
        .iter()
        .map(|runs| runs.iter().map(|run| run.effects.len()).max().unwrap_or(0))
        .sum();
    if most > Relation::MOST {
        return Err(Error::unsupported(
            0,
            format!(
                "{most} accesses and barriers: {} are the most",
                Relation::MOST
            ),
        ));
    }
    let mut search = Search {
        test,
        runs: &runs,
        locals: &locals,
        answer: Answer {
            is_cut: cut.contains(&true),
            ..Answer::default()
        },
    };
    search.choose(&mut vec![], &mut Supply::new(&test.initial, &runs));
    if search.is_over() {
        return Err(Error {
            kind: ErrorKind::TooLong,
            line: 0,
            what: format!(
                "no answer within {} steps of the search through the executions",
                test.limit
            ),
        });
    }
    Ok(search.answer)
}

/// The search through the executions of a test, and what it has found.
struct Search<'s> {
    test: &'s Test,
    runs: &'s [Vec<Run>],
    locals: &'s [Vec<Relation>],
    answer: Answer,
}

impl Search<'_> {
    /// Chooses a run for each thread, and tries what they may do together.
    fn choose(&mut self, chosen: &mut Vec<usize>, supply: &mut Supply) {
        let thread = chosen.len();
        if thread == self.runs.len() {
            self.combine(chosen);
            return;
        }
        for number in 0..self.runs[thread].len() {
            // One execution without an end is enough to know that there are some.
            if self.answer.is_endless && self.runs[thread][number].repeats.is_some() {
                continue;
            }
            if !self.step() {
                return;
            }
            if supply.take(thread, number) {
                chosen.push(number);
                self.choose(chosen, supply);
                chosen.pop();
            }
            supply.change(thread, number, -1);
        }
    }

    /// True if the test has taken all steps that it may take.
    fn is_over(&self) -> bool {
        self.answer.steps > self.test.limit
    }

    /// Counts a step: a run, a place or a source that is chosen. False if it was one too many.
    fn step(&mut self) -> bool {
        self.answer.steps += 1;
        !self.is_over()
    }

    /// Tries what one run of each thread may do together.
    fn combine(&mut self, chosen: &[usize]) {
        let together: Vec<&Run> = chosen
            .iter()
            .zip(self.runs)
            .map(|(number, runs)| &runs[*number])
            .collect();
        let mut effects = vec![];
        let count = together.iter().map(|run| run.effects.len()).sum();
        let mut locally = Relation::empty(count);
        for (thread, run) in together.iter().enumerate() {
            locally.add_all(&self.locals[thread][chosen[thread]], effects.len());
            effects.extend(run.effects.iter().map(|&effect| PlacedEffect {
                thread,
                effect,
                place: 0,
            }));
        }
        let mut by_location = vec![vec![]; self.test.locations.len()];
        let mut reads = vec![];
        for (number, PlacedEffect { effect, .. }) in effects.iter().enumerate() {
            match effect.kind {
                Kind::Read => reads.push(number),
                Kind::Write => by_location[effect.location].push(number),
                _ => {}
            }
        }
        Execution {
            test: self.test,
            runs: &together,
            locally: &locally,
            by_location: &by_location,
            reads: &reads,
            effects,
        }
        .order_writes(0, self);
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
    fn order_writes(&mut self, location: usize, search: &mut Search<'_>) {
        match self.by_location.get(location) {
            Some(writes) => self.place_write(location, 1, None, &mut writes.clone(), search),
            None => self.choose_sources(0, search),
        }
    }

    fn place_write(
        &mut self,
        location: usize,
        place: usize,
        last: Option<usize>,
        left: &mut Vec<usize>,
        search: &mut Search<'_>,
    ) {
        if !search.step() {
            return;
        }
        if left.is_empty() {
            self.order_writes(location + 1, search);
            return;
        }
        for number in 0..left.len() {
            // Another order contradicts the internal visibility requirement.
            let thread = self.effects[left[number]].thread;
            if left[..number]
                .iter()
                .any(|earlier| self.effects[*earlier].thread == thread)
            {
                continue;
            }
            let write = left[number];
            if !self.may_follow(write, last) {
                continue;
            }
            left.remove(number);
            self.effects[write].place = place;
            self.place_write(location, place + 1, Some(write), left, search);
            left.insert(number, write);
        }
    }

    /// False for the write of an atomic instruction behind another one than that which it read.
    fn may_follow(&self, write: usize, last: Option<usize>) -> bool {
        let PlacedEffect { thread, effect, .. } = self.effects[write];
        let Some(read) = effect.pair.filter(|_| effect.atomic_instruction) else {
            return true;
        };
        let first = self.effects.partition_point(|other| other.thread < thread);
        let value = last.map_or(self.test.initial[effect.location], |last| {
            self.effects[last].effect.value
        });
        self.effects[first + read].effect.value == value
    }

    /// Lets each read take its value from every write that has it.
    fn choose_sources(&mut self, number: usize, search: &mut Search<'_>) {
        if !search.step() {
            return;
        }
        let Some(&read) = self.reads.get(number) else {
            self.count(search);
            return;
        };
        let effect = self.effects[read].effect;
        if self.test.initial[effect.location] == effect.value && self.may_read(read, 0) {
            self.effects[read].place = 0;
            self.choose_sources(number + 1, search);
        }
        let by_location = self.by_location;
        for &write in &by_location[effect.location] {
            let place = self.effects[write].place;
            if self.effects[write].effect.value == effect.value && self.may_read(read, place) {
                self.effects[read].place = place;
                self.choose_sources(number + 1, search);
            }
        }
    }

    /// False where the read would see what its own thread has overwritten, or what it writes later:
    /// that contradicts the internal visibility requirement, and is not tried.
    fn may_read(&self, read: usize, place: usize) -> bool {
        let mut writes = self.by_location[self.effects[read].effect.location]
            .iter()
            .filter(|&&write| self.effects[write].thread == self.effects[read].thread);
        writes.all(|&write| {
            let at = self.effects[write].place;
            if write < read {
                at <= place
            } else {
                at > place
            }
        })
    }

    /// True if what the threads read in the rounds that they repeat stays: the last writes.
    fn repeats(&self) -> bool {
        let mut begin = 0;
        self.runs.iter().all(|run| {
            let first = begin;
            begin += run.effects.len();
            let round = first + run.repeats.unwrap_or(run.effects.len())..begin;
            self.effects[round].iter().all(|read| {
                let is_read = read.effect.kind == Kind::Read;
                !is_read || read.place == self.by_location[read.effect.location].len()
            })
        })
    }

    fn count(&self, search: &mut Search<'_>) {
        // To check an execution takes as long as some choices, by the pairs of its effects.
        search.answer.steps += self.effects.len().pow(2) as u64 / 16;
        if !allows(&self.effects, self.locally) {
            return;
        }
        if self.runs.iter().any(|run| run.repeats.is_some()) {
            search.answer.is_endless |= self.repeats();
            return;
        }
        let value = |variable: &Variable| {
            let whole = match variable {
                Variable::Register(thread, number) => {
                    let registers = &self.runs[*thread].registers;
                    registers.get(&Register(*number)).map_or(0, |of| of.value)
                }
                Variable::Location(name) => {
                    let mut locations = self.test.locations.iter();
                    let location = locations.position(|known| known == name)?;
                    let last = self.by_location[location]
                        .iter()
                        .max_by_key(|write| self.effects[**write].place);
                    last.map_or(self.test.initial[location], |write| {
                        self.effects[*write].effect.value
                    })
                }
            };
            Some(self.test.cut(variable, whole))
        };
        if !self.test.filter.holds(&value) {
            return;
        }
        if self.test.condition.holds(&value) {
            search.answer.positive += 1
        } else {
            search.answer.negative += 1
        }
        let observed = self.test.observed.iter();
        let values = observed.filter_map(|variable| Some((variable.clone(), value(variable)?)));
        search.answer.states.insert(values.collect());
    }
}
