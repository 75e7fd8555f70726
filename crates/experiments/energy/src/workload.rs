//! A benchmark at a point, as tasks of the small kernel, and the system that runs beside it.

use crate::actions::Do;
use crate::board::{capacity, cpus_of, little};
use crate::point::Point;
use crate::suite::{Benchmark, Task};
use itertools::Itertools;
use minikernel::{Action, CpuSet, DeviceSpec, Draw, Hardware, Phase, Start, TaskSpec, Workload};
use toml::Spanned;

/// The time that the handler of an interrupt of storage or network takes, in ns at capacity 1024:
/// assumed.
const HANDLER_NS: u64 = 5_000;
/// Wake-ups of a task of the system before its program begins anew: over this number, what it
/// queues adds up to its rate.
const TURNS: u64 = 1_000;

/// The workload, and how many of its tasks are the benchmark's; the others are the system's.
pub fn workload(
    benchmark: &Benchmark,
    point: &Point<'_>,
    hardware: &Hardware,
) -> (Workload, usize) {
    let there = benchmark
        .tasks
        .iter()
        .map(Spanned::get_ref)
        .filter(|task| task.when.iter().all(|(name, value)| point.is(name, value)))
        .collect_vec();
    // Whoever is resumed by name is the first instance of it.
    let mut first = Vec::new();
    let mut count = 0;
    for task in &there {
        first.push((task.name.as_str(), count));
        count += point.term(&task.instances) as usize;
    }
    let mut tasks = Vec::new();
    for task in &there {
        let instances = point.term(&task.instances);
        tasks.extend(
            (0..instances).map(|instance| spec(benchmark, task, instance, point, hardware, &first)),
        );
    }
    let of_benchmark = tasks.len();
    tasks.extend(system(point, hardware));
    let interrupts = DeviceSpec {
        name: "storage and network".to_owned(),
        gap: Draw::Exponential {
            mean: point.number("interrupts.gap") * 1_000_000,
        },
        cpu: cpu(&point.word("interrupts"), hardware),
        handler_ns: HANDLER_NS,
    };
    let semaphores = benchmark.semaphores.values().copied().collect();
    let conditions = of_benchmark;
    (
        Workload {
            tasks,
            devices: vec![interrupts],
            semaphores,
            conditions,
            ..Workload::default()
        },
        of_benchmark,
    )
}

/// The CPU that is called `cpu0` or `little`.
fn cpu(name: &str, hardware: &Hardware) -> usize {
    if name == "little" {
        little(hardware).cpus.start
    } else {
        0
    }
}

fn spec(
    benchmark: &Benchmark,
    task: &Task,
    instance: u64,
    point: &Point<'_>,
    hardware: &Hardware,
    first: &[(&str, usize)],
) -> TaskSpec {
    let cpus = match point.text(&task.cpus).as_str() {
        "any" => CpuSet::ALL,
        "each" => CpuSet::one(instance as usize % hardware.cpus()),
        name => CpuSet::one(cpu(name, hardware)),
    };
    let capacity = capacity(hardware, &point.text(&task.calibrated));
    let semaphore = |name: &str| {
        let mut names = benchmark.semaphores.keys();
        names
            .position(|other| other == name)
            .expect("checked by the reader")
    };
    // Each task is suspended on a condition of its own number.
    let own = first
        .iter()
        .find(|(other, _)| *other == task.name)
        .map_or(0, |(_, task)| task + instance as usize);
    let action = |action: &Do| match action {
        Do::Run(time) => Action::Run {
            time: *time,
            capacity,
        },
        Do::Sleep(time) => Action::Sleep(*time),
        Do::Timer { period, more } => Action::Timer {
            timer: 0,
            period: period + more * instance,
            relative: false,
        },
        Do::Suspend => Action::Suspend(own),
        Do::Resume(name) => {
            // One that is not there with this command line has nobody to resume.
            first
                .iter()
                .find(|(other, _)| other == name)
                .map_or(Action::Yield, |&(_, task)| Action::Resume(task))
        }
        Do::Wait(name) => Action::SemWait(semaphore(name)),
        Do::Post(name) => Action::SemPost(semaphore(name)),
        Do::Callbacks(count) => callbacks(point.term(count), point),
    };
    TaskSpec {
        name: format!("{}-{instance}", task.name),
        policy: task.policy(),
        cpus,
        start: Start::At(0),
        loops: task.loops,
        phases: task
            .phases
            .iter()
            .map(|phase| Phase {
                loops: Some(phase.repeat),
                ..Phase::once(phase.actions.iter().map(action).collect())
            })
            .collect(),
        main: task.main,
    }
}

/// Queueing callbacks; where every source is silent, the call that queues none.
fn callbacks(count: u64, point: &Point<'_>) -> Action {
    let count = if point.silent {
        0
    } else {
        count.min(u64::from(u16::MAX)) as u16
    };
    Action::Callbacks { count, lazy: false }
}

/// The system beside a benchmark: a task that goes where the policy puts it, and a thread bound to
/// each CPU. They wake up as often and compute as much however many callbacks they queue: callbacks
/// come in what runs anyway, as many at once as it takes so that the rate comes out.
fn system(point: &Point<'_>, hardware: &Hardware) -> Vec<TaskSpec> {
    let rate = point.number("callbacks.rate");
    let pinned = point.number("callbacks.pinned").min(100);
    let cpus = hardware.cpus() as u64;
    let little = capacity(hardware, "little");
    let work_ns = point.number("background.work") * 1_000;
    let program = |name: String, gap_ms: u64, rate_percent: u64, among: u64, number: u64| {
        // Callbacks of a turn: rate * gap, in parts of `parts`; CPUs start at different places, so
        // that they do not all queue at once.
        let (each, parts) = (rate_percent * gap_ms, 100_000 * among);
        let begin = number * parts / among;
        let mut actions = Vec::new();
        for turn in 0..TURNS {
            let count = (begin + each * (turn + 1)) / parts - (begin + each * turn) / parts;
            actions.push(Action::Sleep(Draw::Exponential {
                mean: gap_ms * 1_000_000,
            }));
            actions.push(Action::Run {
                time: Draw::Uniform {
                    low: work_ns / 2,
                    high: work_ns * 3 / 2,
                },
                capacity: little,
            });
            actions.push(callbacks(count, point));
        }
        TaskSpec::forever(&name, actions)
    };
    let free = program(
        "system".to_owned(),
        point.number("background.gap"),
        rate * (100 - pinned),
        1,
        0,
    );
    let free = if point.is_word("background", "big") {
        free.on(cpus_of(hardware, "big"))
    } else {
        free
    };
    let bound = (0..cpus).map(|cpu| {
        let thread = program(
            format!("bound-{cpu}"),
            point.number("bound.gap"),
            rate * pinned,
            cpus,
            cpu,
        );
        // Work that is not bound to its CPU's own queue is done by whichever LITTLE CPU the policy
        // takes.
        thread.on(if point.word("workqueues") == "little" {
            cpus_of(hardware, "little")
        } else {
            CpuSet::one(cpu as usize)
        })
    });
    std::iter::once(free).chain(bound).collect()
}
