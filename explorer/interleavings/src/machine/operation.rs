//! Before an operation: another process may go first, stores leave their buffer, caches act.

use super::choice::Kind;
use super::chooser::Chooser;
use super::failure::Invariant;
use super::state::Machine;
use super::step::Operation;
use crate::memory::{Memory, Touch};

impl Machine {
    /// Before an operation: another process may go first, and caches may act on their own.
    pub fn operation(&self, did: Operation) {
        self.operate(did);
    }

    /// As [`Machine::operation`], for the loads and stores, which are most operations.
    #[inline(always)]
    pub(super) fn operate(&self, did: Operation) {
        let process = self.process();
        let operation = self.next_operation(process);
        let steps = self.turns.steps.get() + 1;
        self.turns.steps.set(steps);
        self.heart.beat(process, operation);
        if steps > self.settings.limits.get().steps {
            let hint = if self.settings.spins.get() {
                "; a loop that waits for others has to say so, with yield_now() or spin_loop()"
            } else {
                ""
            };
            let waits = self.describe_waits();
            self.fail(
                Invariant::Livelock,
                format!("nobody gets on after {steps} operations: {waits}{hint}"),
            );
        }
        self.let_somebody_go(process, did.number());
        self.let_held_stores_leave(process);
        self.mix((process as u64) << 32 | did.number());
        if self.late.followed.get() >> process & 1 != 0 {
            self.follow(process, did.number(), true);
        }
        if self.settings.traces.get() && (process == self.cpus.len() || did.touches_hardware()) {
            self.note_hardware(did);
        }
        if process < self.cpus.len() {
            let mut memory = self.memory.borrow_mut();
            memory.pass(process);
            // Nothing shows what caches do on their own to threads of a program.
            if !self.settings.spins.get() {
                self.act_on_their_own(process, &mut memory);
            }
            if memory.has_paid() {
                drop(memory);
                self.note_paid();
            }
        }
        self.keep_step(process, did);
    }

    /// Stores that were held back until a later one has overtaken them leave the buffer, or not
    /// yet; each is an operation of its own.
    #[inline(always)]
    fn let_held_stores_leave(&self, process: usize) {
        while process < self.cpus.len() {
            let overtaken = self.memory.borrow().overtaken(process);
            if overtaken == 0 {
                break;
            }
            let Some(nth) = self
                .answer(Kind::StoreLeaves, overtaken as u32 + 1)
                .checked_sub(1)
            else {
                break;
            };
            self.memory
                .borrow_mut()
                .let_overtaken_leave(process, nth as usize);
            self.wake_pollers();
            self.keep_step(process, Operation::Own);
            self.next_operation(process);
            self.let_somebody_go(process, 0);
        }
    }

    /// Stores that were held back and overtaken leave the buffer one by one: the process is about
    /// to wait, or to end. Others may go before each, so what it waits for may have come: true if
    /// there were any.
    pub fn drain(&self) -> bool {
        let process = self.process();
        let mut any = false;
        while process < self.cpus.len() {
            let overtaken = self.memory.borrow().overtaken(process);
            if overtaken == 0 {
                break;
            }
            any = true;
            self.next_operation(process);
            self.let_somebody_go(process, 0);
            let nth = self.answer(Kind::StoreLeaves, overtaken as u32);
            self.memory
                .borrow_mut()
                .let_overtaken_leave(process, nth as usize);
            self.wake_pollers();
            self.keep_step(process, Operation::Own);
        }
        any
    }

    /// The present step is about what is no word: events, or hardware and who has power. All steps
    /// of the latter count as dependent. An event touches those who wait for it, and comes to the
    /// same in whatever order several are sent.
    #[cold]
    fn note_hardware(&self, did: Operation) {
        let mut memory = self.memory.borrow_mut();
        match did {
            Operation::WaitForEvent => memory.touch([Touch::event(self.process(), true)]),
            Operation::SendEvent => {
                memory.touch((0..self.cpus.len()).map(|cpu| Touch::event(cpu, false)))
            }
            _ => memory.touch([Touch::HARDWARE]),
        }
    }

    /// The event of the process that runs is looked at or taken.
    pub(crate) fn note_event(&self) {
        if self.settings.traces.get() {
            self.note_hardware(Operation::WaitForEvent);
        }
    }

    /// A step of the process ends, where every run is tried that differs.
    #[cold]
    pub(super) fn end_step(&self, process: usize) {
        let mut memory = self.memory.borrow_mut();
        let chooser = &mut *self.choices.chooser.borrow_mut();
        let is_redundant = memory.end_step(process, |trace, worth_holding| {
            if let Chooser::Dpor(dpor) = chooser {
                dpor.end_step(trace);
                dpor.are_worth_holding(worth_holding);
            }
        });
        drop(memory);
        if is_redundant {
            self.cut();
        }
    }

    /// The run would repeat another one, and ends.
    pub(super) fn cut(&self) {
        self.turns.pruned.set(true);
        self.turns.over.set(true);
    }

    /// The run is over: its last step ends.
    pub(crate) fn end_last_step(&self) {
        if self.settings.traces.get() {
            self.end_step(0);
        }
    }

    /// A process knows what another one knew, where every run is tried that differs.
    pub(super) fn note_learns(&self, process: usize, from: usize) {
        if let Chooser::Dpor(dpor) = &mut *self.choices.chooser.borrow_mut() {
            dpor.learns_from(process, from);
        }
    }

    /// Evictions and fills that nobody asked for.
    #[inline(always)]
    fn act_on_their_own(&self, process: usize, memory: &mut Memory) {
        let lines = memory.lines() as u32;
        self.ask(process, |asked| {
            let evicted = asked.answer(Kind::Evict, lines + 1);
            if evicted != 0 {
                memory.evict(evicted as usize - 1);
            }
            let filled = asked.answer(Kind::Fill, lines + 1);
            if filled != 0 {
                memory.fill_early(filled as usize - 1);
            }
        });
    }
}
