//! Interrupts: who raises one, and what it wakes.

use crate::Soc;
use crate::cpu::Waiting;
use crate::interrupt_source::Source;

impl Soc {
    /// Makes an interrupt pending on `cpu` and wakes it if it sleeps or computes where interrupts
    /// reach it.
    pub fn raise(&self, cpu: usize, source: Source) {
        let target = &self.cpus[cpu];
        target
            .pending_interrupts
            .set(target.pending_interrupts.get().with(source));
        if matches!(target.waiting.get(), Waiting::Interrupt | Waiting::Power) {
            self.scheduler.wake(cpu);
        }
    }
}
