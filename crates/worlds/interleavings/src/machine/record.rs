//! Failures, and what the machine keeps of a run for those who read it.

use super::cpu::Wait;
use super::failure::{Failure, Invariant};
use super::state::Machine;
use super::step::Step;
use std::cell::{Ref, RefMut};

impl Machine {
    /// Ends the run with a failure, unless it has one.
    pub fn fail(&self, invariant: Invariant, what: String) -> ! {
        self.settle();
        self.report(invariant, what);
        self.stay()
    }

    /// Notes a failure unless the run has one, and returns.
    pub fn report(&self, invariant: Invariant, what: String) {
        let process = self.process();
        let mut failure = self.record.failure.borrow_mut();
        if failure.is_none() {
            *failure = Some(Failure {
                invariant,
                what,
                process: process as u8,
                operation: self.turns.operations[process].get(),
            });
        }
        self.turns.over.set(true);
    }

    /// The waits of processes, in words.
    pub fn describe_waits(&self) -> String {
        let mut text: Vec<String> = Vec::new();
        for (index, cpu) in self.cpus.iter().enumerate() {
            let names = self.settings.names.get();
            let holders = self.record.holders.borrow();
            let held: Vec<String> =
                holders.iter().filter(|(_, by)| *by == index).map(|(id, _)| names.lock(*id)).collect();
            let held = if held.is_empty() { String::new() } else { format!(" and holds {}", held.join(", ")) };
            let what = match cpu.waits() {
                Wait::Done | Wait::Absent => continue,
                Wait::Nothing => "runs".to_owned(),
                Wait::Event => "waits for an event".to_owned(),
                Wait::Change(cell) | Wait::Spin(cell) => format!("waits for {} to change", names.cell(cell)),
                Wait::Interrupt => "waits for an interrupt".to_owned(),
                Wait::Process(other) => format!("waits for CPU {other} to end"),
                Wait::LateLoad => "waits for a late load".to_owned(),
                Wait::Other(what) => names.waits(what).to_owned(),
            };
            text.push(format!("CPU {index} {what}{held}"));
        }
        if text.is_empty() { "nobody is left who could".to_owned() } else { text.join("; ") }
    }

    /// Takes the failure of the run, if anything broke.
    pub fn take_failure(&self) -> Option<Failure> {
        self.record.failure.take()
    }

    /// The run has failed, and went on: this is what broke.
    pub fn set_failure(&self, failure: Failure) {
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
