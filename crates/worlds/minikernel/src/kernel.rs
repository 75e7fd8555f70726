//! The kernel's state, and what a CPU does next.
//!
//! A CPU's process asks [`Kernel::step`] what to do, does it (which takes simulated time), and asks again. A step changes the state of the
//! kernel and takes no time itself: what it costs is a debt of the CPU, which is paid before anything else.

use crate::callbacks::{Callbacks, Requests};
use crate::counts::{CpuCounts, WakeCause};
use crate::events;
use crate::hardware::{Domain, Hardware};
use crate::objects::Objects;
use crate::owners::{Owner, Owners};
use crate::placement::{Placement, View};
use crate::program::{Life, Task};
use crate::runqueue::RunQueue;
use crate::settings::{Frequency, Settings};
use crate::task::{CpuSet, DeviceSpec, Policy, Start, TaskId, TaskSpec, Workload};
use crate::timers::{Precise, Wheel};
use engine::{SplitMix64, Time};
use idle::{Accounting, Asked, Governor, Outcome, SleepLength};
use points::Point;
use soc::meter::{Activity, OwnerId};
use soc::{Interrupts, Soc, Source, Work};
use std::collections::VecDeque;
use std::rc::Rc;

/// What a CPU does until its next step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    /// It is busy for a time, with interrupts off.
    Busy(Time),
    /// It computes until a time, with interrupts on.
    Run(Time),
    /// It idles.
    Idle(Stay),
    /// It is done.
    Stop,
}

/// A stay in an idle state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay {
    pub(crate) state: usize,
    /// The owner of what the CPU needs in it.
    pub(crate) owner: OwnerId,
    /// When it was chosen.
    pub(crate) since: Time,
    /// When the CPU's next timer fires.
    pub(crate) timer: Time,
    /// Whether that timer stops in the state, or with the CPU's power, so that an always-on line stands in.
    pub(crate) alarm: bool,
    /// Whether the CPU polls, until this time at most.
    pub(crate) polls_until: Option<Time>,
}

/// What a precise timer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// Wakes a task, if it still is in that sleep; the time is when it should be woken.
    Wake { task: TaskId, sleep: u64, expected: Time },
    /// Starts a task.
    Start(TaskId),
}

/// What a timer of the wheel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WheelAlarm {
    /// Wakes a task, if it still is in that sleep.
    Wake { task: TaskId, sleep: u64 },
    /// A timer of the code that looks after callbacks.
    Callbacks(u32),
}

/// Softirqs.
pub(crate) const SOFTIRQ_TIMER: u8 = 1;
pub(crate) const SOFTIRQ_CALLBACKS: u8 = 2;

/// Kinds of interrupts between CPUs.
pub(crate) const IPI_RESCHEDULE: u8 = 0;
pub(crate) const IPI_TIMER: u8 = 1;

pub(crate) struct Cpu {
    pub(crate) domain: usize,
    pub(crate) capacity: u32,
    pub(crate) queue: RunQueue,
    pub(crate) current: Option<TaskId>,
    pub(crate) reschedule: bool,
    /// Where the running task is to go when it is put off.
    pub(crate) push: Option<usize>,
    /// Work to be done before anything else, with its owner.
    pub(crate) debts: VecDeque<(OwnerId, Work)>,
    /// Since when the current task computes.
    pub(crate) computing: Option<Time>,
    /// Interrupts that were taken and not handled yet.
    pub(crate) taken: Option<Interrupts>,
    pub(crate) softirqs: u8,
    pub(crate) precise: Precise<Alarm>,
    pub(crate) wheel: Wheel<WheelAlarm>,
    /// The next tick; `None` while the tick is stopped.
    pub(crate) tick: Option<Time>,
    /// Whether the tick goes on only because of callbacks.
    pub(crate) tick_for_callbacks: bool,
    /// When callbacks want the CPU awake.
    pub(crate) callbacks_at: Option<Time>,
    pub(crate) governor: Governor,
    pub(crate) accounting: Accounting,
    /// Who pays for the next turn of the idle loop, and whether it has.
    pub(crate) turn_owner: OwnerId,
    pub(crate) turn_paid: bool,
    pub(crate) stay: Option<Stay>,
    /// When the always-on timer fires for it; it has fired if that is over.
    pub(crate) alarm: Option<Time>,
    /// Why another CPU sent an interrupt.
    pub(crate) ipi_cause: Option<WakeCause>,
    pub(crate) counts: CpuCounts,
}

pub(crate) struct Device {
    pub(crate) spec: DeviceSpec,
    pub(crate) next: Time,
    pub(crate) random: SplitMix64,
}

pub(crate) struct Kernel {
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
    /// Operating point and last change of each domain.
    pub(crate) points: Vec<(usize, Time)>,
    /// Tasks whose end ends the run, that have not ended.
    pub(crate) mains: usize,
    /// Copies of tasks that have not ended.
    pub(crate) copies: usize,
    /// What turned out wrong with the workload during the run.
    pub(crate) wrong: Option<String>,
    pub(crate) tick: Time,
    pub(crate) now: Time,
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

impl Kernel {
    pub(crate) fn new(
        hardware: Hardware,
        settings: Settings,
        workload: &Workload,
        placement: Box<dyn Placement>,
        callbacks: Option<Box<dyn Callbacks>>,
        times: std::ops::Range<Time>,
    ) -> Self {
        let owners = Owners::new(hardware.states(), workload.tasks.len());
        let tick = settings.tick();
        let points: Vec<_> = hardware
            .domains
            .iter()
            .enumerate()
            .map(|(number, domain)| match &settings.frequency {
                Frequency::Highest => domain.points.len() - 1,
                Frequency::Lowest | Frequency::Schedutil { .. } => 0,
                Frequency::Fixed(points) => points[number],
            })
            .map(|point| (point, times.start))
            .collect();
        let mut cpus = Vec::new();
        for (number, domain) in hardware.domains.iter().enumerate() {
            cpus.extend(domain.cpus.clone().map(|_| Cpu {
                domain: number,
                capacity: domain.points[points[number].0].capacity,
                queue: RunQueue::default(),
                current: None,
                reschedule: false,
                push: None,
                debts: VecDeque::new(),
                computing: None,
                taken: None,
                softirqs: 0,
                precise: Precise::new(),
                wheel: Wheel::new(settings.form),
                tick: Some(times.start + tick),
                tick_for_callbacks: false,
                callbacks_at: None,
                governor: experienced(Governor::new(settings.governor, &domain.table, tick / 1_000), domain),
                accounting: Accounting::default(),
                turn_owner: owners.id(Owner::Kernel),
                turn_paid: false,
                stay: None,
                alarm: None,
                ipi_cause: None,
                counts: CpuCounts::default(),
            }));
        }
        let specs: Vec<_> = workload.tasks.iter().cloned().map(Rc::new).collect();
        let mut tasks = Vec::new();
        for (number, spec) in specs.iter().enumerate() {
            let random = SplitMix64::fork(settings.seed, number as u64);
            let mut task = Task::new(Rc::clone(spec), number, owners.id(Owner::Task(number)), random);
            task.cpu = spec.cpus.iter(cpus.len()).next().unwrap_or(0);
            if let Start::At(ns) = spec.start {
                cpus[task.cpu].precise.set(times.start + ns * 1_000, times.start + ns * 1_000, Alarm::Start(number));
            }
            tasks.push(task);
        }
        let first_thread = tasks.len();
        for (number, thread) in callbacks.iter().flat_map(|callbacks| callbacks.threads()).enumerate() {
            let spec = TaskSpec { name: thread.name, cpus: thread.cpus, ..TaskSpec::forever("", Vec::new()) };
            let random = SplitMix64::fork(settings.seed, u64::MAX - number as u64);
            let mut task = Task::new(Rc::new(spec), usize::MAX, owners.id(Owner::RcuThread), random);
            task.thread = Some(number);
            task.life = Life::Blocked;
            task.cpu = thread.cpus.iter(cpus.len()).next().unwrap_or(0);
            tasks.push(task);
        }
        let devices = workload.devices.iter().enumerate().map(|(number, spec)| Device {
            spec: spec.clone(),
            next: times.start,
            // The streams of devices lie apart from those of tasks.
            random: SplitMix64::fork(settings.seed, (1 << 32) + number as u64),
        });
        Self {
            threads: first_thread..tasks.len(),
            objects: Objects::of(workload),
            devices: devices.collect(),
            placement: Some(placement),
            callbacks,
            requests: Requests::default(),
            stalls: Vec::new(),
            mains: workload.tasks.iter().filter(|task| task.main && task.start != Start::ByFork).count(),
            copies: 0,
            hardware,
            settings,
            owners,
            cpus,
            tasks,
            specs,
            points,
            wrong: None,
            tick,
            now: times.start,
            begin: times.start,
            end: times.end,
        }
    }

    /// What `cpu`, whose process runs, does next.
    pub(crate) fn step(&mut self, soc: &Soc, cpu: usize) -> Do {
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
            let mut pending = soc.take_interrupts(cpu);
            // Where the always-on timer or another CPU stands in for the CPU's own timer, that is the one interrupt.
            let stands_in = pending.has(Source::Broadcast) || pending.has(Source::Ipi(IPI_TIMER));
            if self.next_event(cpu) <= now && !stands_in {
                pending = pending.with(Source::LocalTimer);
            }
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

    /// Work that a CPU has to do first; `ns` at capacity 1024.
    pub(crate) fn owe(&mut self, cpu: usize, owner: Owner, ns: u64) {
        let owner = self.owners.id(owner);
        self.owe_to(cpu, owner, ns);
    }

    /// As [`Kernel::owe`], by the owner's number.
    pub(crate) fn owe_to(&mut self, cpu: usize, owner: OwnerId, ns: u64) {
        let work = Work::done(1024, ns * 1_000);
        match self.cpus[cpu].debts.back_mut() {
            Some((last, owed)) if *last == owner => *owed += work,
            _ => self.cpus[cpu].debts.push_back((owner, work)),
        }
    }

    /// Brings the account of the task that computes on a CPU up to now.
    pub(crate) fn settle(&mut self, cpu: usize) {
        let this = &mut self.cpus[cpu];
        if let (Some(since), Some(task)) = (this.computing.take(), this.current) {
            self.tasks[task].compute(this.capacity, self.now - since);
        }
    }

    /// As [`Kernel::settle`], for a CPU that goes on computing.
    pub(crate) fn refresh(&mut self, cpu: usize) {
        if self.cpus[cpu].computing.is_some() {
            self.settle(cpu);
            self.cpus[cpu].computing = Some(self.now);
        }
    }

    /// Jiffies since boot.
    pub(crate) fn jiffy(&self) -> u64 {
        (self.now - self.begin) / self.tick
    }

    /// When a jiffy begins.
    pub(crate) fn jiffy_time(&self, jiffy: u64) -> Time {
        self.begin.saturating_add(jiffy.saturating_mul(self.tick))
    }

    /// When a CPU's own timer is to fire: the tick, a precise timer, or, while the tick is stopped, the wheel.
    pub(crate) fn next_event(&self, cpu: usize) -> Time {
        let this = &self.cpus[cpu];
        match this.tick {
            Some(tick) => tick.min(this.precise.next()),
            None => self.next_timer(cpu),
        }
    }

    /// The next timer of a CPU, the tick left out.
    pub(crate) fn next_timer(&self, cpu: usize) -> Time {
        let this = &self.cpus[cpu];
        let wheel = this.wheel.next().map_or(Time::MAX, |jiffy| self.jiffy_time(jiffy));
        this.precise.next().min(wheel).min(this.callbacks_at.unwrap_or(Time::MAX))
    }

    pub(crate) fn stamp(&self, soc: &Soc, cpu: usize, point: Point, argument: u64) {
        if self.settings.record {
            soc.record_stamp(cpu, point, argument.min(u64::from(u32::MAX)) as u32);
        }
    }

    /// Asks the policy of placement.
    pub(crate) fn ask<R>(&mut self, question: impl FnOnce(&mut dyn Placement, &dyn View) -> R) -> Option<R> {
        let mut placement = self.placement.take()?;
        let answer = question(&mut *placement, &*self);
        self.placement = Some(placement);
        Some(answer)
    }

    /// The run ends now.
    pub(crate) fn finish(&mut self, soc: &Soc) {
        self.end = self.end.min(self.now);
        soc.meter().finish(self.end);
        (0..self.cpus.len()).for_each(|cpu| soc.nudge(cpu));
    }

    pub(crate) fn note_switch(&self, soc: &Soc, cpu: usize) {
        let task = self.cpus[cpu].current.map_or(0, |task| task as u64 + 1);
        self.stamp(soc, cpu, events::TASK_SWITCH, task);
    }
}

/// A governor with the past of a CPU that had nothing to do: long stays that ended when the timer fired. One without a past takes its first
/// stay for a short one; and where nothing happens, the first stay is the only one.
fn experienced(mut governor: Governor, domain: &Domain) -> Governor {
    const LONG_NS: u64 = 1_000_000_000;
    for _ in 0..16 {
        let mut asked = Asked::new(SleepLength { timer_ns: LONG_NS, event_ns: LONG_NS });
        let choice = governor.select(&domain.table, &mut asked);
        governor.reflect(&domain.table, &Outcome::stay(choice.state, LONG_NS));
    }
    governor
}

impl View for Kernel {
    fn now(&self) -> Time {
        self.now
    }

    fn cpus(&self) -> usize {
        self.cpus.len()
    }

    fn domain(&self, cpu: usize) -> usize {
        self.cpus[cpu].domain
    }

    fn capacity(&self, cpu: usize) -> u32 {
        self.cpus[cpu].capacity
    }

    fn top_capacity(&self, cpu: usize) -> u32 {
        self.hardware.domains[self.cpus[cpu].domain].points.last().map_or(0, |point| point.capacity)
    }

    fn running(&self, cpu: usize) -> Option<TaskId> {
        self.cpus[cpu].current
    }

    fn waiting(&self, cpu: usize) -> usize {
        self.cpus[cpu].queue.len()
    }

    fn waiting_tasks(&self, cpu: usize) -> Vec<TaskId> {
        self.cpus[cpu].queue.tasks().collect()
    }

    fn allowed(&self, task: TaskId) -> CpuSet {
        self.tasks[task].cpus
    }

    fn policy(&self, task: TaskId) -> Policy {
        self.tasks[task].spec.policy
    }

    fn is_kernel_thread(&self, task: TaskId) -> bool {
        self.tasks[task].thread.is_some()
    }
}
