//! The search of energy-aware placement.
//!
//! The sources have a folder for each release with `cut.c`, in which `find_energy_efficient_cpu`
//! and what it calls stand as the kernel has them. Both are told the same random states.

use crate::Result;
use crate::kernel::{Kernel, shim};
use placement::{CpuSet, CpuUse, Model, Rules, WakingTask, cheapest};
use std::fmt::Write;
use std::path::Path;

/// Agreement that is asked for.
const LEAST: f64 = 0.99;
/// The releases, and the rules that stand for each.
const RELEASES: [(&str, Rules); 2] = [("5.10", Rules::Until2022), ("6.1", Rules::Since2022)];

/// Compares by states.
pub fn run(sources: &Path, states: u64) -> Result<bool> {
    let mut is_good = true;
    println!(
        "{:8} {:>8} {:>9} {:>7}",
        "release", "states", "same CPU", "moves"
    );
    for (release, rules) in RELEASES {
        let (same, moves) = compare(&sources.join(release), rules, states)?;
        let share = |count: u64| 100.0 * count as f64 / states as f64;
        is_good &= same as f64 >= LEAST * states as f64;
        println!(
            "{release:8} {states:>8} {:>8.2}% {:>6.1}%",
            share(same),
            share(moves)
        );
    }
    Ok(is_good)
}

/// The number of states in which both chose the same, and in which the kernel moved the task.
fn compare(folder: &Path, rules: Rules, states: u64) -> Result<(u64, u64)> {
    let shim = shim("energy_aware");
    let mut kernel = Kernel::compiled(&shim, folder, [shim.join("driver.c").as_os_str()])?;
    let mut random = fastrand::Rng::with_seed(1);
    let (mut same, mut moves) = (0, 0);
    for _ in 0..states {
        let state = State::random(&mut random)?;
        let theirs: usize = kernel.ask(&state.line)?.parse()?;
        let ours = cheapest(rules, &state.model, &state.cpus, &state.task);
        same += u64::from(theirs == ours);
        moves += u64::from(theirs != state.task.previous);
    }
    Ok((same, moves))
}

/// Clock in Hz, capacity, and power of a core that runs.
type PointFigures = (u64, u32, u32);

/// Some machine with some load, and a task that wakes up.
struct State {
    model: Model,
    cpus: Vec<CpuUse>,
    task: WakingTask,
    line: String,
}

/// Operating points of a domain, whose highest has a capacity.
fn random_points(random: &mut fastrand::Rng, capacity: u32) -> Vec<PointFigures> {
    let mut khz: Vec<u64> = (0..random.usize(1..=8))
        .map(|_| random.u64(200..3000) * 1_000)
        .collect();
    khz.sort_unstable();
    khz.dedup();
    let top = khz[khz.len() - 1];
    let coefficient = random.f64() * 600.0 + 50.0;
    let mut points: Vec<PointFigures> = Vec::new();
    for clock in khz {
        let at = (u64::from(capacity) * clock / top) as u32;
        if at == 0 || points.last().is_some_and(|&(_, below, _)| below >= at) {
            continue;
        }
        let volt = 0.6 + 0.6 * clock as f64 / top as f64 * random.f64();
        let milliwatt = (coefficient * clock as f64 / 1e6 * volt * volt).max(1.0) as u32;
        points.push((clock * 1_000, at, milliwatt));
    }
    points
}

/// A domain: its CPUs, and its operating points.
type DomainFigures = (Vec<usize>, Vec<PointFigures>);

/// The state as the kernel's program reads it.
fn line(
    cpus: &[CpuUse],
    domains: &[DomainFigures],
    task: &WakingTask,
) -> Result<String, std::fmt::Error> {
    let mut line = cpus.len().to_string();
    for cpu in cpus {
        write!(
            line,
            " {} {} {} {}",
            cpu.capacity, cpu.left, cpu.utilisation, cpu.estimated
        )?;
    }
    write!(line, " {}", domains.len())?;
    for (own, points) in domains {
        write!(
            line,
            " {} {}",
            CpuSet::from_cpus(own.iter().copied()).0,
            points.len()
        )?;
        for (clock, _, power) in points {
            write!(line, " {} {power}", clock / 1_000)?;
        }
    }
    write!(
        line,
        " {} {} {} {}",
        task.utilisation, task.estimate, task.previous, task.allowed.0
    )?;
    Ok(line)
}

impl State {
    fn random(random: &mut fastrand::Rng) -> Result<Self> {
        let mut cpus: Vec<CpuUse> = Vec::new();
        let mut domains: Vec<DomainFigures> = Vec::new();
        let count = random.usize(1..=3);
        // One load for all CPUs of a state: some states are nearly full, and others nearly empty.
        let fill = random.u32(1..=110);
        for domain in 0..count {
            let capacity = if domain + 1 == count {
                1024
            } else {
                random.u32(150..1024)
            };
            let first = cpus.len();
            for _ in 0..random.usize(1..=4) {
                let used = |random: &mut fastrand::Rng| random.u32(0..=capacity) * fill / 100;
                let left = if random.bool() {
                    capacity
                } else {
                    random.u32(capacity / 2..=capacity)
                };
                let estimated = if random.bool() { 0 } else { used(random) };
                cpus.push(CpuUse {
                    utilisation: used(random),
                    estimated,
                    capacity,
                    left,
                });
            }
            let points = random_points(random, capacity);
            domains.push(((first..cpus.len()).collect(), points));
        }
        let previous = random.usize(0..cpus.len());
        let all = (1_u64 << cpus.len()) - 1;
        let most = [
            if random.bool() {
                100
            } else {
                cpus[previous].capacity
            },
            if random.bool() { 100 } else { 600 },
        ];
        let task = WakingTask {
            utilisation: random.u32(0..=most[0]),
            estimate: random.u32(0..=most[1]),
            previous,
            allowed: CpuSet(if random.u32(0..4) == 0 {
                random.u64(1..=all)
            } else {
                all
            }),
        };
        // Its utilisation is a part of that of the CPU where it was.
        let home = &mut cpus[previous];
        home.utilisation = home.utilisation.max(task.utilisation);
        let line = line(&cpus, &domains, &task)?;
        let borrowed: Vec<_> = domains
            .iter()
            .map(|(own, points)| (&own[..], &points[..]))
            .collect();
        Ok(Self {
            model: Model::new(&borrowed)?,
            cpus,
            task,
            line,
        })
    }
}
