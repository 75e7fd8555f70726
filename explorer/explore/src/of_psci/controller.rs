//! The power controller: it takes commands in order, and turns CPUs and clusters off and on.

use super::{
    acts::{POWER_OFF, POWER_OFF_WITH_CLUSTER, POWER_ON, RESET, WAIT_FOR_POWER_DOWN},
    board::{
        Board,
        Command::{self, Down, On},
        FLUSHES, FOR_COMMAND, FOR_POWER_DOWN, INTERRUPTS, Power, SAVED, TurnOn,
    },
    frame::DOWN,
    hook::Hook,
    layout,
};
use interleavings::subject::{Invariant, Kind, Operation::Act, Wait};

impl Board {
    /// Sends a command to the power controller.
    pub fn send(&self, command: Command) {
        self.commands.borrow_mut().push(command);
        self.unblock_controller();
    }

    fn unblock_controller(&self) {
        if !self.is_awake(self.last_process()) {
            self.unblock(self.last_process());
        }
    }

    /// True if the power controller has a command for the CPU's power-down that it has not carried
    /// out.
    fn is_going_down(&self, cpu: usize) -> bool {
        self.commands
            .borrow()
            .iter()
            .any(|command| command.takes_down(cpu))
    }

    /// The terminal WFI. Returns if an interrupt ends it.
    pub fn wait_for_power_down(&self) {
        let goes = self.state().goes.get().filter(|_| self.port.is_some());
        if goes.is_some() {
            let mut levels = self.state().levels.get();
            self.hook(Hook::PowerDown, &[], &mut levels);
            self.check_told(layout::loses(1, levels[1]));
        }
        self.state().goes.set(None);
        self.does(&WAIT_FOR_POWER_DOWN, 0);
        let process = self.process();
        // The port's WFI has a DSB before it.
        self.barrier_now();
        self.ledger.borrow_mut().rests(process, self.step_count());
        if self.is_going_down(process) {
            // A CPU_OFF of a port has no way back.
            if goes != Some(false) && self.answer(Kind::WfiReturns, 2) == 1 {
                self.commands
                    .borrow_mut()
                    .retain(|command| !command.takes_down(process));
                self.unblock_controller();
                return;
            }
            // The controller may have looked while this CPU was not there yet.
            self.cpus()[process].set_waits(FOR_POWER_DOWN);
            self.unblock_controller();
        }
        self.block(FOR_POWER_DOWN);
    }

    /// The power controller's process.
    pub fn run_controller(&self) {
        loop {
            let Some(command) = self.commands.borrow().first().copied() else {
                self.block(FOR_COMMAND);
                continue;
            };
            match command {
                Down {
                    cpu,
                    cluster,
                    wakes,
                } => {
                    if self.cpus()[cpu as usize].waits() != FOR_POWER_DOWN {
                        self.block(FOR_COMMAND);
                        continue;
                    }
                    let act = if cluster {
                        &POWER_OFF_WITH_CLUSTER
                    } else {
                        &POWER_OFF
                    };
                    self.operation(Act {
                        act,
                        with: cpu.into(),
                    });
                    // It may have left its WFI meanwhile: then the command is gone.
                    if self.commands.borrow().first() == Some(&command) {
                        self.commands.borrow_mut().remove(0);
                        self.power_off(cpu as usize, cluster, wakes);
                    }
                }
                On { cpu } => {
                    self.operation(Act {
                        act: &POWER_ON,
                        with: cpu.into(),
                    });
                    self.commands.borrow_mut().remove(0);
                    self.power_on(cpu as usize);
                }
            }
        }
    }

    fn power_off(&self, index: usize, cluster: bool, wakes: bool) {
        let cpu = &self.states[index];
        let saved = u32::from(wakes) * SAVED;
        // A port may leave the cluster on.
        let told = layout::loses(1, cpu.levels.get()[1]);
        let flushes = u32::from(self.options.coherent) * (FLUSHES << u32::from(told));
        let right = 0b11_0101 | saved | flushes;
        self.expect(index, "loses its power", right | INTERRUPTS | SAVED, right);
        cpu.marks.set(saved);
        cpu.dark_since.set(self.step_count());
        cpu.power
            .set(if wakes { Power::Asleep } else { Power::Off });
        self.cpus()[index].set_waits(Wait::Absent);
        let alone = self
            .states
            .iter()
            .all(|other| other.cluster != cpu.cluster || other.power.get() != Power::On);
        let cluster = cluster && alone;
        if self.options.coherent {
            self.memory_mut().flush(index, cluster);
        }
        let lost = self.memory_mut().lose_power(index, cluster);
        if let Some(lost) = lost {
            self.fail(
                Invariant::DirtyLineLost,
                format!(
                    "CPU {index}{} loses power while {}, as {} stored it, is dirty in its cache",
                    if cluster { " with its cluster" } else { "" },
                    self.names().cell(lost.cell),
                    self.names().writer(lost.writer),
                ),
            );
        }
        self.wake_pollers();
        self.cannot_go(index);
        if wakes {
            self.sleeps(index);
        } else if !cpu.turn_ons.borrow().iter().any(TurnOn::is_open) {
            cpu.off_since.set(self.step_count());
        }
        self.scheduler().restart(index, 0, DOWN);
    }

    fn power_on(&self, index: usize) {
        match self.states[index].power.get() {
            Power::Off => self.can_go(index),
            // It is on, or wakes on its own: nothing to do, unless it has found itself on and waits
            // to be turned on.
            _ if self.cpus()[index].waits() == FOR_POWER_DOWN && !self.is_going_down(index) => {
                self.unblock(index)
            }
            _ => {}
        }
    }

    /// The CPU gets power and is about to execute its first instruction.
    pub fn comes_up(&self) {
        let process = self.process();
        let cpu = &self.states[process];
        cpu.power.set(Power::On);
        cpu.dark_since.set(0);
        self.cpus()[process].set_waits(Wait::Nothing);
        self.memory_mut().learn(process);
        self.ledger.borrow_mut().wakes(process, self.step_count());
        self.operation(Act {
            act: &RESET,
            with: 0,
        });
    }
}
