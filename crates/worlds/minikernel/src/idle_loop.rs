//! The idle loop: what becomes of the tick, which state the governor chooses, and what is counted
//! afterwards.

use crate::callbacks::IdleNeed;
use crate::counts::WakeCause;
use crate::cpu::Stay;
use crate::events;
use crate::kernel::Kernel;
use crate::owners::Owner;
use crate::settings::Form;
use engine::Time;
use idle::{Choice, KnownSituation, Outcome, SleepLength};
use placement::{CAPACITY, Doing};
use soc::{Soc, Source};

impl Kernel {
    /// A turn of the idle loop: the stay that follows, or `None` if something else comes first.
    pub fn idle(&mut self, soc: &Soc, cpu: usize) -> Option<Stay> {
        if !self.cpus[cpu].turn_paid {
            self.cpus[cpu].turn_paid = true;
            let owner = self.cpus[cpu].turn_owner;
            self.owe_to(cpu, owner, self.settings.costs.idle_turn);
            return None;
        }
        let need = self.idle_need(soc, cpu);
        if self.cpus[cpu].softirqs != 0
            || self.cpus[cpu].reschedule
            || !self.cpus[cpu].debts.is_empty()
        {
            return None;
        }
        self.cpus[cpu].turn_paid = false;
        self.cpus[cpu].turn_owner = self.owners.id(Owner::Kernel);
        self.cpus[cpu].callbacks_at = match need {
            IdleNeed::WakeAt(jiffy) => Some(self.jiffy_time(jiffy.max(self.jiffy() + 1))),
            IdleNeed::StopTick | IdleNeed::KeepTick => None,
        };
        let keep = need == IdleNeed::KeepTick;
        let choice = match self.settings.form {
            Form::Y2013 => self.choose_of_2013(cpu, keep),
            Form::Modern => self.choose(cpu, keep),
        };
        Some(self.enter_idle(soc, cpu, choice))
    }

    /// The tick is decided first: it stops unless callbacks need it or something is due within a
    /// tick. Then the governor is asked.
    fn choose_of_2013(&mut self, cpu: usize, keep: bool) -> Choice {
        let next = self.next_timer(cpu);
        let soon = next <= self.jiffy_time(self.jiffy() + 1);
        if keep || soon {
            if self.cpus[cpu].tick.is_none() {
                self.restart_tick(cpu);
            }
        } else {
            self.cpus[cpu].tick = None;
        }
        self.cpus[cpu].tick_for_callbacks = keep && !soon;
        // menu of the time knows of one event only, and not whether the tick goes on.
        let event_ns = self.ns_until(self.next_event(cpu));
        let sleep_length = SleepLength {
            timer_ns: event_ns,
            event_ns,
        };
        Choice {
            stop_tick: self.cpus[cpu].tick.is_none(),
            ..self.ask_governor(cpu, sleep_length, false)
        }
    }

    /// The governor is asked first, and says whether the tick is to stop.
    fn choose(&mut self, cpu: usize, keep: bool) -> Choice {
        let stopped = self.cpus[cpu].tick.is_none();
        if stopped && keep {
            self.restart_tick(cpu);
        }
        let tick_stopped = stopped && !keep;
        let event_ns = self.ns_until(self.next_event(cpu));
        // Where callbacks need the tick, it is the next event for the governor too.
        let timer_ns = if keep {
            event_ns
        } else {
            self.ns_until(self.next_timer(cpu))
        };
        let choice = self.ask_governor(cpu, SleepLength { timer_ns, event_ns }, tick_stopped);
        let next = self.next_timer(cpu);
        let far = self.cpus[cpu].tick.is_some_and(|tick| next > tick);
        if keep {
            self.cpus[cpu].tick_for_callbacks = far;
        } else {
            self.cpus[cpu].tick_for_callbacks = false;
            if choice.stop_tick && far {
                self.cpus[cpu].tick = None;
            }
        }
        choice
    }

    fn ns_until(&self, time: Time) -> u64 {
        // No timer is one at the end of time, as in the kernel, whose products of it wrap around.
        if time == Time::MAX {
            idle::NEVER_NS - self.now / 1_000
        } else {
            time.saturating_sub(self.now) / 1_000
        }
    }

    fn ask_governor(
        &mut self,
        cpu: usize,
        sleep_length: SleepLength,
        tick_stopped: bool,
    ) -> Choice {
        let this = &mut self.cpus[cpu];
        this.tracked.update(self.now, Doing::Running, CAPACITY);
        let mut asked = KnownSituation {
            tick_stopped,
            utilised: this.tracked.utilisation() > CAPACITY >> 6,
            latency_limit_ns: self.settings.latency_limit_ns,
            load: this.load,
            ..KnownSituation::new(sleep_length)
        };
        let table = &self.hardware.domains[this.domain].table;
        this.governor.select(table, &mut asked)
    }

    fn enter_idle(&mut self, soc: &Soc, cpu: usize, choice: Choice) -> Stay {
        let domain = &self.hardware.domains[self.cpus[cpu].domain];
        let last = domain.table.last();
        let state = choice.state.min(last);
        let of_table = domain.table.get(state);
        let by_firmware = domain.states[state].suspend.is_some();
        let polls_until = of_table.polling.then(|| {
            let limit_ns = self.cpus[cpu]
                .governor
                .poll_limit_ns(&domain.table, self.tick / 1_000)
                .max(1);
            self.now + limit_ns * 1_000
        });
        let stops_timer = of_table.stops_timer;
        let owner = if self.cpus[cpu].tick_for_callbacks {
            Owner::TickForRcu
        } else {
            Owner::Idle(state)
        };
        let again_ns = self.cpus[cpu]
            .governor
            .ask_again_ns()
            .filter(|_| !of_table.polling);
        self.cpus[cpu].ask_again =
            again_ns.map(|ns| self.now.saturating_add(ns.saturating_mul(1_000)));
        let timer = self.next_event(cpu);
        let alarm = (stops_timer || by_firmware) && timer != Time::MAX;
        if alarm {
            let source = if stops_timer {
                Source::Broadcast
            } else {
                Source::LocalTimer
            };
            self.cpus[cpu].alarm = Some(timer);
            soc.program_alarm(cpu, timer, cpu, source);
        }
        self.stamp(soc, cpu, events::IDLE_ENTER, state as u64);
        self.callbacks_idle(soc, cpu, true);
        let with_domains = by_firmware && state == last && self.take_domains_down(soc, cpu, timer);
        Stay {
            state,
            owner: self.owners.id(owner),
            since: self.now,
            timer,
            alarm,
            polls_until,
            with_domains,
        }
    }

    /// The CPU is awake: counts what woke it, and tells the governor.
    pub fn leave_idle(&mut self, soc: &Soc, cpu: usize, stay: Stay) {
        self.bring_domains_up(cpu);
        if stay.alarm {
            // Where another CPU passes the interrupt on, the line may have fired and that CPU not
            // looked yet.
            self.cpus[cpu].alarm = None;
            soc.cancel_alarm(cpu);
        }
        let cause = self.cause(soc, cpu);
        if let Some(cause) = cause {
            self.cpus[cpu].counts.wake_ups[cause as usize] += 1;
        }
        self.stamp(
            soc,
            cpu,
            events::IDLE_LEAVE,
            cause.map_or(u64::MAX, |cause| cause as u64),
        );
        let got_tick = matches!(cause, Some(WakeCause::Tick | WakeCause::TickForRcu));
        let since_choice_ns = (self.now - stay.since) / 1_000;
        self.cpus[cpu].idled += self.now - stay.since;
        self.cpus[cpu]
            .tracked
            .update(self.now, Doing::Nothing, CAPACITY);
        let polled_to_limit = stay.polls_until.is_some_and(|limit| self.now >= limit);
        let this = &mut self.cpus[cpu];
        let asked_again = this.ask_again.is_some_and(|at| at <= self.now);
        if !asked_again {
            this.ask_again = None;
        }
        if this.tick.is_none() && self.now - stay.since >= self.tick {
            this.load = 0;
        }
        let table = &self.hardware.domains[this.domain].table;
        let residency_ns = this.accounting.leave(table, stay.state, since_choice_ns);
        let entered = Some(stay.state);
        let outcome = Outcome {
            entered,
            residency_ns,
            since_choice_ns,
            got_tick,
            polled_to_limit,
            asked_again,
        };
        this.governor.reflect(table, &outcome);
        self.callbacks_idle(soc, cpu, false);
    }

    /// The cause that has woken a CPU.
    fn cause(&self, soc: &Soc, cpu: usize) -> Option<WakeCause> {
        let this = &self.cpus[cpu];
        let pending = soc.pending_interrupts(cpu);
        if self.next_event(cpu) <= self.now {
            if this.precise.next() <= self.now {
                return Some(WakeCause::Timer);
            }
            if this.tick.is_some_and(|tick| tick <= self.now) {
                return Some(if this.tick_for_callbacks {
                    WakeCause::TickForRcu
                } else {
                    WakeCause::Tick
                });
            }
            if this.callbacks_at.is_some_and(|at| at <= self.now) {
                return Some(WakeCause::RcuTimer);
            }
            let own =
                this.ask_again.is_some_and(|at| at <= self.now) && self.next_timer(cpu) > self.now;
            return Some(if own {
                WakeCause::Limit
            } else {
                WakeCause::WheelTimer
            });
        }
        if let Some(cause) = this.ipi_cause {
            return Some(cause);
        }
        pending
            .sources()
            .next()
            .map_or(Some(WakeCause::Limit), |source| match source {
                Source::Device(_) => Some(WakeCause::Device),
                Source::Broadcast => Some(WakeCause::Broadcast),
                _ => None,
            })
    }
}
