//! Every run of two CPUs with one call each that differs from the others, on each kind of machine.
//!
//! `cargo run --release -p explore --example every -- [SECONDS [FAULT [FIRST SECOND]]]` gives each
//! pair of calls that time, with the sound library (`-`) or with a seeded fault; two names of calls
//! stand for that pair alone.

use explore::{Ask, Exploration, Limits, MachineOptions, Psci, Scenario, Strategy, explore_on};
use std::time::{Duration, Instant};

fn main() {
    let seconds = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(10);
    let calls = [
        ("CPU_ON", Ask::On(1)),
        ("CPU_OFF", Ask::Off),
        (
            "CPU_SUSPEND",
            Ask::Suspend {
                states: [2, 2, 1],
                last: 0,
            },
        ),
    ];
    let fault = std::env::args().nth(2).filter(|name| name != "-");
    let fault = fault.map(|name| psci_faults::find(&name).expect("a seeded fault"));
    let only: Vec<String> = std::env::args().skip(3).collect();
    println!(
        "{:<12} {:<12} {:<30} {:>9} {:>7} {:>10} {:>8}  answer",
        "CPU 0", "CPU 1", "machine", "runs", "cut", "operations", "seconds"
    );
    for (first_name, first) in calls {
        for (second_name, second) in calls {
            if !only.is_empty() && only != [first_name, second_name] {
                continue;
            }
            for machine in MachineOptions::all() {
                let second = if second_name == "CPU_ON" {
                    Ask::On(0)
                } else {
                    second
                };
                let scenario = Scenario {
                    cpus: vec![vec![first], vec![second]],
                    ..Scenario::default()
                };
                let exploration = Exploration {
                    strategies: vec![Strategy::Dpor],
                    seed: 1,
                    limits: Limits::default(),
                    script: Some(scenario),
                    schedules: u64::MAX,
                };
                let subject = Psci {
                    cpus: 2,
                    machines: vec![machine],
                    fault,
                    port: None,
                };
                let start = Instant::now();
                let tally = explore_on(&subject, &exploration, 1, |_| {
                    start.elapsed() < Duration::from_secs(seconds)
                });
                let answer = match (&tally.found, tally.complete) {
                    (Some(found), _) => found.failure.what.clone(),
                    (None, true) => "complete".to_owned(),
                    (None, false) => "not complete".to_owned(),
                };
                let lse = if machine.lse { ", lse" } else { "" };
                let kind = format!(
                    "coherent {}, ticket {}{lse}",
                    machine.coherent, machine.ticket
                );
                println!(
                    "{first_name:<12} {second_name:<12} {kind:<30} {:>9} {:>7} {:>10} {:>8.2}  {answer}",
                    tally.schedules,
                    tally.repeated,
                    tally.steps,
                    start.elapsed().as_secs_f64(),
                );
            }
        }
    }
}
