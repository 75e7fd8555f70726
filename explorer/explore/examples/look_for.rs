//! Looks for one fault, or one mutant, of a library: `look_for psci NAME SEED SECONDS`.
//!
//! `bench/explore_mutants.py` runs it, a process for each mutant and seed: a mutant may loop
//! for ever, or end the process. It prints one line, `found INVARIANT RUNS SECONDS WHAT`, `hangs`,
//! or `nothing RUNS SECONDS`. With `none` for a name the library has no fault.

use explore::{
    Exploration, Limits, MachineOptions, Mode, Psci, Rcu, Strategy, Subject, explore_on, watch,
};
use std::time::{Duration, Instant};

fn look_for<S: Subject + Sync>(subject: &S, seed: u64, limits: Limits, time: Duration) {
    // What the code under test prints of its panics is no news.
    std::panic::set_hook(Box::new(|_| {}));
    let _watchdog = watch(Duration::from_secs(5), |_, _| {
        println!("hangs");
        std::process::exit(0);
    });
    let exploration = Exploration {
        strategies: Strategy::in_turn(),
        seed,
        limits,
        script: None,
        schedules: u64::MAX,
    };
    let start = Instant::now();
    let tally = explore_on(subject, &exploration, 1, |_| start.elapsed() < time);
    let seconds = start.elapsed().as_secs_f64();
    match tally.found {
        Some(found) => {
            println!(
                "found {} {} {seconds:.2} {}",
                found.failure.invariant.name(),
                tally.schedules,
                found.failure.what
            );
        }
        None => println!("nothing {} {seconds:.2}", tally.schedules),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (fault, library) = match &arguments[..] {
        [library, name, _, _] if library == "psci" => (psci_faults::find(name), library.as_str()),
        [library, name, _, _] if library == "rcu" => (rcu_faults::find(name), library.as_str()),
        _ => return eprintln!("look_for psci NAME SEED SECONDS, or rcu"),
    };
    if fault.is_none() && arguments[1] != "none" {
        return eprintln!("there is no fault {}", arguments[1]);
    }
    let number = |at: usize| arguments[at].parse().unwrap_or(1);
    let (seed, time) = (number(2), Duration::from_secs(number(3)));
    match library {
        "psci" => {
            let subject = Psci {
                cpus: 6,
                machines: MachineOptions::all(),
                fault,
                port: None,
            };
            look_for(&subject, seed, Limits::default(), time);
        }
        _ => {
            let subject = Rcu {
                cpus: 4,
                modes: Mode::ALL.to_vec(),
                fault,
            };
            look_for(&subject, seed, Rcu::LIMITS, time);
        }
    }
}
