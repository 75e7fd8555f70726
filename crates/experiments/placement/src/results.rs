//! The rows of the recording.

use crate::input::{Input, RcuChoice};
use crate::operating_points::points;
use crate::seed_run::{TaskResult, complaints, owners, tasks};
use itertools::Itertools;
use minikernel::placement::Kind;
use minikernel::{Action, CpuCounts, CpuSet, Frequency, Outcome, TaskSpec, WakeCause};
use recording::{Header, Picture, Recording, Series, facts, metrics};

/// The case of each seed's figures; the iterations are the seeds.
pub const CASE: &str = "placement";
/// Their mode: each iteration has a seed of its own.
pub const MODE: &str = "seeds";
/// The case of the percentiles over the periods of all seeds together.
pub const POOLED: &str = "all-seeds";
/// The cases of the energy of work.
pub const WORK_CASES: [&str; 3] = ["core", "core-and-cluster", "full-cluster"];

/// Energy times ps as energy times seconds.
fn unit_s(energy: u128) -> f64 {
    energy as f64 / 1e12
}

fn pictures() -> Vec<Picture> {
    let of_work = |title: &str, case: &str| {
        metrics::ENERGY_PER_WORK.curves(title, Some(case), "capacity", Some("domain"))
    };
    vec![
        metrics::WAKE_UP_RATE.bars("Wake-ups of idle CPUs by cause", Some(CASE)),
        metrics::IDLE_TIME.bars("Time of CPUs in idle states", Some(CASE)),
        of_work("Energy of work against capacity, the core", WORK_CASES[0]),
        of_work(
            "Energy of work against capacity, the core and what its cluster shares",
            WORK_CASES[1],
        ),
    ]
}

/// The most that tasks with a period ask of a set of CPUs, in percent of what it can do at its
/// highest operating points.
fn load_percent(input: &Input) -> f64 {
    let asked = |task: &TaskSpec| {
        let actions = || task.phases.iter().flat_map(|phase| &phase.actions);
        let work = actions().map(|action| match action {
            Action::Run { time, capacity } => time.mean() as f64 * f64::from(*capacity),
            _ => 0.0,
        });
        let period: f64 = actions()
            .filter_map(|action| match action {
                Action::Timer { period, .. } => Some(*period as f64),
                _ => None,
            })
            .sum();
        (
            task.cpus,
            if period > 0.0 {
                work.sum::<f64>() / period
            } else {
                0.0
            },
        )
    };
    let can = |cpus: CpuSet| -> f64 {
        input
            .hardware
            .domains
            .iter()
            .map(|domain| {
                let top = domain.points.last().map_or(0, |point| point.capacity);
                let there = domain.cpus.clone().filter(|cpu| cpus.has(*cpu)).count();
                there as f64 * f64::from(top)
            })
            .sum()
    };
    recording::grouped(input.workload.tasks.iter().map(asked))
        .into_iter()
        .map(|(cpus, work)| 100.0 * work.iter().sum::<f64>() / can(cpus).max(f64::MIN_POSITIVE))
        .fold(0.0, f64::max)
}

/// Describes the run in the recording. `kept` is the part that the timeline holds, in ns; `None`
/// where nothing is run.
pub fn describe(header: &mut Header, input: &Input, kept: Option<std::ops::Range<u64>>) {
    header.set_facts(&facts::Placement {
        title: input.idle.title.clone(),
        workload: input.workload_name.clone(),
        frequency: if input.frequency == Frequency::Highest {
            "highest"
        } else {
            "schedutil"
        }
        .to_owned(),
        rcu: if input.rcu == RcuChoice::Offloaded {
            "offloaded"
        } else {
            "ordinary"
        }
        .to_owned(),
        seconds: input.time_ns as f64 / 1e9,
        big: input.hardware.domains[input.big()].name.clone(),
        load_percent: load_percent(input),
        power: input.idle.power.as_ref().map(platforms::power_facts),
    });
    header.platform = Some(recording::Platform {
        name: input.platform.clone(),
        text: input.platform_text.clone(),
        figures: toml::Table::new(),
    });
    header
        .texts
        .insert("workload".to_owned(), input.workload_text.clone());
    header
        .texts
        .insert("idle-platform".to_owned(), input.idle.text.clone());
    (header.seed, header.iterations) = input.seeds;
    header.seeded_modes = vec![MODE.to_owned()];
    header.pictures = pictures();
    if let Some(kept) = kept {
        header.notes.extend(input.notes.iter().cloned());
        header.notes.push(format!(
            "The timeline holds {:.1} s to {:.1} s of seed {}.",
            kept.start as f64 / 1e9,
            kept.end as f64 / 1e9,
            input.seeds.0
        ));
    }
    match input.idle.watts_per_unit() {
        Some(watts) => header.notes.push(watts.to_string()),
        None => header.notes.push(format!(
            "No source says how many watts a unit of the table of {} is, so energies are told in percent.",
            input.platform
        )),
    }
}

/// Adds what a policy did with each seed.
pub fn add(recording: &mut Recording, input: &Input, kind: Kind, outcomes: &[Outcome]) {
    let series = recording.series(kind.name(), CASE, MODE);
    let mut of_seeds = Vec::new();
    for (iteration, outcome) in (0..).zip(outcomes) {
        let tasks = tasks(input, outcome);
        of_machine(recording, series, iteration, input, outcome);
        of_tasks(recording, series, iteration, &tasks);
        of_seeds.push(tasks);
        let seed = recording.header.seed + u64::from(iteration);
        let complaints = complaints(outcome).into_iter();
        recording
            .header
            .complaints
            .extend(complaints.map(|complaint| format!("{kind}, seed {seed}: {complaint}")));
    }
    let series = recording.series(kind.name(), POOLED, "");
    for at in 0..of_seeds.first().map_or(0, Vec::len) {
        let pool = |of: fn(&TaskResult) -> &Vec<u64>| {
            let mut all = of_seeds
                .iter()
                .flat_map(|tasks| of(&tasks[at]))
                .copied()
                .collect_vec();
            all.sort_unstable();
            all
        };
        times(
            recording,
            series,
            0,
            &of_seeds[0][at].name,
            &pool(|task| &task.responses),
            &pool(|task| &task.latencies),
        );
    }
}

/// Adds energy by owner, the use of domains, idle states, wake-ups and callbacks.
fn of_machine(
    recording: &mut Recording,
    series: Series,
    iteration: u32,
    input: &Input,
    outcome: &Outcome,
) {
    let seconds = outcome.time as f64 / 1e12;
    let mut add = |metric: metrics::Metric, subject: &str, value: f64| {
        recording.add(series, iteration, metric, subject, value);
    };
    add(metrics::ENERGY, "", unit_s(outcome.integral));
    add(metrics::RUN_TIME, "", seconds);
    for (owner, energy) in owners(input, outcome) {
        add(metrics::OWNED_ENERGY, &owner, unit_s(energy));
    }
    for domain in &outcome.domains {
        let part = domain.running as f64 / outcome.time.max(1) as f64;
        add(metrics::RUNNING, &domain.name, part);
    }
    for domain in &input.hardware.domains {
        for (number, state) in domain.states.iter().enumerate() {
            let cpus = || outcome.cpus[domain.cpus.clone()].iter();
            let usages = || cpus().filter_map(|cpu| cpu.idle.get(number));
            let entered: u64 = usages().map(|usage| usage.entered).sum();
            let time_ns: u64 = usages().map(|usage| usage.time_ns).sum();
            let name = format!("{} {}", domain.name, state.name);
            add(metrics::IDLE_ENTERED, &name, entered as f64);
            add(metrics::IDLE_TIME, &name, time_ns as f64 / 1e3);
        }
    }
    for domain in &outcome.power_domains {
        for (state, entered) in &domain.entered {
            let name = format!("power domain {} {state}", domain.name);
            add(metrics::IDLE_ENTERED, &name, *entered as f64);
        }
    }
    let rate = |count: &dyn Fn(&CpuCounts) -> u64| {
        outcome.cpus.iter().map(count).sum::<u64>() as f64 / seconds
    };
    for (cause, name) in WakeCause::NAMES.into_iter().enumerate() {
        let rate = rate(&|cpu| cpu.wake_ups[cause]);
        if rate > 0.0 {
            add(metrics::WAKE_UP_RATE, name, rate);
        }
    }
    add(metrics::CALLBACK_RATE, "", rate(&|cpu| cpu.queued));
    let in_softirq = rate(&|cpu| cpu.invoked_in_softirq);
    add(metrics::SOFTIRQ_CALLBACK_RATE, "", in_softirq);
    let in_threads = rate(&|cpu| cpu.invoked_in_threads);
    add(metrics::THREAD_CALLBACK_RATE, "", in_threads);
}

/// Adds what became of the tasks.
fn of_tasks(recording: &mut Recording, series: Series, iteration: u32, tasks: &[TaskResult]) {
    let mut add = |metric: metrics::Metric, task: &TaskResult, count: u64| {
        recording.add(series, iteration, metric, &task.name, count as f64);
    };
    for task in tasks {
        add(metrics::MIGRATIONS, task, task.moves);
        add(metrics::TASK_WAKE_UPS, task, task.wake_ups);
        if !task.responses.is_empty() {
            add(metrics::MISSED_PERIODS, task, task.missed[0]);
            add(metrics::SKIPPED_PERIODS, task, task.missed[1]);
        }
    }
    for task in tasks {
        ran(recording, series, iteration, task);
        times(
            recording,
            series,
            iteration,
            &task.name,
            &task.responses,
            &task.latencies,
        );
    }
}

/// Adds how long a task ran: in all, on which CPU, and at which operating point.
fn ran(recording: &mut Recording, series: Series, iteration: u32, task: &TaskResult) {
    let mut add = |metric: metrics::Metric, role: &str, ps: u64| {
        recording.add_part(
            series,
            iteration,
            metric,
            [&task.name, role],
            ps as f64 / 1e6,
        );
    };
    add(
        metrics::CPU_TIME,
        "",
        task.ran[0].iter().map(|(_, time)| time).sum(),
    );
    for (metric, by) in [metrics::CPU_TIME_ON, metrics::CPU_TIME_AT]
        .into_iter()
        .zip(&task.ran)
    {
        by.iter().for_each(|(name, time)| add(metric, name, *time));
    }
}

/// Adds how often and how late a periodic task was; both lists are by size, in ns.
fn times(
    recording: &mut Recording,
    series: Series,
    iteration: u32,
    task: &str,
    responses: &[u64],
    latencies: &[u64],
) {
    for (metric, list, divisor) in [
        (metrics::RESPONSE, responses, 1e6),
        (metrics::WAKE_LATENCY, latencies, 1e3),
    ] {
        for percent in [50, 95, 99] {
            let Some(value) =
                list.get((list.len() * percent / 100).min(list.len().saturating_sub(1)))
            else {
                continue;
            };
            recording.add_part(
                series,
                iteration,
                metric,
                [task, &format!("p{percent}")],
                *value as f64 / divisor,
            );
        }
    }
    if !responses.is_empty() {
        recording.add(
            series,
            iteration,
            metrics::PERIODS,
            task,
            responses.len() as f64,
        );
    }
}

/// Adds what work costs at each operating point.
pub fn operating_points(recording: &mut Recording, input: &Input) {
    for point in points(&input.hardware) {
        let subject = format!("{} {} MHz", point.domain, point.clock / 1_000_000);
        let place = toml::Table::from_iter([
            ("capacity".to_owned(), i64::from(point.capacity).into()),
            ("domain".to_owned(), point.domain.clone().into()),
        ]);
        recording.header.coordinates.insert(subject.clone(), place);
        for (case, value) in WORK_CASES
            .into_iter()
            .zip([point.core, point.alone, point.shared])
        {
            let series = recording.series(&point.domain, case, "");
            recording.add(series, 0, metrics::ENERGY_PER_WORK, &subject, value);
        }
    }
}
