//! How interrupts are raised, and the shared timer.

use crate::Soc;
use crate::cpu::{PendingInterrupts, Waiting};
use engine::Wake;

impl Soc {
    /// Makes an interrupt pending on `cpu` and wakes it if it sleeps where interrupts wake.
    pub(crate) fn raise(&self, cpu: usize, change: impl FnOnce(&mut PendingInterrupts)) {
        let target = &self.cpus[cpu];
        let mut pending = target.pending_interrupts.get();
        change(&mut pending);
        target.pending_interrupts.set(pending);
        if matches!(target.waiting.get(), Waiting::Interrupt | Waiting::Power) {
            self.scheduler.wake(cpu);
        }
    }

    /// Programs the shared timer to interrupt `cpu` at `deadline` ps, in place of what it was to do.
    pub(crate) fn program_timer(&self, cpu: usize, deadline: u64) {
        self.timer.set(Some((cpu, deadline)));
        self.scheduler.wake(self.timer_process());
    }

    /// The timer's process: sleeps until there is a deadline, then until it comes.
    pub(crate) fn run_timer(&self) {
        loop {
            match self.timer.get() {
                None => {
                    self.scheduler.wait(None);
                }
                Some((cpu, deadline)) => {
                    if self.scheduler.wait(Some(deadline)) == Wake::Deadline {
                        self.timer.set(None);
                        self.raise(cpu, |pending| pending.timer = true);
                    }
                }
            }
        }
    }
}
