//! Idle CPUs: RCU does not wait for a CPU that is idle, and sees from a counter that it is or was.
//!
//! Each change of the counter orders all around it, as in Linux (`ct_kernel_exit_state()`): what is
//! read before the CPU goes idle comes before, and what is read afterwards comes after.

use crate::cell::SharedWord;
use crate::cpu::Cpu;
use crate::platform::Platform;
use crate::state::Rcu;

impl<P: Platform> Rcu<P> {
    /// This CPU goes idle: no read section until [`Rcu::idle_exit`], but inside interrupts. To be
    /// asked before: [`Rcu::idle_need`].
    pub fn idle_enter(&self, p: &P) {
        let cpu = self.this(p);
        if !cpu.idle.replace(true) && cpu.interrupts.get() == 0 {
            cpu.dynticks.fetch_add(p, 1);
        }
    }

    /// This CPU is not idle any more. With enforced idle, this may raise the softirq.
    pub fn idle_exit(&self, p: &P) {
        let cpu = self.this(p);
        self.watch(p, cpu);
        if cpu.enforced_idle && self.try_advance(p, cpu) {
            self.raise_softirq(p);
        }
    }

    /// The CPU can have readers from here on.
    pub(crate) fn watch(&self, p: &P, cpu: &Cpu<P>) {
        if cpu.idle.replace(false) && cpu.interrupts.get() == 0 {
            cpu.dynticks.fetch_add(p, 1);
        }
    }

    /// An interrupt comes to this CPU, idle or not. They nest.
    pub fn irq_enter(&self, p: &P) {
        let cpu = self.this(p);
        if cpu.idle.get() && cpu.interrupts.get() == 0 {
            cpu.dynticks.fetch_add(p, 1);
        }
        cpu.interrupts.set(cpu.interrupts.get() + 1);
    }

    /// The interrupt is over, and with it the softirqs that it ran.
    pub fn irq_exit(&self, p: &P) {
        let cpu = self.this(p);
        cpu.interrupts.set(cpu.interrupts.get().saturating_sub(1));
        if cpu.idle.get() && cpu.interrupts.get() == 0 {
            cpu.dynticks.fetch_add(p, 1);
        }
    }
}
