//! `cargo xtask judge`: what takes long or fetches large sources. It is run before a release.

use crate::tools::{cargo, root};
use std::process::Command;
use std::time::Instant;

/// A long check: its name, its question, and the command that answers it with its end.
struct Judge {
    name: &'static str,
    asks: &'static str,
    command: fn() -> Command,
}

/// All judges, in their order.
const JUDGES: [Judge; 14] = [
    Judge {
        name: "tests",
        asks: "do the tests pass that take too long for every day?",
        command: || cargo(&["xtask", "judged-tests"]),
    },
    Judge {
        name: "build",
        asks: "is a first release build within its limit, beside an earlier commit's in turn?",
        command: || {
            let mut command = Command::new("python3");
            command.arg("bench/build.py").current_dir(root());
            command
        },
    },
    Judge {
        name: "costs",
        asks: "are the costs files what a fresh fit gives?",
        command: || cargo(&["run", "--quiet", "--release", "--", "calibrate", "--check"]),
    },
    Judge {
        name: "core",
        asks: "is the modelled core what a fresh fit gives?",
        command: || cargo(&["run", "--quiet", "--release", "--", "calibrate-prefetch", "--check"]),
    },
    Judge {
        name: "explore",
        asks: "are all seeded faults found, and nothing where nothing is?",
        command: || cargo(&["xtask", "explore"]),
    },
    Judge {
        name: "site",
        asks: "do the documents' slow commands print what the documents show?",
        command: || cargo(&["xtask", "site", "--slow"]),
    },
    Judge {
        name: "firmware",
        asks: "how does the firmware compare with Arm's, built from source?",
        command: || {
            let mut command = Command::new("python3");
            command.arg("bench/firmware.py").current_dir(root());
            command
        },
    },
    Judge {
        name: "governors",
        asks: "do menu and teo choose as the kernel's own C code, release by release?",
        command: || {
            let mut command = Command::new("python3");
            command.arg("bench/governors.py").current_dir(root());
            command
        },
    },
    Judge {
        name: "placement",
        asks: "does energy-aware placement find the CPU that the kernel's own C code finds?",
        command: || {
            let mut command = Command::new("python3");
            command.arg("bench/energy_aware.py").current_dir(root());
            command
        },
    },
    Judge {
        name: "predictions",
        asks: "is what another governor would have done foretold within 10 points and 10 %?",
        command: || {
            let mut command = Command::new("python3");
            command.arg("bench/predict.py").current_dir(root());
            command
        },
    },
    Judge {
        name: "ci",
        asks: "do the programs that read our formats for continuous integration take them?",
        command: || {
            let mut command = Command::new("python3");
            command.arg("bench/ci_formats.py").current_dir(root());
            command
        },
    },
    Judge {
        name: "cluster",
        asks: "does a sweep on Ray leave the bytes of one machine, and is the job for Kubernetes by its schema?",
        command: || {
            let mut command = Command::new("python3");
            command.arg("bench/cluster.py").current_dir(root());
            command
        },
    },
    Judge {
        name: "litmus",
        asks: "do stock litmus tests have the final states that herd7 gives them?",
        command: || {
            let mut command = Command::new("python3");
            command.arg("bench/litmus.py").current_dir(root());
            command
        },
    },
    Judge {
        name: "rates",
        asks: "as root: is a highest rate found between interfaces, of the kernel and of our graph?",
        command: || {
            let found = "run --release -- run find-rate --drivers kernel,packet --windows 2 --window 200 --trials 1 --precision 20 \
                         --output target/judged/rates --replace";
            cargo(&found.split_whitespace().collect::<Vec<_>>())
        },
    },
];

/// Runs the named judges, or all, and prints a table of verdicts.
///
/// # Errors
/// A judge is unknown, or one of those that ran said no.
pub fn run(names: &[String]) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|name| JUDGES.iter().all(|judge| judge.name != **name)) {
        let known: Vec<_> = JUDGES.iter().map(|judge| judge.name).collect();
        return Err(format!("`{unknown}` is no judge; there are: {}", known.join(", ")));
    }
    let mut verdicts = Vec::new();
    for judge in JUDGES.iter().filter(|judge| names.is_empty() || names.iter().any(|name| name == judge.name)) {
        println!("== {}: {}", judge.name, judge.asks);
        let begin = Instant::now();
        let verdict = match (judge.command)().status() {
            Ok(status) if status.success() => "yes".to_owned(),
            Ok(status) => format!("no ({status})"),
            Err(error) => format!("not run: {error}"),
        };
        verdicts.push((judge, verdict, begin.elapsed().as_secs_f64()));
    }
    println!("{:10} {:>8} {:24} question", "judge", "seconds", "verdict");
    for (judge, verdict, seconds) in &verdicts {
        println!("{:10} {seconds:8.0} {verdict:24} {}", judge.name, judge.asks);
    }
    let against = verdicts.iter().filter(|(_, verdict, _)| verdict != "yes").count();
    if against == 0 { Ok(()) } else { Err(format!("{against} of {} did not say yes", verdicts.len())) }
}
