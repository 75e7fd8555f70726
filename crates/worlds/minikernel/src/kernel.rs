//! The kernel's state, and what a CPU does next.
//!
//! A CPU's process asks [`Kernel::step`] what to do, does it (which takes simulated time), and asks
//! again. A step changes the state of the kernel and takes no time itself: what it costs is a debt
//! of the CPU, which is paid before anything else.

use crate::callbacks::{Callbacks, Requests};
use crate::cpu::{Cpu, Device, Do, IPI_TIMER};
use crate::events;
use crate::hardware::Hardware;
use crate::objects::Objects;
use crate::owners::{Owner, Owners};
use crate::program::Task;
use crate::settings::Settings;
use crate::task::{GroupSpec, TaskId, TaskSpec};
use engine::Time;
use placement::{Placement, View};
use points::Point;
use soc::meter::{Activity, OwnerId};
use soc::{Interrupts, Soc, Source, Work};
use std::rc::Rc;

/// The kernel's state.
pub struct Kernel {
    pub(crate) hardware: Hardware,
    pub(crate) settings: Settings,
    pub(crate) owners: Owners,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) specs: Vec<Rc<TaskSpec>>,
    /// The first kernel thread among the tasks, and how many there are.
    pub(crate) threads: std::ops::Range<TaskId>,
    pub(crate) objects: Objects,
    pub(crate) devices: Vec<Device>,
    pub(crate) placement: Option<Box<dyn Placement>>,
    pub(crate) callbacks: Option<Box<dyn Callbacks>>,
    pub(crate) requests: Requests,
    /// Reports of grace periods that took too long, with the time from the beginning.
    pub(crate) stalls: Vec<(Time, String)>,
    /// Deadlocks of mutexes in words, with the time from the beginning.
    pub(crate) deadlocks: Vec<(Time, String)>,
    /// Weight of what is ready in each task group below the root.
    pub(crate) ready: Vec<u64>,
    pub(crate) groups: Vec<GroupSpec>,
    /// Operating point and last change of each domain.
    pub(crate) points: Vec<(usize, Time)>,
    /// When the load of each domain was last looked at.
    pub(crate) sampled: Vec<Time>,
    /// Tasks whose end ends the run, that have not ended.
    pub(crate) mains: usize,
    /// Copies of tasks that have not ended.
    pub(crate) copies: usize,
    /// The error in the workload that showed during the run.
    pub(crate) wrong: Option<String>,
    pub(crate) tick: Time,
    pub(crate) now: Time,
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

impl Kernel {
    /// The next activity of `cpu`, whose process runs.
    pub fn step(&mut self, soc: &Soc, cpu: usize) -> Do {
        let now = soc.now();
        self.now = now;
        if now >= self.end {
            return Do::Stop;
        }
        self.settle(cpu);
        if let Some(stay) = self.cpus[cpu].stay.take() {
            self.leave_idle(soc, cpu, stay);
        }
        loop {
            if let Some((owner, work)) = self.cpus[cpu].debts.pop_front() {
                let time = work.time(self.cpus[cpu].capacity);
                if time == 0 {
                    continue;
                }
                soc.meter().set(now, cpu, Activity::Running, owner);
                return Do::Busy(time);
            }
            if let Some(taken) = self.cpus[cpu].taken.take() {
                self.handle(soc, cpu, taken);
                continue;
            }
            if self.cpus[cpu].softirqs != 0 {
                self.softirq(soc, cpu);
                continue;
            }
            let pending = self.pending(soc, cpu);
            if pending.any() {
                self.enter_interrupt(cpu, pending);
                continue;
            }
            let this = &self.cpus[cpu];
            if this.reschedule || (this.current.is_none() && !this.queue.is_empty()) {
                self.schedule(soc, cpu);
                continue;
            }
            match this.current {
                Some(task) => {
                    if let Some(until) = self.run(soc, cpu, task) {
                        return Do::Run(until.min(self.end));
                    }
                }
                None => {
                    if let Some(stay) = self.idle(soc, cpu) {
                        self.cpus[cpu].stay = Some(stay);
                        return Do::Idle(stay);
                    }
                }
            }
        }
    }

    /// Takes the interrupts of a CPU, its own timer's among them.
    fn pending(&mut self, soc: &Soc, cpu: usize) -> Interrupts {
        let pending = soc.take_interrupts(cpu);
        // Where the always-on timer or another CPU stands in for the CPU's own timer, that is the
        // one interrupt.
        let stands_in = pending.has(Source::Broadcast) || pending.has(Source::Ipi(IPI_TIMER));
        if self.next_event(cpu) <= self.now && !stands_in {
            pending.with(Source::LocalTimer)
        } else {
            pending
        }
    }

    /// Work that a CPU has to do first; `ns` at capacity 1024.
    pub fn owe(&mut self, cpu: usize, owner: Owner, ns: u64) {
        let owner = self.owners.id(owner);
        self.owe_to(cpu, owner, ns);
    }

    /// As [`Kernel::owe`], by the owner's number.
    pub fn owe_to(&mut self, cpu: usize, owner: OwnerId, ns: u64) {
        let work = Work::done(1024, ns * 1_000);
        match self.cpus[cpu].debts.back_mut() {
            Some((last, owed)) if *last == owner => *owed += work,
            _ => self.cpus[cpu].debts.push_back((owner, work)),
        }
    }

    /// Brings the account of the task that computes on a CPU up to now.
    pub fn settle(&mut self, cpu: usize) {
        let this = &mut self.cpus[cpu];
        if let (Some(since), Some(task)) = (this.computing.take(), this.current) {
            let (capacity, point, elapsed) =
                (this.capacity, self.points[this.domain].0, self.now - since);
            let weight = self.weight(task);
            let task = &mut self.tasks[task];
            task.compute(capacity, elapsed, weight);
            *task.counts.ran_at.entry((cpu, point)).or_default() += elapsed;
        }
    }

    /// As [`Kernel::settle`], for a CPU that goes on computing.
    pub fn refresh(&mut self, cpu: usize) {
        if self.cpus[cpu].computing.is_some() {
            self.settle(cpu);
            self.cpus[cpu].computing = Some(self.now);
        }
    }

    /// Jiffies since boot.
    pub fn jiffy(&self) -> u64 {
        (self.now - self.begin) / self.tick
    }

    /// When a jiffy begins.
    pub fn jiffy_time(&self, jiffy: u64) -> Time {
        self.begin.saturating_add(jiffy.saturating_mul(self.tick))
    }

    /// When a CPU's own timer is to fire: the tick, a precise timer, or, while the tick is stopped,
    /// the wheel.
    pub fn next_event(&self, cpu: usize) -> Time {
        let this = &self.cpus[cpu];
        let own = this.ask_again.unwrap_or(Time::MAX);
        match this.tick {
            Some(tick) => tick.min(this.precise.next()).min(own),
            None => self.next_timer(cpu).min(own),
        }
    }

    /// The next timer of a CPU, the tick left out.
    pub fn next_timer(&self, cpu: usize) -> Time {
        let this = &self.cpus[cpu];
        let wheel = this
            .wheel
            .next()
            .map_or(Time::MAX, |jiffy| self.jiffy_time(jiffy));
        this.precise
            .next()
            .min(wheel)
            .min(this.callbacks_at.unwrap_or(Time::MAX))
    }

    pub fn stamp(&self, soc: &Soc, cpu: usize, point: Point, argument: u64) {
        if self.settings.record {
            soc.stamp_for(cpu, point, argument.min(u64::from(u32::MAX)) as u32);
        }
    }

    /// Asks the policy of placement.
    pub fn ask<R>(
        &mut self,
        question: impl FnOnce(&mut dyn Placement, &dyn View) -> R,
    ) -> Option<R> {
        let mut placement = self.placement.take()?;
        let answer = question(&mut *placement, &*self);
        self.placement = Some(placement);
        Some(answer)
    }

    /// The run ends now.
    pub fn finish(&mut self, soc: &Soc) {
        self.end = self.end.min(self.now);
        soc.meter().finish(self.end);
        (0..self.cpus.len()).for_each(|cpu| soc.nudge(cpu));
    }

    pub fn note_switch(&self, soc: &Soc, cpu: usize) {
        let task = self.cpus[cpu].current.map_or(0, |task| task as u64 + 1);
        self.stamp(soc, cpu, events::TASK_SWITCH, task);
    }
}
