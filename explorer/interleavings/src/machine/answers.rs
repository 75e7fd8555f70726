//! Answers of the chooser for an operation.

use super::choice::{Deviation, HELD, Kind, LONGEST_DELAY};
use super::chooser::Chooser;
use super::state::Machine;
use crate::memory::{Answers, Delay, Memory};
use crate::operation::OperationIndex;

/// The chooser of an operation; answers that differ from the default go to the schedule.
pub(super) struct LoggedAnswers<'a> {
    pub(super) chooser: &'a mut Chooser,
    pub(super) schedule: &'a mut Vec<Deviation>,
    pub(super) process: usize,
    pub(super) operation: OperationIndex,
}

impl Answers for LoggedAnswers<'_> {
    #[inline(always)]
    fn delay(&mut self, what: Delay) -> u8 {
        const LONGEST: u32 = LONGEST_DELAY as u32;
        let kind = match what {
            Delay::Store => Kind::StoreDelay,
            Delay::Maintenance => Kind::MaintenanceDelay,
        };
        let held = HELD as u32;
        let value = match &mut *self.chooser {
            Chooser::Dpor(dpor) => held * dpor.hold(),
            chooser => {
                let is_written = matches!(chooser, Chooser::ReplayedChoices(_));
                let longest = if is_written { held } else { LONGEST };
                chooser.answer(self.process, self.operation, kind, longest + 1)
            }
        };
        let value = self.log(kind, value);
        if value == held { u8::MAX } else { value as u8 }
    }

    #[inline(always)]
    fn age(&mut self, choices: u32, in_order: u32) -> u32 {
        let value = match self.chooser {
            Chooser::Dpor(dpor) => {
                // A value that came since this process's last step is seen where that goes earlier.
                let older = choices.saturating_sub(1 + in_order);
                match dpor.answer(Kind::LoadAge, older + 1) {
                    0 => 0,
                    nth => in_order + nth,
                }
            }
            _ => self
                .chooser
                .answer(self.process, self.operation, Kind::LoadAge, choices),
        };
        self.log(Kind::LoadAge, value)
    }
}

impl LoggedAnswers<'_> {
    /// The answer to a choice: a number below `options`, 0 by default.
    #[inline(always)]
    pub(super) fn answer(&mut self, kind: Kind, options: u32) -> u32 {
        let value = self
            .chooser
            .answer(self.process, self.operation, kind, options);
        self.log(kind, value)
    }

    #[inline(always)]
    fn log(&mut self, kind: Kind, value: u32) -> u32 {
        if value != 0 {
            let (process, operation) = (self.process as u8, self.operation);
            self.schedule.push(Deviation {
                process,
                operation,
                kind,
                value: u64::from(value),
            });
        }
        value
    }
}

impl Machine {
    /// Has something asked of the chooser, at the present operation of a process.
    #[inline(always)]
    pub(super) fn ask<R>(
        &self,
        process: usize,
        ask: impl FnOnce(&mut LoggedAnswers<'_>) -> R,
    ) -> R {
        ask(&mut LoggedAnswers {
            chooser: &mut self.choices.chooser.borrow_mut(),
            schedule: &mut self.choices.schedule.borrow_mut(),
            process,
            operation: self.operation_of(process),
        })
    }

    /// Answers a choice of the present operation.
    #[inline(always)]
    pub fn answer(&self, kind: Kind, options: u32) -> u32 {
        self.ask(self.process(), |asked| asked.answer(kind, options))
    }

    #[inline(always)]
    pub(super) fn with_memory(&self, act: impl FnOnce(&mut Memory, usize, &mut LoggedAnswers<'_>)) {
        let process = self.process();
        self.ask(process, |asked| {
            act(&mut self.memory.borrow_mut(), process, asked)
        });
        self.wake_pollers();
    }

    /// Adds to the schedule what a process chose at its present operation, and not by default.
    pub(super) fn deviate(&self, process: usize, kind: Kind, value: u64) {
        self.choices.schedule.borrow_mut().push(Deviation {
            process: process as u8,
            operation: self.operation_of(process),
            kind,
            value,
        });
    }
}
