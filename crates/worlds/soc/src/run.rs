//! A run of a procedure on the machine.

use crate::Soc;
use crate::config::Machine;
use crate::declared_order::Order;
use crate::entry::Entry;
use crate::event::{Event, ProcedureStamps};
use crate::firmware::Firmware;
use crate::normal_world::SimWorld;
use engine::{Deadlock, Runner, Time};
use psci::lock::BakeryWord;
use psci::{
    CpuDesc, CpuRecord, DomainDesc, DomainRecord, Psci, StorageRef, SystemRecord, Topology,
};
use psci_cases::{Case, Failure, Mode};
use std::cell::Cell;

/// Iterations of a procedure after which caches hold what they hold from then on: the first finds
/// memory as the boot left it, and wakes up to 3 % later.
pub const SETTLED: u32 = 2;

/// Conditions under which a procedure runs.
#[derive(Clone)]
pub struct Conditions {
    /// The procedure.
    pub case: Case,
    /// The number of times that it is repeated, in one boot.
    pub iterations: u32,
    /// Draws what the machine leaves to chance: when CPUs leave a barrier.
    pub seed: u64,
    /// The order of a parallel suspend, where one is declared.
    pub order: Order,
    /// The number of iterations of which events are kept, from the first.
    pub events: u32,
    /// True if the platform's declared spread of who arrives first is drawn, by the seed.
    pub spread: bool,
}

/// The outcome of a run.
pub struct RunOutcome {
    /// Every stamp, in order of time.
    pub events: Vec<Event>,
    /// The measurements of the procedure, in order of publication.
    pub measured: Vec<ProcedureStamps>,
    /// Time in each power state by CPU, in ps, in the order of [`crate::CpuState::NAMES`].
    pub state_times: Vec<[u64; 4]>,
    /// Calls through [`psci::Platform`] and its shared cells that can yield.
    pub platform_calls: u64,
    /// Loads that saw an old value, for want of cache maintenance: 0 in correct firmware.
    pub stale_loads: u64,
    /// Simulated time at the end, in ps.
    pub end: Time,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The firmware refuses the power tree of the platform file.
    #[error("the firmware refuses the power tree: {0}")]
    Tree(psci::ConfigError),
    /// The procedure found something wrong.
    #[error("the procedure stopped: {0}")]
    Procedure(Failure),
    /// Nobody can go on.
    #[error("deadlock at {} us: {}", .time / engine::PS_PER_US, .waiters.join("; "))]
    Deadlock {
        /// When, in ps.
        time: Time,
        /// The waits of processes, and who holds what they wait for, in words.
        waiters: Vec<String>,
    },
}

/// Runs a procedure on a machine that is cold.
///
/// # Errors
/// A power tree that the firmware refuses; a deadlock, with who waits for what and who holds it;
/// whatever the procedure found wrong.
pub fn run(machine: &Machine, conditions: &Conditions) -> Result<RunOutcome, RunError> {
    run_and_tell(machine, conditions, &|| ())
}

/// The same, calling `each` when an iteration begins.
///
/// # Errors
/// Those of [`run`].
pub fn run_and_tell(
    machine: &Machine,
    conditions: &Conditions,
    each: &dyn Fn(),
) -> Result<RunOutcome, RunError> {
    let soc = Soc::new(machine, conditions.seed);
    soc.records.set(conditions.events);
    soc.spreads.set(conditions.spread);
    if conditions.case.mode == Mode::Parallel {
        soc.order.declare(&conditions.order, soc.cpus.len());
    }
    let procedure =
        |leads: bool| soc.run_procedure(conditions.case, conditions.iterations, leads, each);
    let result = run_firmware(&soc, &procedure)?;

    if let Some(failure) = soc.failure.take() {
        return Err(RunError::Procedure(failure));
    }
    let waiters = match result {
        Err(Deadlock { waiters, .. }) => waiters
            .into_iter()
            .map(|waiter| soc.describe(waiter.process))
            .collect(),
        Ok(()) if soc.finished.get() => Vec::new(),
        Ok(()) => vec!["the procedure never finished".to_owned()],
    };
    if !waiters.is_empty() {
        return Err(RunError::Deadlock {
            time: soc.now(),
            waiters,
        });
    }
    for cpu in 0..soc.cpus.len() {
        soc.enter_state(cpu, soc.cpus[cpu].state.get());
    }
    Ok(RunOutcome {
        events: soc.events.take(),
        measured: soc.measured.take(),
        state_times: soc
            .cpus
            .iter()
            .map(|cpu| cpu.state_time.each_ref().map(Cell::get))
            .collect(),
        platform_calls: soc.platform_calls.get(),
        stale_loads: soc.stale_loads.get(),
        end: soc.now(),
    })
}

/// Runs the firmware of a machine that is cold, which enters `world`, until nobody goes on.
///
/// # Errors
/// The firmware refuses the power tree; the result says whether somebody waits in vain.
pub fn run_firmware(soc: &Soc, world: &dyn Fn(bool)) -> Result<Result<(), Deadlock>, RunError> {
    let tree = &soc.machine.platform.topology;
    let domains: Vec<_> = tree
        .domains
        .iter()
        .map(|domain| DomainDesc {
            parent: domain.parent.map(|parent| parent as u16),
            level: domain.level,
        })
        .collect();
    let cpus: Vec<_> = tree
        .cpus
        .iter()
        .map(|cpu| CpuDesc {
            mpidr: cpu.mpidr(),
            parent: cpu.domain as u16,
        })
        .collect();
    let topology = Topology {
        domains: &domains,
        cpus: &cpus,
    };
    let mut cpu_records: Vec<_> = cpus.iter().map(|_| CpuRecord::new(soc)).collect();
    let mut domain_records: Vec<_> = domains
        .iter()
        .map(|domain| DomainRecord::new(soc, domain.level))
        .collect();
    let words: Vec<_> = (0..cpus.len() * usize::from(tree.top_level))
        .map(|_| BakeryWord::default())
        .collect();
    let system = SystemRecord::default();
    let storage = StorageRef {
        cpus: &mut cpu_records,
        domains: &mut domain_records,
        words: &words,
        system: &system,
    };
    let psci = Psci::new(soc, &topology, storage).map_err(RunError::Tree)?;
    let firmware = Firmware {
        soc,
        psci: &psci,
        world,
    };
    let main = |process, entry| firmware.run_frame(process, Entry::from_number(entry));
    let mut runner = Runner::new(&soc.scheduler, &main);
    soc.start_all(&mut runner);
    Ok(runner.run())
}

impl Soc {
    /// Starts the processes of a cold machine with firmware: services, the CPU that leads, and the
    /// others without power.
    fn start_all<M: Fn(usize, u32)>(&self, runner: &mut Runner<'_, M>) {
        for number in 0..self.channels.len() {
            self.scheduler
                .set_daemon(self.channel_process(number), true);
            runner.start(self.channel_process(number), Entry::Service as u32);
        }
        self.scheduler.set_daemon(self.timer_process(), true);
        runner.start(self.timer_process(), Entry::Service as u32);
        for unit in (0..self.cpus.len())
            .filter(|_| self.machine.needs_power_units())
            .map(|cpu| self.unit_process(cpu))
        {
            self.scheduler.set_daemon(unit, true);
            runner.start(unit, Entry::Service as u32);
        }
        for cpu in 0..self.cpus.len() {
            let entry = if cpu == self.lead() {
                Entry::ColdBoot
            } else {
                Entry::Down
            };
            runner.start(cpu, entry as u32);
        }
    }

    /// Runs a procedure on this CPU, which leads it or not.
    fn run_procedure(&self, case: Case, iterations: u32, leads: bool, each: &dyn Fn()) {
        let world = SimWorld { soc: self };
        let result = if leads {
            (0..iterations).try_for_each(|iteration| {
                self.begin_iteration(iteration);
                each();
                psci_cases::lead(&world, case)
            })
        } else {
            psci_cases::secondary(&world, case)
        };
        match result {
            Ok(()) => self.finished.set(true),
            Err(failure) => {
                self.failure.borrow_mut().get_or_insert(failure);
            }
        }
    }
}
