//! A policy with a seed.

use crate::input::Input;
use experiment::{Error, Result};
use minikernel::placement::Kind;
use minikernel::{Outcome, Owner};
use recording::{grouped, place_of};

/// The result of a task.
#[derive(Default)]
pub struct TaskResult {
    /// Name of the task.
    pub name: String,
    /// The number of times that it moved to another CPU.
    pub moves: u64,
    /// The number of times that it was woken.
    pub wake_ups: u64,
    /// Periods that were over when it came to wait for the next one, and periods that were left out
    /// because of that.
    pub missed: [u64; 2],
    /// The time that it ran, in ps, by CPU and by operating point, without those that it never ran
    /// at.
    pub ran: [Vec<(String, u64)>; 2],
    /// Each time from the beginning of a period until it waits for the next, in ns, by size.
    pub responses: Vec<u64>,
    /// Each time from when a timer should have woken it until it ran, in ns, by size.
    pub latencies: Vec<u64>,
}

/// Runs a policy with a seed for a time, with its stamps if they are wanted.
///
/// # Errors
/// The kernel refuses.
pub fn outcome(
    input: &Input,
    kind: Kind,
    seed: u64,
    record: bool,
    time_ns: u64,
) -> Result<Outcome> {
    let settings = input.kernel(seed, record);
    let policy = kind.policy(&input.hardware.energy_model().map_err(Error::failed)?, seed);
    minikernel::run(
        &input.hardware,
        &settings,
        &input.workload,
        policy,
        Some(Box::new(input.rcu(&settings)?)),
        time_ns,
    )
    .map_err(|wrong| Error::failed(format!("{}: {wrong}", input.workload_name)))
}

/// The owners by name with their energy, in units of the platform's table times ps, without those
/// that have none.
pub fn owners(input: &Input, outcome: &Outcome) -> Vec<(String, u128)> {
    let mut owners = Vec::new();
    for (at, &owner) in outcome.owners.iter().enumerate() {
        for (number, domain) in outcome.domains.iter().enumerate() {
            let energy = domain.energy[at];
            if energy == 0 {
                continue;
            }
            owners.push((owner_name(input, outcome, owner, number), energy));
        }
    }
    grouped(owners)
        .into_iter()
        .map(|(name, energies)| (name, energies.iter().sum()))
        .collect()
}

/// The complaints about a run, a sentence each: energies that do not add up, grace periods that took
/// too long, deadlocks of mutexes.
pub fn complaints(outcome: &Outcome) -> Vec<String> {
    let is_wrong = outcome.total() != outcome.integral;
    let sum = is_wrong.then(|| "the owners' energies do not add up to the integral.".to_owned());
    let stalls = outcome.stalls.iter().map(|(_, words)| format!("{words}."));
    let deadlocks = outcome.deadlocks.iter().map(|(time, words)| {
        format!(
            "after {:.3} s there is a deadlock, whose tasks never run again: {words}.",
            *time as f64 / 1e12
        )
    });
    sum.into_iter().chain(stalls).chain(deadlocks).collect()
}

/// The tasks of the workload; copies of one task count as one, and so do tasks of the same name.
pub fn tasks(input: &Input, outcome: &Outcome) -> Vec<TaskResult> {
    let domains = &input.hardware.domains;
    let of_cpu = |cpu: usize| domains.iter().find(|domain| domain.cpus.contains(&cpu));
    let mut tasks: Vec<TaskResult> = Vec::new();
    for task in outcome.tasks.iter().filter(|task| !task.is_kernel_thread) {
        let counts = &task.counts;
        let new = || TaskResult {
            name: task.name.clone(),
            ..TaskResult::default()
        };
        let at = place_of(&mut tasks, |other| other.name == task.name, new);
        let found = &mut tasks[at];
        found.moves += counts.moves;
        found.wake_ups += counts.wake_ups;
        found.missed = [
            found.missed[0] + counts.misses,
            found.missed[1] + counts.skipped,
        ];
        for (&(cpu, point), &time) in &counts.ran_at {
            let point = of_cpu(cpu).map_or_else(String::new, |domain| {
                format!(
                    "{} {} MHz",
                    domain.name,
                    domain.points[point].clock / 1_000_000
                )
            });
            for (by, name) in found.ran.iter_mut().zip([format!("CPU {cpu}"), point]) {
                let at = place_of(by, |(other, _)| *other == name, || (name.clone(), 0));
                by[at].1 += time;
            }
        }
        found.responses.extend(&counts.responses);
        found.latencies.extend(&counts.latencies);
    }
    for task in &mut tasks {
        task.responses.sort_unstable();
        task.latencies.sort_unstable();
    }
    tasks
}

/// The name of an owner of energy. Idle states and transitions are told apart by domain.
fn owner_name(input: &Input, outcome: &Outcome, owner: Owner, domain: usize) -> String {
    let of = &input.hardware.domains[domain];
    match owner {
        Owner::Kernel => "kernel".to_owned(),
        Owner::Interrupt => "interrupts".to_owned(),
        Owner::Callbacks => "callbacks".to_owned(),
        Owner::TickForRcu => "tick kept for RCU".to_owned(),
        Owner::RcuThread => "RCU threads".to_owned(),
        Owner::Transition => format!("transitions, {}", of.name),
        Owner::Idle(state) => {
            let name = of
                .states
                .get(state)
                .map_or("idle", |state| state.name.as_str());
            format!("idle {name}, {}", of.name)
        }
        Owner::Task(task) => format!(
            "task {}",
            outcome
                .tasks
                .get(task)
                .map_or("", |task| task.name.as_str())
        ),
    }
}
