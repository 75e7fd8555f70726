//! A benchmark in a configuration at a point: one run of the small kernel.

use crate::board::{Board, cpus_of, little};
use crate::configuration::Configuration;
use crate::point::Point;
use crate::suite::{self, Benchmark, KERNEL, Suite};
use crate::workload::workload;
use experiment::{Error, Result};
use itertools::Itertools;
use minikernel::{Affinities, Frequency, Hardware, Outcome, Owner, Rcu, Settings, WakeCause};
use placement::Placement;

/// The result of a run.
#[derive(Debug, PartialEq)]
pub struct RunResult {
    /// The time that it took, in ps.
    pub time: u64,
    /// All energy, in units of the platform's table times ps.
    pub energy: u128,
    /// The same by owner, in the order of [`OWNERS`].
    pub owners: [u128; OWNERS.len()],
    /// Wake-ups of idle CPUs by cause, in the order of [`WakeCause::NAMES`].
    pub wake_ups: [u64; WakeCause::NAMES.len()],
    /// Ticks of busy CPUs, of idle ones, and of those the ones kept for callbacks alone.
    pub ticks: [u64; 3],
    /// Callbacks queued on big CPUs and on LITTLE ones.
    pub queued: [u64; 2],
    /// Callbacks invoked in the softirq on big CPUs and on LITTLE ones, then in threads on either.
    pub invoked: [u64; 4],
    /// From when a timer should have woken a task of the benchmark until it ran, in ns, by
    /// [`LATENCIES`]; `None` where it has no timers.
    pub latency_ns: Option<[u64; LATENCIES.len()]>,
    /// The time that the big cluster and the LITTLE one were in their deepest idle state, in ps.
    pub asleep: [u64; 2],
    /// The time that each cluster ran, was in each idle state, and was on its way, in ps; each
    /// cluster's add up to the time of the run.
    pub residency: Vec<(String, u64)>,
    /// Grace periods that took too long.
    pub stalls: u64,
    /// True if a benchmark that ends by itself did.
    pub ended: bool,
}

/// Which latencies are kept: their names, and how many of 1000 are not longer.
pub const LATENCIES: [(&str, usize); 3] = [("p50", 500), ("p99", 990), ("p99.9", 999)];

/// Owners of energy, as recordings name them: the benchmark's tasks, the system's beside it, and
/// the kernel's parts.
pub const OWNERS: [&str; 10] = [
    "benchmark",
    "system",
    "callbacks",
    "tick for RCU",
    "RCU threads",
    "kernel",
    "interrupts",
    "transitions",
    "WFI",
    "deep idle",
];

fn owner(owner: Owner, of_benchmark: usize) -> usize {
    match owner {
        Owner::Task(task) if task < of_benchmark => 0,
        Owner::Task(_) => 1,
        Owner::Callbacks => 2,
        Owner::TickForRcu => 3,
        Owner::RcuThread => 4,
        Owner::Kernel => 5,
        Owner::Interrupt => 6,
        Owner::Transition => 7,
        Owner::Idle(0) => 8,
        Owner::Idle(_) => 9,
    }
}

/// The policy that says which task runs where.
pub(crate) fn placement(suite: &Suite, hardware: &Hardware) -> Result<Box<dyn Placement>> {
    Ok(suite
        .placement
        .policy(&hardware.energy_model().map_err(Error::Failed)?, 1))
}

/// A kernel at a point.
pub(crate) fn kernel(
    mut settings: Settings,
    benchmark: &Benchmark,
    point: &Point<'_>,
    hardware: &Hardware,
) -> Settings {
    settings.hz = point.number("hz") as u32;
    settings.frequency = match point.find_number("governor.sampling") {
        Some(ms) if point.is_word("governor", "ondemand") => Frequency::Ondemand {
            sampling_ns: ms * 1_000_000,
        },
        _ => match point.suite.frequency {
            suite::Frequency::Highest => Frequency::Highest,
            suite::Frequency::Lowest => Frequency::Lowest,
            suite::Frequency::Schedutil => Frequency::Schedutil {
                rate_limit_ns: 10_000_000,
            },
        },
    };
    for switch in &point.suite.switches {
        if let Some(ns) = switch
            .name
            .strip_prefix(KERNEL)
            .and_then(|name| settings.costs.named(name))
        {
            *ns = point.number(&switch.name);
        }
    }
    if point.word("timers") == "little" {
        settings.timers_to = Some(little(hardware).cpus.start);
    }
    settings.costs.callback = point.number("callbacks.cost");
    settings.seed = point.seed;
    if point.text(&benchmark.latency) == "zero" {
        settings.latency_limit_ns = 0;
    }
    settings
}

/// Runs a benchmark.
///
/// # Errors
/// The benchmark cannot be run as its file says.
pub fn run(
    board: &Board,
    benchmark: &Benchmark,
    configuration: Configuration,
    point: &Point<'_>,
) -> Result<RunResult> {
    let seconds = benchmark.seconds.or(benchmark.at_most_seconds);
    let seconds = seconds.expect("checked by the reader");
    let simulated = simulate(
        board,
        benchmark,
        configuration,
        point,
        seconds * 1_000_000_000,
        false,
    )?;
    Ok(ran(&simulated, benchmark))
}

/// A run as the small kernel leaves it.
pub(crate) struct SimulatedRun {
    /// The hardware that it ran on.
    pub(crate) hardware: Hardware,
    /// The outcome.
    pub(crate) outcome: Outcome,
    /// The number of its tasks that are the benchmark's.
    of_benchmark: usize,
}

/// Runs a benchmark for a time, with its stamps if they are wanted; they change nothing.
pub(crate) fn simulate(
    board: &Board,
    benchmark: &Benchmark,
    configuration: Configuration,
    point: &Point<'_>,
    time_ns: u64,
    record: bool,
) -> Result<SimulatedRun> {
    let hardware = board.at(point);
    let (workload, of_benchmark) = workload(benchmark, point, &hardware);
    let settings = Settings {
        record,
        ..kernel(Settings::of_2013(), benchmark, point, &hardware)
    };
    let threads_on = cpus_of(&hardware, "little");
    let affinities = Affinities {
        grace_periods: threads_on,
        offload: threads_on,
    };
    let rcu = Rcu::new(
        configuration.settings(hardware.cpus(), settings.hz),
        affinities,
        record,
    )
    .map_err(Error::failed)?;
    let outcome = minikernel::run(
        &hardware,
        &settings,
        &workload,
        placement(point.suite, &hardware)?,
        Some(Box::new(rcu)),
        time_ns,
    )
    .map_err(|error| Error::Failed(format!("{}: {error}", benchmark.name)))?;
    Ok(SimulatedRun {
        hardware,
        outcome,
        of_benchmark,
    })
}

fn ran(simulated: &SimulatedRun, benchmark: &Benchmark) -> RunResult {
    let SimulatedRun {
        hardware,
        outcome,
        of_benchmark,
    } = simulated;
    let of_benchmark = *of_benchmark;
    let latencies = latencies(outcome, of_benchmark);
    let mut owners = [0; OWNERS.len()];
    for domain in &outcome.domains {
        for (&of, &energy) in outcome.owners.iter().zip(&domain.energy) {
            owners[owner(of, of_benchmark)] += energy;
        }
    }
    let mut ran = RunResult {
        time: outcome.time,
        energy: outcome.integral,
        owners,
        wake_ups: [0; WakeCause::NAMES.len()],
        ticks: [0; 3],
        queued: [0; 2],
        invoked: [0; 4],
        latency_ns: percentiles(&latencies),
        asleep: [0; 2],
        residency: residency(outcome, hardware),
        stalls: outcome.stalls.len() as u64,
        ended: benchmark
            .at_most_seconds
            .is_none_or(|seconds| outcome.time < seconds * 1_000_000_000_000),
    };
    let slow = little(hardware).cpus.clone();
    for (of, domain) in hardware.domains.iter().zip(&outcome.domains) {
        ran.asleep[usize::from(of.cpus == slow)] += domain.idle.last().copied().unwrap_or(0);
    }
    for (number, cpu) in outcome.cpus.iter().enumerate() {
        let is_little = usize::from(slow.contains(&number));
        ran.wake_ups
            .iter_mut()
            .zip(cpu.wake_ups)
            .for_each(|(sum, more)| *sum += more);
        for (sum, more) in
            ran.ticks
                .iter_mut()
                .zip([cpu.busy_ticks, cpu.idle_ticks, cpu.ticks_for_rcu])
        {
            *sum += more;
        }
        ran.queued[is_little] += cpu.queued;
        ran.invoked[is_little] += cpu.invoked_in_softirq;
        ran.invoked[2 + is_little] += cpu.invoked_in_threads;
    }
    ran
}

/// Latencies of the benchmark's tasks, by size.
fn latencies(outcome: &Outcome, of_benchmark: usize) -> Vec<u64> {
    let mut all = outcome
        .tasks
        .iter()
        .take(of_benchmark)
        .flat_map(|task| &task.counts.latencies)
        .copied()
        .collect_vec();
    all.sort_unstable();
    all
}

fn percentiles(latencies: &[u64]) -> Option<[u64; LATENCIES.len()]> {
    let last = latencies.len().checked_sub(1)?;
    Some(LATENCIES.map(|(_, of_1000)| latencies[(latencies.len() * of_1000 / 1000).min(last)]))
}

/// Time of each cluster by state.
fn residency(outcome: &Outcome, hardware: &Hardware) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for (of, domain) in hardware.domains.iter().zip(&outcome.domains) {
        all.push((format!("{} runs", of.name), domain.running));
        let states = of.states.iter().zip(&domain.idle);
        all.extend(states.map(|(state, time)| (format!("{} in {}", of.name, state.name), *time)));
        all.push((
            format!("{} on the way", of.name),
            domain.moving.iter().sum(),
        ));
    }
    all
}
