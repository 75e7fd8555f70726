//! Timers that fire whatever state the CPUs are in: the one that the CPUs of a measured procedure
//! share, and lines of an always-on timer for the normal world.
//!
//! A CPU's own timer needs nothing here while the CPU is up: the CPU waits with a deadline
//! ([`Soc::wait_for_interrupt`]).

use crate::Soc;
use crate::interrupt_source::{Line, Source};
use engine::{Time, Wake};

/// The line of the shared timer; those of the always-on timer follow.
const SHARED: usize = 0;

impl Soc {
    /// Programs the shared timer to interrupt `cpu` at `deadline` ps, in place of what it was to
    /// do.
    pub(crate) fn program_timer(&self, cpu: usize, deadline: Time) {
        self.program(
            SHARED,
            Line {
                deadline,
                cpu,
                source: Source::SharedTimer,
            },
        );
    }

    /// Programs a line of the always-on timer to interrupt `cpu` at `deadline` ps as `source`, in
    /// place of what it was to do.
    pub fn program_alarm(&self, line: usize, deadline: Time, cpu: usize, source: Source) {
        self.program(
            SHARED + 1 + line,
            Line {
                deadline,
                cpu,
                source,
            },
        );
    }

    /// Takes back what a line of the always-on timer was to do.
    pub fn cancel_alarm(&self, line: usize) {
        // The timer's process may wake once for nothing.
        if let Some(line) = self.timers.borrow_mut().get_mut(SHARED + 1 + line) {
            *line = Line::OFF;
        }
    }

    fn program(&self, number: usize, line: Line) {
        let mut lines = self.timers.borrow_mut();
        if lines.len() <= number {
            lines.resize(number + 1, Line::OFF);
        }
        lines[number] = line;
        drop(lines);
        self.scheduler.wake(self.timer_process());
    }

    /// The timer's process: sleeps until there is a deadline, then until it comes.
    pub(crate) fn run_timer(&self) {
        loop {
            let next = self
                .timers
                .borrow()
                .iter()
                .map(|line| line.deadline)
                .min()
                .filter(|&next| next != Time::MAX);
            match next {
                None => {
                    self.scheduler.wait(None);
                }
                Some(deadline) => {
                    if self.scheduler.wait(Some(deadline)) == Wake::Deadline {
                        self.fire();
                    }
                }
            }
        }
    }

    fn fire(&self) {
        for number in 0.. {
            let Some(line) = self.timers.borrow().get(number).copied() else {
                return;
            };
            if line.deadline <= self.now() {
                self.timers.borrow_mut()[number] = Line::OFF;
                self.raise(line.cpu, line.source);
            }
        }
    }
}
