//! Failures, and what the machine keeps of a run for those who read it.

use super::cpu::Wait;
use super::failure::{Breach, Failure, Invariant};
use super::names::{Names, number_and_place};
use super::parts::Observer;
use super::state::Machine;
use super::step::{LockStep, Operation, Step};
use crate::operation::OperationIndex;
use std::cell::{Ref, RefMut};

impl Machine {
    /// Notes that the process that runs has taken a lock, or let it go, where steps are kept.
    pub fn note_lock(&self, lock: u32, taken: bool) {
        if self.settings.keeps_steps.get() {
            let (step, process) = (self.record.log.borrow().len(), self.process() as u8);
            self.record.locks.borrow_mut().push(LockStep {
                step,
                process,
                lock,
                taken,
            });
        }
    }

    /// The takings and releases of locks in the last run, if its steps were kept.
    pub fn lock_steps(&self) -> Ref<'_, Vec<LockStep>> {
        self.record.locks.borrow()
    }

    /// The first of the accesses that race: its process, and the operation after which it came.
    pub fn first_of_race(&self) -> Option<(u8, OperationIndex)> {
        self.record.race.get()
    }

    /// Has each step that is kept looked at, by its number, before it is made.
    pub fn observe(&self, observer: Option<Observer>) {
        self.record.observer.replace(observer);
    }

    /// Keeps a step, if steps are kept.
    #[inline(always)]
    pub(super) fn keep_step(&self, process: usize, did: Operation) {
        if self.settings.keeps_steps.get() {
            if let Some(observer) = &*self.record.observer.borrow() {
                observer(self.record.log.borrow().len());
            }
            self.record.log.borrow_mut().push(Step {
                process: process as u8,
                operation: self.operation_of(process),
                did,
            });
        }
    }

    /// Ends the run with a failure, unless it has one.
    pub fn fail(&self, invariant: Invariant, what: String) -> ! {
        self.settle();
        let process = self.process();
        self.record
            .failure
            .borrow_mut()
            .get_or_insert_with(|| Failure {
                invariant,
                what,
                process: process as u8,
                operation: self.operation_of(process),
            });
        self.turns.over.set(true);
        self.stay()
    }

    /// Ends the run with a failure if something does not hold.
    pub fn hold(&self, result: Result<(), Breach>) {
        if let Err((invariant, what)) = result {
            self.fail(invariant, what);
        }
    }

    /// The code under test has panicked, which ends the run.
    pub(crate) fn fail_by_panic(&self, payload: &(dyn std::any::Any + Send)) -> ! {
        let Failure {
            invariant, what, ..
        } = Failure::of_panic(payload);
        self.fail(invariant, what)
    }

    /// The names of words and locks, with those of words that were made in the middle of this run.
    pub fn names(&self) -> Names {
        let names = self.settings.names.borrow().clone();
        let places = self.record.places.borrow();
        let made = places
            .iter()
            .enumerate()
            .map(|(word, place)| number_and_place(word, place));
        if places.is_empty() {
            names
        } else {
            Names {
                own: made.collect(),
                ..names
            }
        }
    }

    /// The waits of processes, in words.
    pub fn describe_waits(&self) -> String {
        let mut text = Vec::new();
        for (index, cpu) in self.cpus.iter().enumerate() {
            let names = self.names();
            let holders = self.record.holders.borrow();
            let held: Vec<String> = holders
                .iter()
                .filter(|(_, by)| *by == index)
                .map(|(id, _)| (names.lock)(*id))
                .collect();
            let held = if held.is_empty() {
                String::new()
            } else {
                format!(" and holds {}", held.join(", "))
            };
            let what = match cpu.waits() {
                Wait::Done | Wait::Absent => continue,
                Wait::Nothing => "runs".to_owned(),
                Wait::Event => "waits for an event".to_owned(),
                Wait::Change(cell) | Wait::Spin(cell) => {
                    format!("waits for {} to change", names.cell(cell))
                }
                Wait::Interrupt => "waits for an interrupt".to_owned(),
                Wait::Process(other) => format!("waits for {} to end", names.process(other)),
                Wait::LateLoad => "waits for a late load".to_owned(),
                Wait::Other(what) => names.waits(what).to_owned(),
            };
            let who = names.process(index);
            let place = cpu.place.get();
            let place = place.map_or_else(String::new, |place| format!(" at {place}"));
            text.push(format!("{who} {what}{held}{place}"));
        }
        if text.is_empty() {
            "nobody is left who could".to_owned()
        } else {
            text.join("; ")
        }
    }

    /// Takes the failure of the run, if anything broke.
    pub(crate) fn take_failure(&self) -> Option<Failure> {
        self.record.failure.take()
    }

    /// The run has failed, and went on: this is what broke.
    pub(crate) fn set_failure(&self, failure: Failure) {
        self.record.failure.replace(Some(failure));
    }

    /// The steps of the last run, if they were kept.
    pub fn steps_of_run(&self) -> Ref<'_, Vec<Step>> {
        self.record.log.borrow()
    }

    /// The holder of each lock, by the lock's id, as far as the machine is told.
    pub fn holders(&self) -> RefMut<'_, Vec<(u32, usize)>> {
        self.record.holders.borrow_mut()
    }
}
