//! A kernel is built: everything is at rest, and tasks are about to start.

use crate::callbacks::{Callbacks, Requests, Thread};
use crate::counts::CpuCounts;
use crate::cpu::{Alarm, Cpu, Device};
use crate::hardware::{Domain, Hardware};
use crate::kernel::Kernel;
use crate::objects::Objects;
use crate::owners::{Owner, Owners};
use crate::program::{Life, Task};
use crate::runqueue::RunQueue;
use crate::settings::{Frequency, Settings};
use crate::task::{Start, TaskSpec, Workload};
use crate::timers::{Precise, Wheel};
use engine::{SplitMix64, Time};
use idle::{Accounting, Governor, KnownSituation, Outcome, SleepLength};
use placement::{Pelt, Placement};
use soc::meter::OwnerId;
use std::collections::VecDeque;
use std::rc::Rc;

impl Cpu {
    /// A CPU of a domain at an operating point, whose tick begins with the run.
    fn at_rest(domain: &Domain, point: usize, settings: &Settings, start: Time) -> Self {
        Self {
            domain: 0,
            capacity: domain.points[point].capacity,
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
            tick: Some(start + settings.tick()),
            tick_for_callbacks: false,
            callbacks_at: None,
            ask_again: None,
            tracked: Pelt::new(0),
            load: 0,
            governor: experienced(
                Governor::new(settings.governor, &domain.table, settings.tick() / 1_000),
                domain,
            ),
            accounting: Accounting::default(),
            turn_owner: 0,
            turn_paid: false,
            stay: None,
            idled: 0,
            idled_before: 0,
            alarm: None,
            ipi_cause: None,
            counts: CpuCounts::default(),
        }
    }
}

impl Kernel {
    pub fn new(
        hardware: Hardware,
        settings: Settings,
        workload: &Workload,
        placement: Box<dyn Placement>,
        callbacks: Option<Box<dyn Callbacks>>,
        times: std::ops::Range<Time>,
    ) -> Self {
        let owners = Owners::new(hardware.states(), workload.tasks.len());
        let tick = settings.tick();
        let points = points(&hardware, &settings).map(|point| (point, times.start));
        let points: Vec<_> = points.collect();
        let mut cpus = Vec::new();
        for (number, domain) in hardware.domains.iter().enumerate() {
            for _ in domain.cpus.clone() {
                let mut cpu = Cpu::at_rest(domain, points[number].0, &settings, times.start);
                (cpu.domain, cpu.turn_owner) = (number, owners.id(Owner::Kernel));
                cpus.push(cpu);
            }
        }
        let specs: Vec<_> = workload.tasks.iter().cloned().map(Rc::new).collect();
        let mut tasks = tasks_of(&specs, &mut cpus, settings.seed, times.start, &owners);
        let first_thread = tasks.len();
        for (number, thread) in callbacks.iter().flat_map(|of| of.threads()).enumerate() {
            let owner = owners.id(Owner::RcuThread);
            tasks.push(thread_task(
                thread,
                number,
                owner,
                settings.seed,
                cpus.len(),
            ));
        }
        Self {
            threads: first_thread..tasks.len(),
            objects: Objects::new(workload),
            devices: devices(workload, settings.seed, times.start),
            placement: Some(placement),
            callbacks,
            requests: Requests::default(),
            stalls: Vec::new(),
            deadlocks: Vec::new(),
            ready: vec![0; workload.groups.len()],
            groups: workload.groups.clone(),
            mains: specs
                .iter()
                .filter(|task| task.main && task.start != Start::ByFork)
                .count(),
            copies: 0,
            settings,
            owners,
            cpus,
            tasks,
            specs,
            sampled: vec![times.start; hardware.domains.len()],
            points,
            hardware,
            wrong: None,
            tick,
            now: times.start,
            begin: times.start,
            end: times.end,
        }
    }
}

/// The operating point of each domain at the beginning.
fn points(hardware: &Hardware, settings: &Settings) -> impl Iterator<Item = usize> {
    hardware
        .domains
        .iter()
        .map(|domain| match settings.frequency {
            Frequency::Highest => domain.points.len() - 1,
            Frequency::Lowest | Frequency::Schedutil { .. } | Frequency::Ondemand { .. } => 0,
        })
}

/// The tasks of the workload; those that start at a time get an alarm on their CPU.
fn tasks_of(
    specs: &[Rc<TaskSpec>],
    cpus: &mut [Cpu],
    seed: u64,
    start: Time,
    owners: &Owners,
) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (number, spec) in specs.iter().enumerate() {
        let random = SplitMix64::fork(seed, number as u64);
        let owner = owners.id(Owner::Task(number));
        let mut task = Task::new(Rc::clone(spec), number, owner, random);
        task.cpu = spec.cpus.iter(cpus.len()).next().unwrap_or(0);
        if let Start::At(ns) = spec.start {
            let at = start + ns * 1_000;
            cpus[task.cpu].precise.set(at, at, Alarm::Start(number));
        }
        tasks.push(task);
    }
    tasks
}

/// The task of a thread of RCU.
fn thread_task(thread: Thread, number: usize, owner: OwnerId, seed: u64, cpus: usize) -> Task {
    let random = SplitMix64::fork(seed, u64::MAX - number as u64);
    let spec = TaskSpec {
        name: thread.name,
        cpus: thread.cpus,
        ..TaskSpec::forever("", Vec::new())
    };
    let mut task = Task::new(Rc::new(spec), usize::MAX, owner, random);
    (task.thread, task.life) = (Some(number), Life::Blocked);
    task.cpu = thread.cpus.iter(cpus).next().unwrap_or(0);
    task
}

/// The devices, at rest.
fn devices(workload: &Workload, seed: u64, start: Time) -> Vec<Device> {
    let devices = workload
        .devices
        .iter()
        .enumerate()
        .map(|(number, spec)| Device {
            spec: spec.clone(),
            next: start,
            // The streams of devices lie apart from those of tasks.
            random: SplitMix64::fork(seed, (1 << 32) + number as u64),
        });
    devices.collect()
}

/// A governor with the past of a CPU that had nothing to do: long stays that ended when the timer
/// fired. One without a past takes its first stay for a short one; and where nothing happens, the
/// first stay is the only one.
fn experienced(mut governor: Governor, domain: &Domain) -> Governor {
    const LONG_NS: u64 = 1_000_000_000;
    for _ in 0..16 {
        let mut asked = KnownSituation::new(SleepLength {
            timer_ns: LONG_NS,
            event_ns: LONG_NS,
        });
        let choice = governor.select(&domain.table, &mut asked);
        governor.reflect(&domain.table, &Outcome::stay(choice.state, LONG_NS));
    }
    governor
}
