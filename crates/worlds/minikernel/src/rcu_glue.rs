//! The glue between the kernel and the code that puts callbacks off: every call of that code is
//! here, and everything it asks for is carried out here.
//!
//! Without such code, or without callbacks, nothing here costs anything.

use crate::callbacks::{
    Callback, Callbacks, CpuTime, IdleNeed, InterruptedCode, Requests, Step, ThreadNumber,
};
use crate::counts::WakeCause;
use crate::cpu::{SOFTIRQ_CALLBACKS, WheelAlarm};
use crate::events;
use crate::kernel::Kernel;
use crate::owners::Owner;
use crate::task::TaskId;
use soc::{Soc, Work};

impl Kernel {
    /// Calls the code under test. What it asks for is carried out, save for callbacks to invoke:
    /// their number is handed back.
    fn with_callbacks<R>(
        &mut self,
        soc: &Soc,
        cpu: usize,
        call: impl FnOnce(&mut (dyn Callbacks + 'static), CpuTime, &mut Requests) -> R,
    ) -> Option<(R, u64)> {
        let mut callbacks = self.callbacks.take()?;
        let place = CpuTime {
            cpu,
            jiffy: self.jiffy(),
        };
        let mut requests = std::mem::take(&mut self.requests);
        let answer = call(&mut *callbacks, place, &mut requests);
        self.callbacks = Some(callbacks);
        let mut invoked = 0;
        if !requests.is_empty() {
            invoked = requests.invoke.len() as u64;
            requests.invoke.clear();
            self.carry_out(soc, cpu, &mut requests);
        }
        self.requests = requests;
        Some((answer, invoked))
    }

    fn carry_out(&mut self, soc: &Soc, cpu: usize, requests: &mut Requests) {
        if std::mem::take(&mut requests.softirq) {
            self.cpus[cpu].softirqs |= SOFTIRQ_CALLBACKS;
        }
        for thread in requests.wake.drain(..) {
            let task = self.threads.start + thread;
            if self.threads.contains(&task) {
                self.tasks[task].woken = true;
                self.wake(soc, cpu, task, WakeCause::RcuThread);
            }
        }
        for other in requests.reschedule.drain(..) {
            if other < self.cpus.len() {
                self.ask_reschedule(soc, cpu, other, WakeCause::GracePeriod);
            }
        }
        let now = self.jiffy();
        for (number, jiffy) in requests.timers.drain(..) {
            for other in &mut self.cpus {
                other.wheel.cancel(WheelAlarm::Callbacks(number));
            }
            if let Some(jiffy) = jiffy {
                self.cpus[cpu]
                    .wheel
                    .set(now, jiffy, WheelAlarm::Callbacks(number));
            }
        }
        for (point, argument) in requests.stamps.drain(..) {
            self.stamp(soc, cpu, point, u64::from(argument));
        }
        let time = self.now - self.begin;
        self.stalls
            .extend(requests.stalls.drain(..).map(|stall| (time, stall)));
    }

    /// A task queues a callback.
    pub fn call(&mut self, soc: &Soc, cpu: usize, callback: Callback) {
        if self
            .with_callbacks(soc, cpu, |code, place, requests| {
                code.call(place, callback, requests)
            })
            .is_none()
        {
            return;
        }
        self.cpus[cpu].counts.queued += 1;
        self.owe(
            cpu,
            Owner::Task(callback.by as usize),
            self.settings.costs.queue_callback,
        );
        self.stamp(soc, cpu, events::CALLBACKS_QUEUED, 1);
    }

    /// The CPU passes through the scheduler.
    pub fn note_context_switch(&mut self, soc: &Soc, cpu: usize) {
        self.with_callbacks(soc, cpu, Callbacks::context_switch);
    }

    /// The CPU's tick.
    pub fn callbacks_tick(&mut self, soc: &Soc, cpu: usize) {
        let interrupted = match self.cpus[cpu].current {
            None => InterruptedCode::Idle,
            Some(task) if self.tasks[task].thread.is_some() => InterruptedCode::Kernel,
            Some(_) => InterruptedCode::User,
        };
        self.with_callbacks(soc, cpu, |code, place, requests| {
            code.tick(place, interrupted, requests)
        });
    }

    /// The need of the callbacks of a CPU that is about to idle.
    pub fn idle_need(&mut self, soc: &Soc, cpu: usize) -> IdleNeed {
        let need = self.with_callbacks(soc, cpu, Callbacks::idle_need);
        need.map_or(IdleNeed::StopTick, |(need, _)| need)
    }

    /// The CPU idles from now on, or no longer.
    pub fn callbacks_idle(&mut self, soc: &Soc, cpu: usize, enters: bool) {
        self.with_callbacks(soc, cpu, |code, place, requests| {
            if enters {
                code.idle_enter(place, requests)
            } else {
                code.idle_exit(place, requests)
            }
        });
    }

    pub fn callbacks_timer(&mut self, soc: &Soc, cpu: usize, number: u32) {
        self.with_callbacks(soc, cpu, |code, place, requests| {
            code.timer(number, place, requests)
        });
    }

    /// The softirq that looks after callbacks.
    pub fn callbacks_softirq(&mut self, soc: &Soc, cpu: usize) {
        let softirq = self.with_callbacks(soc, cpu, Callbacks::softirq);
        let Some((more, invoked)) = softirq else {
            return;
        };
        if more {
            self.cpus[cpu].softirqs |= SOFTIRQ_CALLBACKS;
        }
        let costs = self.settings.costs;
        self.owe(
            cpu,
            Owner::Callbacks,
            costs.callback_softirq + invoked * costs.callback,
        );
        self.cpus[cpu].counts.invoked_in_softirq += invoked;
        if invoked > 0 {
            self.stamp(soc, cpu, events::CALLBACKS_INVOKED, invoked);
        }
    }

    /// A step of a thread that waits for grace periods or hands callbacks over.
    pub fn run_thread(&mut self, soc: &Soc, cpu: usize, task: TaskId, thread: ThreadNumber) {
        self.tasks[task].woken = false;
        let step = self.with_callbacks(soc, cpu, |code, place, requests| {
            code.thread(thread, place, requests)
        });
        let Some((step, invoked)) = step else { return };
        let costs = self.settings.costs;
        let ns = |ns: u64| Work::done(1024, ns * 1_000);
        let (thread_owner, callbacks_owner) = (
            self.owners.id(Owner::RcuThread),
            self.owners.id(Owner::Callbacks),
        );
        let this = &mut self.tasks[task];
        (this.owner, this.left) = (thread_owner, ns(costs.rcu_thread.max(10)));
        if invoked > 0 {
            this.then = Some((callbacks_owner, ns(invoked * costs.callback)));
            self.cpus[cpu].counts.invoked_in_threads += invoked;
            self.stamp(soc, cpu, events::CALLBACKS_INVOKED, invoked);
        }
        match step {
            Step::Again => {}
            Step::Sleep { .. } if self.tasks[task].woken => {}
            // The step is paid for before it sleeps: as a debt, for a task that sleeps does not
            // compute.
            Step::Sleep { until } => {
                let this = &mut self.tasks[task];
                let left = std::mem::take(&mut this.left);
                let then = this.then.take();
                self.cpus[cpu].debts.push_back((thread_owner, left));
                self.cpus[cpu].debts.extend(then);
                match until {
                    Some(jiffy) => self.sleep_jiffies(cpu, task, jiffy),
                    None => self.block(cpu, task),
                }
            }
        }
    }
}
