//! The explorer's own measure: what it finds, what it does not find where nothing is, and how fast
//! it is. Takes some half an hour.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

struct Check {
    name: &'static str,
    what: &'static str,
    /// Arguments of Cargo.
    cargo: &'static [&'static str],
}

const RUN: [&str; 5] = ["run", "--quiet", "--release", "--", "explore"];

const CHECKS: [Check; 7] = [
    Check {
        name: "faults",
        what: "every seeded fault is found with three seeds, shrunk, and repeats itself",
        cargo: &["faults", "--find"],
    },
    Check {
        name: "psci",
        what: "ten million schedules of the PSCI library break nothing",
        cargo: &["psci", "--schedules", "10000000", "--seed", "20261122"],
    },
    Check {
        name: "rcu",
        what: "two million schedules of the RCU library break nothing",
        cargo: &["rcu", "--schedules", "2000000", "--seed", "20261122"],
    },
    Check {
        name: "litmus",
        what: "a million drawn schedules of each litmus program, and all that there are, agree with the architecture",
        cargo: &["litmus", "--schedules", "1000000"],
    },
    Check {
        name: "shrunk",
        what: "nothing can be left out of what is shrunk, and a hundred repetitions do the same",
        cargo: &["test", "--quiet", "--release", "-p", "explore", "--test", "faults", "--test", "rcu"],
    },
    Check {
        name: "every",
        what: "a bakery of two is right in every run, in every order with two preemptions; pruned runs come to every end",
        cargo: &["test", "--quiet", "--release", "-p", "explore", "--test", "model", "--", "--nocapture"],
    },
    Check {
        name: "speed",
        what: "the same bakery as in shuttle, five rounds in turn",
        cargo: &["run", "--quiet", "--release", "--manifest-path", "bench/explorer/Cargo.toml"],
    },
];

/// Runs the checks whose names are given, or all.
pub fn run(names: &[String]) -> Result<(), String> {
    if let Some(name) = names.iter().find(|name| CHECKS.iter().all(|check| check.name != name.as_str())) {
        let known: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        return Err(format!("there is no check `{name}`; {} are right", known.join(", ")));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut failed = Vec::new();
    for check in CHECKS.iter().filter(|check| names.is_empty() || names.iter().any(|name| name == check.name)) {
        println!("== {}: {}", check.name, check.what);
        let mut command = Command::new(&cargo);
        if !matches!(check.cargo[0], "run" | "test") {
            command.args(RUN);
        }
        let start = Instant::now();
        let status = command.current_dir(&root).args(check.cargo).status();
        let status = status.map_err(|error| format!("cannot start {}: {error}", cargo.display()))?;
        println!("== {}: {status}, {:.0} s", check.name, start.elapsed().as_secs_f64());
        if !status.success() {
            failed.push(check.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}
