//! A kernel is built: everything is at rest, and tasks are about to start.

use crate::callbacks::{Callbacks, Requests};
use crate::counts::CpuCounts;
use crate::cpu::{Alarm, Cpu, Device, Power};
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
use std::collections::VecDeque;
use std::rc::Rc;

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
                Frequency::Lowest | Frequency::Schedutil { .. } | Frequency::Ondemand { .. } => 0,
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
                ask_again: None,
                tracked: Pelt::new(0),
                load: 0,
                governor: experienced(
                    Governor::new(settings.governor, &domain.table, tick / 1_000),
                    domain,
                ),
                accounting: Accounting::default(),
                turn_owner: owners.id(Owner::Kernel),
                turn_paid: false,
                stay: None,
                idled: 0,
                idled_before: 0,
                alarm: None,
                ipi_cause: None,
                counts: CpuCounts::default(),
                power: Power::Up,
                awaited_by: None,
                starts: None,
            }));
        }
        let specs: Vec<_> = workload.tasks.iter().cloned().map(Rc::new).collect();
        let mut tasks = Vec::new();
        for (number, spec) in specs.iter().enumerate() {
            let random = SplitMix64::fork(settings.seed, number as u64);
            let mut task = Task::new(
                Rc::clone(spec),
                number,
                owners.id(Owner::Task(number)),
                random,
            );
            task.cpu = spec.cpus.iter(cpus.len()).next().unwrap_or(0);
            if let Start::At(ns) = spec.start {
                cpus[task.cpu].precise.set(
                    times.start + ns * 1_000,
                    times.start + ns * 1_000,
                    Alarm::Start(number),
                );
            }
            tasks.push(task);
        }
        let first_thread = tasks.len();
        for (number, thread) in callbacks
            .iter()
            .flat_map(|callbacks| callbacks.threads())
            .enumerate()
        {
            let spec = TaskSpec {
                name: thread.name,
                cpus: thread.cpus,
                ..TaskSpec::forever("", Vec::new())
            };
            let random = SplitMix64::fork(settings.seed, u64::MAX - number as u64);
            let mut task = Task::new(
                Rc::new(spec),
                usize::MAX,
                owners.id(Owner::RcuThread),
                random,
            );
            task.thread = Some(number);
            task.life = Life::Blocked;
            task.cpu = thread.cpus.iter(cpus.len()).next().unwrap_or(0);
            tasks.push(task);
        }
        let devices = workload
            .devices
            .iter()
            .enumerate()
            .map(|(number, spec)| Device {
                spec: spec.clone(),
                next: times.start,
                // The streams of devices lie apart from those of tasks.
                random: SplitMix64::fork(settings.seed, (1 << 32) + number as u64),
            });
        Self {
            threads: first_thread..tasks.len(),
            objects: Objects::new(workload),
            devices: devices.collect(),
            placement: Some(placement),
            callbacks,
            requests: Requests::default(),
            stalls: Vec::new(),
            deadlocks: Vec::new(),
            ready: vec![0; workload.groups.len()],
            groups: workload.groups.clone(),
            mains: workload
                .tasks
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
