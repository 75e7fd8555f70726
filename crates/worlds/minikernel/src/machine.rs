//! A whole machine: built, run, read.

use crate::callbacks::Callbacks;
use crate::checks::check;
use crate::counts::{CpuCounts, TaskCounts};
use crate::cpu::{Do, Stay};
use crate::hardware::{Hardware, SwitchedDomain};
use crate::kernel::Kernel;
use crate::owners::{Owner, Owners};
use crate::settings::Settings;
use crate::task::Workload;
use engine::Time;
use placement::Placement;
use soc::meter::{Activity, Energy};
use soc::{Event, Soc, System, run_system};
use std::cell::RefCell;

/// When the measurement begins: the CPUs have started by then.
const BEGIN: Time = 20_000_000_000;

/// Why a machine does not run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Something in the workload or the settings makes no sense.
    #[error("{0}")]
    Input(String),
    /// The firmware refuses the machine.
    #[error(transparent)]
    Firmware(#[from] soc::RunError),
}

/// The result of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskOutcome {
    /// Name of the task.
    pub name: String,
    /// True if it is a kernel thread.
    pub is_kernel_thread: bool,
    /// The counts.
    pub counts: TaskCounts,
}

/// The states that a domain went through.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainOutcome {
    /// Name of the domain.
    pub name: String,
    /// Energy of each owner, in units of the platform's table times ps; in the order of
    /// [`Outcome::owners`].
    pub energy: Vec<Energy>,
    /// Time in ps in which at least one CPU ran.
    pub running: Time,
    /// Time in ps in which all CPUs were in this state or deeper, and not all in the next; by
    /// state.
    pub idle: Vec<Time>,
    /// Time in ps in which none ran and the one nearest to running was on its way into or out of
    /// this state; by state.
    pub moving: Vec<Time>,
    /// The number of times that it went down into each state.
    pub downs: Vec<u64>,
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The time that it lasted, in ps.
    pub time: Time,
    /// The owners of energy.
    pub owners: Vec<Owner>,
    /// The domains.
    pub domains: Vec<DomainOutcome>,
    /// All energy, integrated beside the owners' shares, in units of the platform's table times ps.
    pub integral: Energy,
    /// Power domains that the kernel switched.
    pub power_domains: Vec<SwitchedDomain>,
    /// The CPUs' counts.
    pub cpus: Vec<CpuCounts>,
    /// The tasks, kernel threads and copies included.
    pub tasks: Vec<TaskOutcome>,
    /// Reports of grace periods that took too long, with the time in ps from the beginning.
    pub stalls: Vec<(Time, String)>,
    /// Deadlocks of mutexes in words, with the time in ps from the beginning.
    pub deadlocks: Vec<(Time, String)>,
    /// Stamps, if they were kept. Times count from the start of the machine.
    pub events: Vec<Event>,
    /// When the measurement began, in the time of the stamps.
    pub begin: Time,
}

impl Outcome {
    /// Energy of an owner, in units of the platform's table times ps.
    pub fn energy(&self, owner: Owner) -> Energy {
        let at = self.owners.iter().position(|&other| other == owner);
        at.map_or(0, |at| {
            self.domains.iter().map(|domain| domain.energy[at]).sum()
        })
    }

    /// Energy of all owners.
    pub fn total(&self) -> Energy {
        self.domains.iter().flat_map(|domain| &domain.energy).sum()
    }

    /// A task of a name.
    pub fn task(&self, name: &str) -> Option<&TaskOutcome> {
        self.tasks.iter().find(|task| task.name == name)
    }
}

struct Machine {
    kernel: RefCell<Kernel>,
}

/// Runs a workload for `time_ns`, or until all its main tasks have ended if that is sooner.
///
/// # Errors
/// What is wrong with the workload or the settings; a machine that the firmware refuses.
pub fn run(
    hardware: &Hardware,
    settings: &Settings,
    workload: &Workload,
    placement: Box<dyn Placement>,
    callbacks: Option<Box<dyn Callbacks>>,
    time_ns: u64,
) -> Result<Outcome, Error> {
    check(hardware, settings, workload, time_ns).map_err(Error::Input)?;
    let times = BEGIN..BEGIN + time_ns * 1_000;
    let kernel = Kernel::new(
        hardware.clone(),
        settings.clone(),
        workload,
        placement,
        callbacks,
        times.clone(),
    );
    let soc = Soc::new(&hardware.machine, settings.seed);
    soc.keep_stamps(settings.record);
    let owners = kernel.owners;
    let points: Vec<_> = kernel.points.iter().map(|&(point, _)| point).collect();
    soc.measure_energy(
        hardware.power(&points),
        owners.count(),
        owners.id(Owner::Transition),
        times,
    );
    let machine = Machine {
        kernel: RefCell::new(kernel),
    };
    run_system(&soc, &machine)?;
    let mut kernel = machine.kernel.into_inner();
    if let Some(wrong) = kernel.wrong.take() {
        return Err(Error::Input(wrong));
    }
    soc.meter().finish(kernel.end);
    Ok(outcome(&soc, kernel, owners))
}

impl System for Machine {
    fn run(&self, soc: &Soc, cpu: usize) {
        if cpu == soc.lead() {
            if !self.kernel.borrow().hardware.power_domains.is_empty() {
                soc.coordinate_by_os();
            }
            (0..soc.cpu_count())
                .filter(|&other| other != cpu)
                .for_each(|other| {
                    soc.start_cpu(other);
                });
            let mut kernel = self.kernel.borrow_mut();
            (0..kernel.devices.len()).for_each(|device| kernel.start_device(soc, device));
        }
        soc.take_interrupts(cpu);
        while soc.now() < BEGIN {
            soc.wait_for_interrupt(Some(BEGIN));
            if soc.pending_interrupts(cpu).any() {
                soc.advance(BEGIN.saturating_sub(soc.now()));
            }
        }
        loop {
            // The kernel is not held while time passes.
            let next = self.kernel.borrow_mut().step(soc, cpu);
            match next {
                Do::Busy(time) => soc.advance(time),
                Do::Run(until) => soc.wait_for_interrupt(Some(until)),
                Do::Idle(stay) => self.idle(soc, cpu, stay),
                Do::Stop => return,
            }
        }
    }
}

impl Machine {
    fn end(&self) -> Time {
        self.kernel.borrow().end
    }

    fn idle(&self, soc: &Soc, cpu: usize, stay: Stay) {
        let state = stay.state as u8;
        let (entry, exit, suspend) = {
            let kernel = self.kernel.borrow();
            let of = &kernel.hardware.domains[kernel.cpus[cpu].domain].states[stay.state];
            (of.entry, of.exit, of.suspend)
        };
        if let Some(name) = suspend {
            soc.meter().goes_down(soc.now(), cpu, state, stay.owner);
            let name = if stay.with_domains { "deepest" } else { name };
            let power_state = soc.power_state(name).unwrap_or_default();
            if soc.suspend(power_state) != 0 && stay.with_domains {
                self.kernel.borrow_mut().domains_stayed_up(cpu);
            }
            return;
        }
        if let Some(limit) = stay.polls_until {
            soc.meter()
                .set(soc.now(), cpu, Activity::Running, stay.owner);
            soc.wait_for_interrupt(Some(limit.min(stay.timer).min(self.end())));
            return;
        }
        if entry > 0 {
            soc.meter().goes_down(soc.now(), cpu, state, stay.owner);
            soc.advance(entry);
        }
        soc.meter().goes_down(soc.now(), cpu, state, stay.owner);
        soc.meter().is_down(soc.now(), cpu);
        while !soc.pending_interrupts(cpu).any() {
            let end = self.end();
            let timer = if stay.alarm { Time::MAX } else { stay.timer };
            if soc.now() >= timer.min(end) {
                break;
            }
            soc.wait_for_interrupt(Some(timer.min(end)));
        }
        soc.meter().comes_up(soc.now(), cpu);
        soc.advance(exit);
    }
}

fn outcome(soc: &Soc, kernel: Kernel, owners: Owners) -> Outcome {
    let meter = soc.meter();
    let domains = kernel
        .hardware
        .domains
        .iter()
        .enumerate()
        .map(|(number, domain)| {
            let times = meter.domain_times(number);
            DomainOutcome {
                name: domain.name.clone(),
                energy: owners
                    .all()
                    .map(|owner| meter.energy(number, owners.id(owner)))
                    .collect(),
                running: times[0],
                moving: times[1..].iter().step_by(2).copied().collect(),
                idle: times[2..].iter().step_by(2).copied().collect(),
                downs: (0..domain.states.len())
                    .map(|state| meter.downs(number, state))
                    .collect(),
            }
        })
        .collect();
    let integral = meter.integral;
    drop(meter);
    let cpus = kernel.cpus.into_iter().map(|cpu| {
        let states = kernel.hardware.domains[cpu.domain].states.len();
        let mut idle: Vec<idle::Usage> = (0..states)
            .map(|state| *cpu.accounting.usage(state))
            .collect();
        // A stay that is not over counts up to the end. Nobody knows yet if its state was right.
        if let Some(stay) = cpu.stay {
            idle[stay.state].entered += 1;
            idle[stay.state].time_ns += (kernel.end - stay.since) / 1_000;
        }
        CpuCounts { idle, ..cpu.counts }
    });
    let tasks = kernel.tasks.into_iter().map(|task| TaskOutcome {
        name: task.spec.name.clone(),
        is_kernel_thread: task.thread.is_some(),
        counts: task.counts,
    });
    Outcome {
        time: kernel.end - kernel.begin,
        owners: owners.all().collect(),
        domains,
        integral,
        power_domains: kernel.hardware.power_domains,
        cpus: cpus.collect(),
        tasks: tasks.collect(),
        stalls: kernel.stalls,
        deadlocks: kernel.deadlocks,
        events: soc.take_stamps(),
        begin: kernel.begin,
    }
}
