//! Who goes: processes wait, wake, start and end.

use super::choice::Kind;
use super::chooser::NOBODY;
use super::cpu::{Cpu, Wait};
use super::ready::Ready;
use super::state::Machine;
use super::step::Operation;
use crate::operation::OperationIndex;

impl Machine {
    #[inline(always)]
    pub(crate) fn ready(&self) -> Ready {
        let awake = self.turns.awake.get();
        let first = awake & !self.turns.held.get();
        Ready {
            awake: if first == 0 { awake } else { first },
            asleep: self.turns.asleep.get(),
        }
    }

    /// Holds the process back until every process that could run since its last yield, and did not,
    /// has run. True if there are any.
    pub(super) fn hold_back(&self, process: usize) -> bool {
        let fair = &self.turns.fair[process];
        let since = fair.yielded.replace(Some(self.turns.steps.get()));
        let waits_for = (0..self.turns.fair.len())
            .filter(|&other| {
                let went = self.turns.fair[other].went.get();
                other != process && self.is_awake(other) && since.is_some_and(|since| went <= since)
            })
            .fold(0, |set, other| set | 1 << other);
        fair.waits_for.set(waits_for);
        if waits_for != 0 {
            self.turns.held.set(self.turns.held.get() | 1 << process);
        }
        waits_for != 0
    }

    /// The process goes: nobody is held back for its sake any more.
    #[cold]
    fn let_held_go(&self, process: usize) {
        for (other, fair) in self.turns.fair.iter().enumerate() {
            let waits_for = fair.waits_for.get() & !(1 << process);
            fair.waits_for.set(waits_for);
            if waits_for == 0 || other == process {
                self.turns.held.set(self.turns.held.get() & !(1 << other));
            }
        }
    }

    /// The process can go, when it is chosen.
    pub fn can_go(&self, process: usize) {
        self.turns.awake.set(self.turns.awake.get() | 1 << process);
    }

    /// The CPU sleeps, and an interrupt may wake it whenever it is chosen.
    pub fn sleeps(&self, cpu: usize) {
        self.turns.asleep.set(self.turns.asleep.get() | 1 << cpu);
    }

    /// Wakes `process`: the condition that it waits for now holds.
    pub fn unblock(&self, process: usize) {
        if self.settings.traces.get() && !self.is_awake(process) {
            self.note_learns(process, self.process());
        }
        self.can_go(process);
    }

    /// The CPU starts an action, and counts its operations anew.
    pub fn start_action(&self, number: usize) {
        self.turns.operations[self.process()].set(OperationIndex::start_of(number));
        self.act(Operation::Action {
            number: number as u8,
        });
    }

    /// The process goes on to its next operation.
    #[inline(always)]
    pub(super) fn next_operation(&self, process: usize) -> OperationIndex {
        let operation = self.operation_of(process).next();
        self.turns.operations[process].set(operation);
        operation
    }

    /// Another process may go before an operation of this one, whose number is given.
    #[inline(always)]
    pub(super) fn let_somebody_go(&self, process: usize, did: u64) {
        if self.settings.traces.get() {
            self.end_step(process);
        }
        let goes = self.choices.chooser.borrow_mut().preempt(
            process,
            self.operation_of(process),
            did,
            self.ready(),
        );
        if goes != process {
            if goes == NOBODY {
                self.cut();
                self.stay();
            }
            self.deviate(process, Kind::Preempt, goes as u64);
            self.give_way_to(goes);
            self.scheduler.give_way();
        }
        if self.turns.over.get() {
            self.stay();
        }
    }

    fn give_way_to(&self, process: usize) {
        let bit = 1 << process;
        let steps = self.turns.steps.get();
        self.turns.fair[self.process()].went.set(steps);
        if self.turns.held.get() != 0 {
            self.let_held_go(process);
        }
        if self.turns.asleep.get() & bit != 0 {
            self.turns.asleep.set(self.turns.asleep.get() & !bit);
            self.can_go(process);
        }
        self.turns.next.set(Some(process));
    }

    /// The lowest process that can go starts the run.
    pub fn begin(&self) {
        self.turns.next.set(self.ready().first());
    }

    /// The process that goes on, for the engine.
    pub fn take_next(&self) -> Option<usize> {
        self.turns.next.take()
    }

    /// The process cannot go on until somebody calls [`Machine::unblock`] for it.
    pub fn block(&self, waits: Wait) {
        let process = self.process();
        self.note_waits(process, waits);
        self.cannot_go(process);
        if waits == Wait::Interrupt {
            self.sleeps(process);
        }
        self.hand_over(process);
        while self.turns.over.get() || !self.is_awake(process) {
            self.scheduler.give_way();
        }
        self.note_waits(process, Wait::Nothing);
    }

    /// Another process goes on, if one can; this one could as well.
    pub fn let_others_go(&self) {
        let process = self.process();
        self.cannot_go(process);
        if self.turns.awake.get() != 0 {
            self.hand_over(process);
        }
        self.can_go(process);
        if self.turns.next.get().is_some() || self.turns.over.get() {
            self.scheduler.give_way();
        }
        if self.turns.over.get() {
            self.stay();
        }
    }

    fn note_waits(&self, process: usize, waits: Wait) {
        if let Some(cpu) = self.cpus.get(process) {
            cpu.set_waits(waits);
        }
    }

    /// Starts an absent process, which inherits the view of memory of the one that runs.
    pub(crate) fn start_process(&self, process: usize) {
        self.memory.borrow_mut().inherit(process, self.process());
        self.note_learns(process, self.process());
        self.wake_pollers();
        self.note_waits(process, Wait::Nothing);
        self.can_go(process);
        self.scheduler.restart(process, 0, 0);
    }

    /// Waits until a process has ended, and sees what it has seen and done.
    pub(crate) fn wait_for_process(&self, process: usize) {
        self.settle();
        while self.cpus[process].waits() != Wait::Done {
            if !self.drain() {
                self.block(Wait::Process(process as u8));
            }
        }
        self.memory.borrow_mut().inherit(self.process(), process);
        self.note_learns(self.process(), process);
    }

    /// The process is done.
    pub fn leave(&self) {
        let process = self.process();
        (0..self.cpus.len())
            .filter(|cpu| self.cpus[*cpu].waits() == Wait::Process(process as u8))
            .for_each(|cpu| self.unblock(cpu));
        self.note_waits(process, Wait::Done);
        self.cannot_go(process);
        self.hand_over(process);
    }

    /// Chooses who goes on, since the present process cannot.
    fn hand_over(&self, process: usize) {
        if self.turns.over.get() {
            return;
        }
        if process < self.cpus.len() {
            // A store does not stay in a buffer for ever.
            self.memory.borrow_mut().empty_buffer(process);
            self.wake_pollers();
        }
        // It counts as an operation, so that it can be signal from the next time.
        let operation = self.next_operation(process);
        if self.settings.traces.get() {
            self.end_step(process);
            if self.turns.over.get() {
                return;
            }
        }
        let ready = self.ready();
        let goes = self
            .choices
            .chooser
            .borrow_mut()
            .next(process, operation, ready);
        match goes {
            Some(NOBODY) => self.cut(),
            Some(goes) => {
                if Some(goes) != ready.first() {
                    self.deviate(process, Kind::Next, goes as u64);
                }
                self.give_way_to(goes);
            }
            None => match self.next_in_a_loop(process) {
                Some(goes) => {
                    self.can_go(goes);
                    self.give_way_to(goes);
                }
                None => self.turns.over.set(true),
            },
        }
    }

    /// The next process after this one that waits in a loop. Where a late load waits for its value,
    /// and nobody is left who could store it but those who only look, the run is void, and none
    /// goes on.
    fn next_in_a_loop(&self, process: usize) -> Option<usize> {
        if self.is_void() {
            return None;
        }
        let count = self.cpus.len();
        (1..=count)
            .map(|step| (process + step) % count)
            .find(|cpu| matches!(self.cpus[*cpu].waits(), Wait::Spin(_)))
    }

    /// Does nothing more.
    pub fn stay(&self) -> ! {
        loop {
            self.scheduler.give_way();
        }
    }

    /// Wakes the CPUs that wait for a word to change.
    #[inline(always)]
    pub fn wake_pollers(&self) {
        if self.memory.borrow_mut().take_changed() {
            if self.late.followed.get() != 0 {
                self.note_paid();
            }
            let changes = self.memory.borrow_mut().take_changes();
            let sees = |cpu: &Cpu| match cpu.waits() {
                // That another word has changed is nothing to who waits for this one; where all is
                // to be tried, who goes is told from who could.
                Wait::Change(cell) if self.settings.traces.get() => changes.contains(&cell),
                Wait::Spin(_) if self.settings.traces.get() => cpu
                    .spin
                    .borrow()
                    .looks()
                    .iter()
                    .any(|(cell, _)| changes.contains(cell)),
                Wait::Change(_) | Wait::Spin(_) => true,
                _ => false,
            };
            for (index, cpu) in self.cpus.iter().enumerate() {
                if !self.is_awake(index) && sees(cpu) {
                    self.unblock(index);
                }
            }
        }
    }

    /// True if the process can go when it is chosen.
    #[inline(always)]
    pub fn is_awake(&self, process: usize) -> bool {
        self.turns.awake.get() >> process & 1 != 0
    }

    /// The process cannot go any more until somebody wakes it.
    #[inline(always)]
    pub fn cannot_go(&self, process: usize) {
        self.turns
            .awake
            .set(self.turns.awake.get() & !(1 << process));
    }

    /// Counts the operations of a process from here on.
    #[inline(always)]
    pub fn count_operations_from(&self, process: usize, operation: OperationIndex) {
        self.turns.operations[process].set(operation);
    }
}
