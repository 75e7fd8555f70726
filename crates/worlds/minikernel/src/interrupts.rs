//! Interrupts and softirqs: timers, the tick, other CPUs, devices.

use crate::counts::WakeCause;
use crate::cpu::{Alarm, IPI_TIMER, SOFTIRQ_CALLBACKS, SOFTIRQ_TIMER, WheelAlarm};
use crate::events;
use crate::kernel::Kernel;
use crate::owners::Owner;
use engine::Time;
use soc::{Interrupts, Soc, Source};

impl Kernel {
    /// The owner of the timer interrupt that is due: callbacks, if it is a tick that an idle CPU
    /// keeps for them, or a wake-up that they asked for, and nothing else.
    fn timer_owner(&self, cpu: usize) -> Owner {
        let this = &self.cpus[cpu];
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= self.now);
        let tick = is_due(this.tick) && this.tick_for_callbacks;
        let wake_up =
            this.tick.is_none() && is_due(this.callbacks_at) && !this.wheel.is_due(self.jiffy());
        if (tick || wake_up) && this.current.is_none() && this.precise.next() > self.now {
            Owner::TickForRcu
        } else {
            Owner::Interrupt
        }
    }

    /// Takes interrupts: they are handled when the entry is paid for.
    pub fn enter_interrupt(&mut self, cpu: usize, taken: Interrupts) {
        let only_timer = taken.sources().all(|source| {
            matches!(
                source,
                Source::LocalTimer | Source::Broadcast | Source::Ipi(IPI_TIMER)
            )
        });
        let owner = if only_timer {
            self.timer_owner(cpu)
        } else {
            Owner::Interrupt
        };
        let count = taken.sources().count() as u64;
        self.cpus[cpu].counts.interrupts += count;
        self.owe(cpu, owner, self.settings.costs.interrupt * count);
        self.cpus[cpu].turn_owner = self.owners.id(match owner {
            Owner::TickForRcu => owner,
            _ => Owner::Kernel,
        });
        self.cpus[cpu].taken = Some(taken);
    }

    /// Handles interrupts that were taken.
    pub fn handle(&mut self, soc: &Soc, cpu: usize, taken: Interrupts) {
        for source in taken.sources() {
            match source {
                Source::LocalTimer => self.timer(soc, cpu),
                Source::Broadcast => self.broadcast(soc, cpu),
                Source::Ipi(IPI_TIMER) => self.timer(soc, cpu),
                Source::Device(number) => self.device(soc, cpu, usize::from(number)),
                Source::Ipi(_) | Source::Software | Source::SharedTimer => {}
            }
        }
        self.cpus[cpu].ipi_cause = None;
    }

    /// The CPU's timer: the tick, precise timers, and where the tick is stopped what its timer
    /// stands for then.
    fn timer(&mut self, soc: &Soc, cpu: usize) {
        let now = self.now;
        if self.cpus[cpu].tick.is_some_and(|tick| tick <= now) {
            self.tick(soc, cpu);
        } else {
            self.timer_of_stopped_tick(soc, cpu);
        }
        if self.cpus[cpu].callbacks_at.is_some_and(|at| at <= now) {
            self.cpus[cpu].callbacks_at = None;
        }
        if self.cpus[cpu].ask_again.is_some_and(|at| at <= now) {
            self.cpus[cpu].ask_again = None;
            self.owe(cpu, Owner::Interrupt, self.settings.costs.timer);
        }
        while let Some(alarm) = self.cpus[cpu].precise.take(now) {
            self.owe(cpu, Owner::Interrupt, self.settings.costs.timer);
            match alarm {
                Alarm::Wake {
                    task,
                    sleep,
                    expected,
                } => {
                    if self.tasks[task].is_in_sleep(sleep) {
                        self.tasks[task].expected = Some(expected);
                        self.wake(soc, cpu, task, WakeCause::Task);
                    }
                }
                Alarm::Start(task) => self.wake(soc, cpu, task, WakeCause::Task),
            }
        }
    }

    /// While the tick is stopped its timer stands for the wheel's and for the wake-up that
    /// callbacks asked for. Its handler does all that a tick does: in Linux 3.10
    /// (`tick_sched_handle` calls `update_process_times`) as today.
    fn timer_of_stopped_tick(&mut self, soc: &Soc, cpu: usize) {
        let is_stopped = self.cpus[cpu].tick.is_none();
        let of_wheel = is_stopped && self.cpus[cpu].wheel.is_due(self.jiffy());
        let of_callbacks =
            is_stopped && self.cpus[cpu].callbacks_at.is_some_and(|at| at <= self.now);
        if of_wheel {
            self.cpus[cpu].softirqs |= SOFTIRQ_TIMER;
        }
        if of_wheel || of_callbacks {
            self.owe(cpu, self.timer_owner(cpu), self.settings.costs.tick);
            self.sample_load(soc, self.cpus[cpu].domain);
            self.callbacks_tick(soc, cpu);
        }
    }

    fn tick(&mut self, soc: &Soc, cpu: usize) {
        let owner = self.timer_owner(cpu);
        let for_callbacks = owner == Owner::TickForRcu;
        self.owe(cpu, owner, self.settings.costs.tick);
        let idle = self.cpus[cpu].current.is_none();
        let counts = &mut self.cpus[cpu].counts;
        counts.busy_ticks += u64::from(!idle);
        counts.idle_ticks += u64::from(idle);
        counts.ticks_for_rcu += u64::from(for_callbacks);
        self.cpus[cpu].load = self.ready_weight(cpu);
        self.stamp(soc, cpu, events::TICK, u64::from(for_callbacks));
        self.cpus[cpu].tick = Some(self.jiffy_time(self.jiffy() + 1));
        if self.cpus[cpu].wheel.is_due(self.jiffy()) {
            self.cpus[cpu].softirqs |= SOFTIRQ_TIMER;
        }
        self.scheduler_tick(soc, cpu);
        self.sample_load(soc, self.cpus[cpu].domain);
        self.callbacks_tick(soc, cpu);
    }

    /// The always-on timer: this CPU's own sleep is over, or it passes the interrupt on to those
    /// whose is.
    fn broadcast(&mut self, soc: &Soc, cpu: usize) {
        for sleeper in 0..self.cpus.len() {
            if self.cpus[sleeper].alarm.is_some_and(|at| at <= self.now) {
                self.cpus[sleeper].alarm = None;
                if sleeper == cpu {
                    self.timer(soc, cpu)
                } else {
                    self.send(soc, cpu, sleeper, IPI_TIMER, WakeCause::Timer)
                }
            }
        }
        // Where the line went to the sleeper itself, leaving idle has taken the alarm back already.
        if self.next_event(cpu) <= self.now {
            self.timer(soc, cpu);
        }
    }

    fn device(&mut self, soc: &Soc, cpu: usize, number: usize) {
        let Some(device) = self.devices.get(number) else {
            return;
        };
        let handler_ns = device.spec.handler_ns;
        self.owe(cpu, Owner::Interrupt, handler_ns);
        self.start_device(soc, number);
    }

    /// Programs the next interrupt of a device: a gap after the one before was due, however late
    /// that was handled.
    pub fn start_device(&mut self, soc: &Soc, number: usize) {
        let line = self.cpus.len() + number;
        let device = &mut self.devices[number];
        device.next += device.spec.gap.next(&mut device.random).max(1) * 1_000;
        let (next, cpu) = (device.next, device.spec.cpu);
        soc.program_alarm(line, next, cpu, Source::Device(number as u8));
    }

    /// Runs the softirqs that were raised.
    pub fn softirq(&mut self, soc: &Soc, cpu: usize) {
        let raised = std::mem::take(&mut self.cpus[cpu].softirqs);
        if raised & SOFTIRQ_TIMER != 0 {
            let jiffy = self.jiffy();
            while let Some(alarm) = self.cpus[cpu].wheel.take(jiffy) {
                self.owe(cpu, Owner::Interrupt, self.settings.costs.timer);
                match alarm {
                    WheelAlarm::Wake { task, sleep } => {
                        if self.tasks[task].is_in_sleep(sleep) {
                            self.wake(soc, cpu, task, WakeCause::Task);
                        }
                    }
                    WheelAlarm::Callbacks(number) => self.callbacks_timer(soc, cpu, number),
                }
            }
        }
        if raised & SOFTIRQ_CALLBACKS != 0 {
            self.callbacks_softirq(soc, cpu);
        }
    }
}
