//! `cargo xtask judge`: what takes long or fetches large sources. It is run before a release.

use crate::stages::LIBRARIES;
use crate::tools::{cargo, root};
use std::process::Command;
use std::time::Instant;

/// A long check: its name, its question, and the command that answers it with its end.
struct Judge {
    name: &'static str,
    asks: &'static str,
    command: fn() -> Command,
}

const fn judge(name: &'static str, asks: &'static str, command: fn() -> Command) -> Judge {
    Judge { name, asks, command }
}

/// All judges, in their order.
const JUDGES: [Judge; 17] = [
    judge("tests", "do the tests pass that take too long for every day?", || cargo(&["xtask", "judged-tests"])),
    judge("build", "is a first release build within its limit, beside an earlier commit's in turn?", || {
        script("bench/build.py")
    }),
    judge("costs", "are the costs files what a fresh fit gives?", || {
        cargo(&["run", "--quiet", "--release", "--", "calibrate", "--check"])
    }),
    judge("core", "is the modelled core what a fresh fit gives?", || {
        cargo(&["run", "--quiet", "--release", "--", "calibrate-prefetch", "--check"])
    }),
    judge("explore", "are all seeded faults found, and nothing where nothing is?", || cargo(&["xtask", "explore"])),
    judge("site", "do the documents' slow commands print what the documents show?", || {
        cargo(&["xtask", "site", "--slow"])
    }),
    judge("firmware", "how does the firmware compare with Arm's, built from source?", || script("bench/firmware.py")),
    judge("governors", "do menu and teo choose as the kernel's own C code, release by release?", || {
        script("bench/governors.py")
    }),
    judge("placement", "does energy-aware placement find the CPU that the kernel's own C code finds?", || {
        script("bench/energy_aware.py")
    }),
    judge("boards", "does each board of the mainline kernel that has idle states become a platform?", || {
        script("bench/boards.py")
    }),
    judge("predictions", "is what another governor would have done foretold within 10 points and 10 %?", || {
        script("bench/predict.py")
    }),
    judge("ci", "do the programs that read our formats for continuous integration take them?", || {
        script("bench/ci_formats.py")
    }),
    judge(
        "cluster",
        "does a sweep on Ray leave the bytes of one machine, and is the job for Kubernetes by its schema?",
        || script("bench/cluster.py"),
    ),
    judge("litmus", "do stock litmus tests have the final states that herd7 gives them?", || script("bench/litmus.py")),
    judge(
        "wheels",
        "does the wheel run in a fresh environment of each Python from 3.10 on, and does twine take it?",
        || script("bench/wheels.py"),
    ),
    judge("publish", "does the registry take the libraries, each built from its package?", || {
        let packages = LIBRARIES.iter().flat_map(|library| ["--package", library]);
        let publish = ["publish", "--dry-run", "--quiet", "--locked", "--target-dir", "target/packages"];
        cargo(&publish.into_iter().chain(packages).collect::<Vec<_>>())
    }),
    judge("rates", "as root: is a highest rate found between interfaces, of the kernel and of our graph?", || {
        let found = "run --release -- run find-rate --drivers kernel,packet --windows 2 --window 200 --trials 1 --precision 20 \
                         --output target/judged/rates --replace";
        cargo(&found.split_whitespace().collect::<Vec<_>>())
    }),
];

/// A script of `bench`.
fn script(path: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(path).current_dir(root());
    command
}

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
