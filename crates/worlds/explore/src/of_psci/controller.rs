//! The power controller: it takes commands in order, and turns CPUs and clusters off and on.

use super::frame::DOWN;
use crate::choice::Kind;
use crate::failure::Invariant;
use crate::machine::{Command, Machine, Power, Waits};
use crate::step::Did;

impl Machine {
    pub(crate) fn send(&self, command: Command) {
        self.commands.borrow_mut().push(command);
        self.unblock_controller();
    }

    fn unblock_controller(&self) {
        if self.awake.get() >> self.controller() & 1 == 0 {
            self.unblock(self.controller());
        }
    }

    /// Whether the power controller has a command for the CPU's power-down that it has not carried out.
    fn is_going_down(&self, cpu: usize) -> bool {
        self.commands.borrow().iter().any(|command| command.takes_down(cpu))
    }

    /// The terminal WFI. Returns if an interrupt ends it.
    pub(crate) fn wait_for_power_down(&self) {
        self.act(Did::WaitForPowerDown);
        let process = self.process();
        // The port's WFI has a DSB before it.
        self.barrier_now();
        if self.is_going_down(process) {
            if self.answer(Kind::WfiReturns, 2) == 1 {
                self.commands.borrow_mut().retain(|command| !command.takes_down(process));
                self.unblock_controller();
                return;
            }
            // The controller may have looked while this CPU was not there yet.
            self.cpus[process].waits.set(Waits::PowerDown);
            self.unblock_controller();
        }
        self.block(Waits::PowerDown);
    }

    /// The power controller's process.
    pub(crate) fn run_controller(&self) {
        loop {
            let Some(command) = self.commands.borrow().first().copied() else {
                self.block(Waits::Command);
                continue;
            };
            match command {
                Command::Down { cpu, cluster, wakes } => {
                    if self.cpus[usize::from(cpu)].waits.get() != Waits::PowerDown {
                        self.block(Waits::Command);
                        continue;
                    }
                    self.operation(Did::PowerOff { cpu, cluster });
                    // It may have left its WFI meanwhile: then the command is gone.
                    if self.commands.borrow().first() == Some(&command) {
                        self.commands.borrow_mut().remove(0);
                        self.power_off(usize::from(cpu), cluster, wakes);
                    }
                }
                Command::On { cpu } => {
                    self.operation(Did::PowerOn { cpu });
                    self.commands.borrow_mut().remove(0);
                    self.power_on(usize::from(cpu));
                }
            }
        }
    }

    fn power_off(&self, index: usize, cluster: bool, wakes: bool) {
        let cpu = &self.cpus[index];
        cpu.power.set(if wakes { Power::Asleep } else { Power::Off });
        cpu.waits.set(Waits::Nothing);
        let alone = self.cpus.iter().all(|other| other.cluster != cpu.cluster || other.power.get() != Power::On);
        let cluster = cluster && alone;
        if cluster {
            self.clusters[cpu.cluster].power.set(false);
        }
        if self.options.get().coherent {
            self.memory.borrow_mut().flush(index, cluster);
        }
        let lost = self.memory.borrow_mut().lose_power(index, cluster);
        if let Some(lost) = lost {
            let what = format!(
                "CPU {index}{} loses power while {}, as {} stored it, is dirty in its cache",
                if cluster { " with its cluster" } else { "" },
                self.names.get().cell(lost.cell),
                crate::names::writer(lost.writer),
            );
            self.fail(Invariant::DirtyLineLost, what);
        }
        self.wake_pollers();
        self.awake.set(self.awake.get() & !(1 << index));
        if wakes {
            self.sleeps(index);
        } else if cpu
            .turn_ons
            .borrow()
            .iter()
            .all(|turn_on| turn_on.entered || turn_on.result.is_some_and(|x0| x0 != 0))
        {
            cpu.off_since.set(self.steps.get());
        }
        self.scheduler.restart(index, 0, DOWN);
    }

    fn power_on(&self, index: usize) {
        let cpu = &self.cpus[index];
        match cpu.power.get() {
            Power::Off => self.can_go(index),
            // It is on, or wakes on its own: nothing to do, unless it has found itself on and waits to be turned on.
            _ if cpu.waits.get() == Waits::PowerDown && !self.is_going_down(index) => self.unblock(index),
            _ => {}
        }
    }

    /// The CPU gets power and is about to execute its first instruction.
    pub(crate) fn comes_up(&self) {
        let process = self.process();
        let cpu = &self.cpus[process];
        cpu.power.set(Power::On);
        self.clusters[cpu.cluster].power.set(true);
        self.memory.borrow_mut().learn(process);
        self.operation(Did::Reset);
    }
}
