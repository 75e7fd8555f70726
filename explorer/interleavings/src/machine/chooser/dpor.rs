//! Every run that differs from the others in an order that matters: dynamic partial-order reduction
//! with source sets (Flanagan and Godefroid, 2005; Abdulla and others, 2014) and sleep sets
//! (Godefroid, 1996).
//!
//! A step is one operation of a process, with what it lets leave its buffer. Two steps are
//! dependent if both access a word and one of them stores to it. Where a step comes after a
//! dependent one of another process, and nothing else orders them, the other order is tried as
//! well. What memory leaves open, as the age of a value, is tried in all ways that no order of
//! steps would show.

use self::Choice::*;
use crate::limits::MOST_CPUS;
use crate::machine::choice::Kind;
use crate::machine::choice::Kind::*;
use crate::machine::ready::Ready;
use crate::memory::Touch;
use std::collections::HashMap;

fn are_dependent(one: &[Touch], other: &[Touch]) -> bool {
    one.iter().any(|one| {
        other
            .iter()
            .any(|other| one.cell == other.cell && (one.writes || other.writes))
    })
}

/// A vector clock: for each process, the number of its last known step, from 1.
type Clock = [u32; MOST_CPUS + 1];

/// What the other clock knows is known as well.
fn join(clock: &mut Clock, other: Clock) {
    for (own, known) in clock.iter_mut().zip(other) {
        *own = (*own).max(known);
    }
}

/// A process, and what its next step accesses.
type Sleeper = (usize, Vec<Touch>);

/// Those who sleep, as a set of bits.
fn asleep(sleep: &[Sleeper]) -> u64 {
    sleep.iter().fold(0, |set, (process, _)| set | 1 << process)
}

/// A choice of who goes.
#[derive(Clone, Debug)]
struct Node {
    enabled: u64,
    chosen: usize,
    /// Processes that are to be tried here, and those that were.
    backtrack: u64,
    done: u64,
    sleep: Vec<Sleeper>,
    explored: Vec<Sleeper>,
    /// All that the step of the chosen one has accessed, whatever memory answered.
    accesses: Vec<Touch>,
}

#[derive(Clone, Debug)]
enum Choice {
    Who(Node),
    What {
        value: u32,
        options: u32,
    },
    /// Something is held back, or not; and whether anything came that could have overtaken it, in
    /// a run in which it was not.
    Hold {
        held: bool,
        is_worth: bool,
    },
}

#[derive(Clone, Debug, Default)]
struct CellAccesses {
    /// The step of the last store.
    write: Option<usize>,
    /// The last step of each process that loaded since.
    reads: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Step {
    process: usize,
    /// Index of the choice on the tape.
    node: usize,
    clock: Clock,
}

/// The choices of one run after the other, until all were tried that may differ.
#[derive(Default)]
pub struct Dpor {
    tape: Vec<Choice>,
    at: usize,
    later: Vec<Vec<u64>>,
    failed: bool,
    /// The choices of what to hold back, in the order of this run; [`usize::MAX`] for none.
    holds: Vec<usize>,
    steps: Vec<Step>,
    clocks: [Clock; MOST_CPUS + 1],
    cells: HashMap<u16, CellAccesses>,
    /// Processes that need not go here, since what they would do was tried before.
    sleep: Vec<Sleeper>,
    /// The step that has begun: its process and choice.
    current: Option<(usize, usize)>,
}

impl Dpor {
    /// All runs.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// All runs once more, with late loads: by word, the values that they may return.
    pub(crate) fn again_with_later_values(later: Vec<Vec<u64>>) -> Self {
        Self {
            later,
            ..Self::new()
        }
    }

    /// The step that has begun ends: it has accessed this.
    pub(crate) fn end_step(&mut self, accesses: &[Touch]) {
        let Some((process, node)) = self.current.take() else {
            return;
        };
        let number = self.steps.len();
        let before = self.clocks[process];
        let mut clock = before;
        let mut races = Vec::new();
        for access in accesses {
            let of_cell = self.cells.entry(access.cell).or_default();
            let reads = of_cell.reads.iter().filter(|_| access.writes);
            for &other in of_cell.write.iter().chain(reads) {
                let step = &self.steps[other];
                if step.process == process {
                    continue;
                }
                if before[step.process] <= other as u32 {
                    races.push(other);
                }
                join(&mut clock, step.clock);
            }
        }
        clock[process] = number as u32 + 1;
        for access in accesses {
            let steps = &self.steps;
            let of_cell = self.cells.entry(access.cell).or_default();
            if access.writes {
                of_cell.write = Some(number);
                of_cell.reads.clear();
            } else {
                of_cell
                    .reads
                    .retain(|&read| steps.get(read).is_some_and(|step| step.process != process));
                of_cell.reads.push(number);
            }
        }
        self.clocks[process] = clock;
        self.steps.push(Step {
            process,
            node,
            clock,
        });
        races
            .iter()
            .for_each(|&other| self.also_the_other_way_round(other, number));
        if let Who(node) = &mut self.tape[node] {
            for access in accesses {
                if !node.accesses.contains(access) {
                    node.accesses.push(*access);
                }
            }
        }
        self.sleep
            .retain(|(other, would)| *other != process && !are_dependent(would, accesses));
    }

    /// A step comes after a dependent one that nothing else orders before it: at that one's choice,
    /// somebody is to go with whom a run can start that does all that does not follow from the
    /// first step, and then the second (an initial; Abdulla and others, "Optimal dynamic partial
    /// order reduction", 2014).
    fn also_the_other_way_round(&mut self, first: usize, second: usize) {
        let steps = &self.steps;
        let Who(node) = &mut self.tape[steps[first].node] else {
            return;
        };
        let knows =
            |step: usize, other: usize| steps[step].clock[steps[other].process] > other as u32;
        let mut without: Vec<usize> = (first + 1..second)
            .filter(|&step| !knows(step, first))
            .collect();
        without.push(second);
        let (mut begun, mut initials) = (0_u64, 0_u64);
        for (at, &step) in without.iter().enumerate() {
            let bit = 1 << steps[step].process;
            if begun & bit == 0 && !without[..at].iter().any(|&earlier| knows(step, earlier)) {
                initials |= bit;
            }
            begun |= bit;
        }
        if initials & (node.backtrack | asleep(&node.sleep)) != 0 {
            return;
        }
        let process = 1 << steps[second].process;
        node.backtrack |= match initials & node.enabled {
            0 => node.enabled,
            candidates if candidates & process != 0 => process,
            candidates => candidates & candidates.wrapping_neg(),
        };
    }

    /// The process that goes: `running` if it can, by choice. `None` if all that could happen was
    /// tried before.
    pub(crate) fn who(&mut self, running: Option<usize>, ready: Ready) -> Option<usize> {
        let enabled = ready.awake | ready.asleep | running.map_or(0, |process| 1 << process);
        if self.at == self.tape.len() {
            let candidates = enabled & !asleep(&self.sleep);
            if candidates == 0 {
                return None;
            }
            let chosen = running
                .filter(|process| candidates >> process & 1 != 0)
                .unwrap_or(candidates.trailing_zeros() as usize);
            self.tape.push(Who(Node {
                enabled,
                chosen,
                backtrack: 1 << chosen,
                done: 0,
                sleep: self.sleep.clone(),
                explored: Vec::new(),
                accesses: Vec::new(),
            }));
        }
        let at = self.at;
        self.at += 1;
        let Who(node) = &self.tape[at] else {
            return None;
        };
        self.sleep = node
            .sleep
            .iter()
            .chain(&node.explored)
            .filter(|(process, _)| *process != node.chosen)
            .cloned()
            .collect();
        self.current = Some((node.chosen, at));
        Some(node.chosen)
    }

    fn below(&mut self, options: u32) -> u32 {
        if options < 2 {
            return 0;
        }
        if self.at == self.tape.len() {
            self.tape.push(What { value: 0, options });
        }
        self.at += 1;
        match self.tape[self.at - 1] {
            What { value, .. } => value,
            Who(_) | Hold { .. } => 0,
        }
    }

    /// Answers a choice of memory or hardware.
    pub(crate) fn answer(&mut self, kind: Kind, options: u32) -> u32 {
        match kind {
            // Caches that act on their own are for other strategies: all CPUs are in coherency
            // here.
            Spurious | Evict | Fill | Answered | ClockPasses => 0,
            // One in a run; a loop would try it for ever.
            ExclusiveFails | TimesOut if self.failed => 0,
            ExclusiveFails | TimesOut => {
                let fails = self.below(options);
                self.failed = fails != 0;
                fails
            }
            _ => self.below(options),
        }
    }

    /// 1 if a store or maintenance is held back, for later ones to overtake it.
    pub(crate) fn hold(&mut self) -> u32 {
        self.holds.push(self.at);
        if self.at == self.tape.len() {
            self.tape.push(Hold {
                held: false,
                is_worth: false,
            });
        }
        self.at += 1;
        u32::from(matches!(self.tape[self.at - 1], Hold { held: true, .. }))
    }

    /// Choices of what to hold back, by their numbers from 1, which would have made a difference.
    pub(crate) fn are_worth_holding(&mut self, numbers: &[u32]) {
        for &number in numbers {
            let at = (number as usize)
                .checked_sub(1)
                .and_then(|number| self.holds.get(number));
            if let Some(Hold { is_worth, .. }) = at.and_then(|&at| self.tape.get_mut(at)) {
                *is_worth = true;
            }
        }
    }

    /// The value of a late load, if it is one.
    pub(crate) fn late(&mut self, cell: u16, newest: u64) -> Option<u64> {
        let others: Vec<u64> = self
            .later
            .get(usize::from(cell))?
            .iter()
            .copied()
            .filter(|&value| value != newest)
            .collect();
        let nth = self.below(others.len() as u32 + 1).checked_sub(1)?;
        others.get(nth as usize).copied()
    }

    /// A process has enabled another one, or has ended so that another one goes on: that knows what
    /// it knew.
    pub(crate) fn learns_from(&mut self, process: usize, from: usize) {
        let clock = self.clocks[from];
        join(&mut self.clocks[process], clock);
        // The present step is no part of its process's clock yet.
        if self.current.is_some_and(|(current, _)| current == from) {
            let own = &mut self.clocks[process][from];
            *own = (*own).max(self.steps.len() as u32 + 1);
        }
    }

    /// Moves on to the next run; false if there is none.
    pub(crate) fn advance(&mut self) -> bool {
        *self = Self {
            tape: std::mem::take(&mut self.tape),
            later: std::mem::take(&mut self.later),
            ..Self::default()
        };
        while let Some(choice) = self.tape.pop() {
            match choice {
                What { value, options } if value + 1 < options => {
                    self.tape.push(What {
                        value: value + 1,
                        options,
                    });
                    return true;
                }
                Hold {
                    held: false,
                    is_worth: true,
                } => {
                    self.tape.push(Hold {
                        held: true,
                        is_worth: true,
                    });
                    return true;
                }
                What { .. } | Hold { .. } => {}
                Who(mut node) => {
                    node.done |= 1 << node.chosen;
                    node.explored
                        .push((node.chosen, std::mem::take(&mut node.accesses)));
                    let left = node.backtrack & node.enabled & !node.done & !asleep(&node.sleep);
                    if left != 0 {
                        node.chosen = left.trailing_zeros() as usize;
                        self.tape.push(Who(node));
                        return true;
                    }
                }
            }
        }
        false
    }
}
