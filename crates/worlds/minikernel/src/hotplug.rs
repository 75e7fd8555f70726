//! CPUs that go off while the machine runs, and come back.
//!
//! The task that asks sleeps until it is done. The CPU that leaves hands everything over itself,
//! when it has nothing to do first; what RCU keeps for it is taken over by the CPU on which that
//! task goes on, as Linux does.

use crate::counts::WakeCause;
use crate::cpu::{IPI_TIMER, Power};
use crate::kernel::Kernel;
use crate::program::Life;
use crate::task::{CpuSet, TaskId};
use crate::timers::{Precise, Wheel};
use idle::Governor;
use placement::Doing;
use soc::{Soc, Source};

impl Kernel {
    /// True if a CPU is there, and stays.
    pub fn is_up(&self, cpu: usize) -> bool {
        self.cpus[cpu].power == Power::Up
    }

    /// True if a CPU that is off is to come up.
    pub fn is_called(&self, cpu: usize) -> bool {
        self.cpus[cpu].power == Power::Called
    }

    /// The CPU, or the first that is there if it is not.
    pub fn or_another(&self, cpu: usize) -> usize {
        if self.is_up(cpu) {
            cpu
        } else {
            (0..self.cpus.len())
                .find(|&other| self.is_up(other))
                .unwrap_or(cpu)
        }
    }

    /// CPUs on which a task may run now: those of its affinity that are online, and all online ones
    /// if none is left.
    pub fn allowed_now(&self, task: TaskId) -> CpuSet {
        let cpus = self.tasks[task].cpus;
        if self.cpus.iter().all(|cpu| cpu.power == Power::Up) {
            return cpus;
        }
        let up = |cpu: &usize| self.is_up(*cpu);
        let left = CpuSet::from_cpus(cpus.iter(self.cpus.len()).filter(up));
        if left.iter(self.cpus.len()).next().is_some() {
            left
        } else {
            CpuSet::from_cpus((0..self.cpus.len()).filter(up))
        }
    }

    /// A task takes a CPU off.
    pub fn take_off(&mut self, soc: &Soc, cpu: usize, task: TaskId, other: usize) {
        if !self.is_up(other) {
            return;
        }
        if (0..self.cpus.len()).filter(|&cpu| self.is_up(cpu)).count() == 1 {
            return self.refuse(soc, other, "it is the last one");
        }
        self.block(cpu, task);
        self.cpus[other].power = Power::Leaving;
        self.cpus[other].awaited_by = Some(task);
        if other != cpu {
            self.ask_reschedule(soc, cpu, other, WakeCause::Task);
        }
    }

    /// A task brings a CPU up.
    pub fn bring_up(&mut self, cpu: usize, task: TaskId, other: usize) {
        if self.cpus[other].power != Power::Off {
            return;
        }
        self.block(cpu, task);
        self.cpus[other].power = Power::Called;
        self.cpus[other].awaited_by = Some(task);
        self.cpus[cpu].starts = Some(other);
    }

    fn refuse(&mut self, soc: &Soc, cpu: usize, why: &str) {
        self.wrong = Some(format!("CPU {cpu} cannot go off: {why}"));
        self.finish(soc);
    }

    /// Hands everything over. If the CPU has to stay, the run is over.
    pub fn go_off(&mut self, soc: &Soc, cpu: usize) {
        self.note_context_switch(soc, cpu);
        if let Err(why) = self.callbacks_offline(soc, cpu) {
            self.cpus[cpu].power = Power::Up;
            return self.refuse(soc, cpu, &why);
        }
        self.cpus[cpu].power = Power::Off;
        self.cpus[cpu].reschedule = false;
        self.cpus[cpu].push = None;
        let heir = self.or_another(cpu);
        // Tasks: the one that ran, then those that waited.
        if let Some(task) = self.cpus[cpu].current.take() {
            let goes_on = self.tasks[task].life == Life::Running;
            self.note_doing(
                task,
                cpu,
                Doing::Running,
                if goes_on {
                    Doing::Waiting
                } else {
                    Doing::Nothing
                },
            );
            if goes_on {
                self.tasks[task].life = Life::Waiting;
                let to = self.allowed_cpu(task, heir);
                self.put(soc, cpu, task, to);
            }
            self.note_switch(soc, cpu);
        }
        while let Some(task) = self.cpus[cpu].queue.take() {
            let to = self.allowed_cpu(task, heir);
            self.put(soc, cpu, task, to);
        }
        // Timers and interrupts.
        let precise = std::mem::replace(&mut self.cpus[cpu].precise, Precise::new());
        let wheel = std::mem::replace(&mut self.cpus[cpu].wheel, Wheel::new(self.settings.form));
        self.cpus[heir].precise.append(precise);
        self.cpus[heir].wheel.append(wheel);
        self.send(soc, cpu, heir, IPI_TIMER, WakeCause::RemoteTimer);
        self.cpus[cpu].tick = None;
        self.cpus[cpu].tick_for_callbacks = false;
        self.cpus[cpu].callbacks_at = None;
        self.cpus[cpu].ask_again = None;
        for number in 0..self.devices.len() {
            let line = self.cpus.len() + number;
            let device = &mut self.devices[number];
            if device.spec.cpu == cpu {
                device.spec.cpu = heir;
                soc.program_alarm(line, device.next, heir, Source::Device(number as u8));
            }
        }
        self.cpus[cpu].softirqs = 0;
    }

    /// All of that is paid for, and the CPU loses its power: whoever asked goes on.
    pub fn is_off(&mut self, soc: &Soc, cpu: usize) {
        if let Some(task) = self.cpus[cpu].awaited_by.take() {
            self.tasks[task].adopts = Some(cpu);
            self.wake(soc, cpu, task, WakeCause::Task);
        }
    }

    /// The CPU is there again, with an empty queue and a governor that has seen nothing.
    pub fn come_up(&mut self, soc: &Soc, cpu: usize) {
        let domain = &self.hardware.domains[self.cpus[cpu].domain];
        let governor = Governor::new(self.settings.governor, &domain.table, self.tick / 1_000);
        let this = &mut self.cpus[cpu];
        this.power = Power::Up;
        this.governor = governor;
        this.load = 0;
        this.debts.clear();
        this.turn_paid = false;
        this.ipi_cause = None;
        this.softirqs = 0;
        this.taken = None;
        this.computing = None;
        this.stay = None;
        self.restart_tick(cpu);
        self.callbacks_online(soc, cpu);
        if let Some(task) = self.cpus[cpu].awaited_by.take() {
            self.wake(soc, cpu, task, WakeCause::Task);
        }
    }
}
