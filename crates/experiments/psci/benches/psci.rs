//! Speed of the simulation, in the PSCI experiments themselves: `cargo bench`.
//!
//! An operation is a call through `psci::Platform` that can yield. Targets: 25 M operations a
//! second with 6 CPUs and 15 M with 256, recording on, on one core; six cases, three releases, 100
//! iterations in 5 s; 256 cores in 10 s; 1024 cores in 3 s, and with ticket locks in at most twice
//! what growth in proportion to 64 cores would make.

use document::Document;
use psci_cases::CASES;
use psci_experiments::psci_latency::{Options, Release, run};
use soc::Conditions;
use soc::config::{Machine, Sources};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

fn machine(release: &str, settings: &[(&str, &str)]) -> Machine {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
    let open = |name: String| {
        Document::open(&root.join(name)).expect("the platform files are in the tree")
    };
    let mut sources = Sources {
        platform: open("juno-r1.toml".to_owned()),
        release: open(format!("juno-r1/releases/{release}.toml")),
        costs: open(format!("juno-r1/costs/{release}.toml")),
    };
    for (key, value) in settings {
        sources.set(key, value).expect("a setting");
    }
    sources.machine().expect("a sound machine")
}

/// Operations and time of the six cases on one core, best of several rounds.
fn rate(name: &str, machine: &Machine, iterations: u32, rounds: u32) {
    let mut best = f64::MAX;
    let mut operations = 0;
    for _ in 0..rounds {
        let begin = Instant::now();
        operations = CASES
            .iter()
            .map(|&case| {
                let conditions = Conditions {
                    case,
                    iterations,
                    seed: 1,
                    order: Default::default(),
                    events: u32::MAX,
                    spread: false,
                };
                soc::run(machine, &conditions)
                    .expect("the case ends")
                    .platform_calls
            })
            .sum::<u64>();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    println!(
        "{name}: {:.1} M operations a second ({operations} in {best:.3} s, best of {rounds})",
        operations as f64 / best / 1e6
    );
}

fn peak_memory_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn whole(name: &str, releases: &[Release], iterations: u32) -> Duration {
    let begin = Instant::now();
    let recording = run(
        releases,
        &CASES,
        &Options {
            iterations,
            seed: 1,
            free_seeds: 0,
            events: true,
        },
        || true,
    )
    .expect("all cases end");
    let took = begin.elapsed();
    println!(
        "{name}: {:.2} s, {} events, peak memory {} MB",
        took.as_secs_f64(),
        recording.events().len(),
        peak_memory_mb().unwrap_or(0)
    );
    took
}

/// Time of one iteration of the six cases on one core, the best of three, with more and more CPUs.
fn growth(lock: &str, settings: &[(&str, &str)]) {
    let mut before: Option<(u32, f64)> = None;
    for clusters in [16, 64, 256] {
        let shape = format!("{clusters}x4");
        let machine = machine(
            "juno-v2.12",
            &[settings, &[("topology.clusters", &shape)]].concat(),
        );
        let seconds = (0..3)
            .map(|_| {
                let begin = Instant::now();
                for case in CASES {
                    let conditions = Conditions {
                        case,
                        iterations: 1,
                        seed: 1,
                        order: Default::default(),
                        events: u32::MAX,
                        spread: false,
                    };
                    soc::run(&machine, &conditions).expect("the case ends");
                }
                begin.elapsed().as_secs_f64()
            })
            .fold(f64::MAX, f64::min);
        print!("{lock}, {} CPUs: {seconds:.3} s", clusters * 4);
        if let Some((cpus, least)) = before {
            print!(
                ", {:.1} times growth in proportion",
                seconds / least * f64::from(cpus) / f64::from(clusters * 4)
            );
        }
        println!();
        before = before.or(Some((clusters * 4, seconds)));
    }
}

fn main() {
    rate("6 CPUs", &machine("juno-v2.12", &[]), 100, 5);
    rate(
        "256 CPUs",
        &machine("juno-v2.12", &[("topology.clusters", "64x4")]),
        1,
        3,
    );
    growth("bakery", &[]);
    growth(
        "ticket",
        &[("psci.hardware_coherency", "true"), ("psci.lock", "ticket")],
    );
    let release = |name: &str, settings: &[(&str, &str)]| Release {
        machine: machine(name, settings),
        orders: BTreeMap::new(),
        owners: BTreeMap::new(),
        uncertainty: Default::default(),
    };
    let all: Vec<_> = ["juno-2017", "juno-v2.11", "juno-v2.12"]
        .iter()
        .map(|name| release(name, &[]))
        .collect();
    whole("six cases, three releases, 100 iterations", &all, 100);
    whole(
        "six cases, 256 cores, one iteration",
        &[release("juno-v2.12", &[("topology.clusters", "64x4")])],
        1,
    );
    whole(
        "six cases, 1024 cores, one iteration",
        &[release("juno-v2.12", &[("topology.clusters", "256x4")])],
        1,
    );
}
