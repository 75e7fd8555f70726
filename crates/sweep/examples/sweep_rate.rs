//! The speed of sweeps on as many threads as rayon uses, of two plans of `psci-latency`: the
//! cheapest of its cases, which shows what a point costs beside its run, and one iteration of all
//! six, beside a bare loop that runs the same points into memory and writes nothing. Loop and sweep
//! are timed in turns, and the medians compared.
//!
//! Where valgrind is installed, the instructions of a point of the cheapest case are counted, too:
//! they are the same on a busy machine, as is nearly the time on a core.
//!
//! Run it with `cargo run --release -p sweep --example sweep_rate`; a number of points of the
//! cheapest case, one of the six and one of rounds may follow.

use document::Document;
use experiment::{Conditions, Experiment, Folder, Kept, Observer, Request};
use psci_experiments::PsciLatency;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Instant;
use sweep::{Dataset, Environment, Fitting, Plan, Share};

const SIX: &str = "experiment = \"psci-latency\"\n[settings]\nrelease = \"last\"\niterations = 1\nfree-seeds = 0\norder = \"free\"\n";

const CHEAPEST: &str = "case = \"psci-version\"\n";

/// The argument with which the program runs some points of the cheapest case and prints nothing.
const ONLY: &str = "only";

fn main() -> miette::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let number = |place: usize, usual| numbers.get(place).copied().unwrap_or(usual);
    let cheapest = format!("{SIX}{CHEAPEST}");
    if arguments.first().is_some_and(|first| first == ONLY) {
        return swept(&fitting(
            &format!("chunk = 256\n{cheapest}"),
            number(0, 256),
        )?)
        .map(|_| ());
    }
    let (points, of_six, rounds) = (number(0, 100_000), number(1, 10_000), number(2, 5).max(1));
    let before = seconds_of_cores();
    let seconds = swept(&fitting(&cheapest, points)?)?;
    let of_cores = seconds_of_cores() - before;
    println!(
        "psci-version: {points} points, {:.0} a second, {:.3} ms of a core each",
        points as f64 / seconds,
        1e3 * of_cores / points as f64
    );
    match instructions_of_a_point() {
        Some(instructions) => println!("psci-version: {instructions:.0} instructions a point"),
        None => println!("psci-version: instructions are counted where valgrind is installed"),
    }
    let six = fitting(SIX, of_six)?;
    let (mut loops, mut sweeps) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        loops.push(of_six as f64 / bare(&six, of_six)?);
        sweeps.push(of_six as f64 / swept(&six)?);
        println!(
            "six cases, round {round}: bare loop {:.0} a second, sweep {:.0} a second",
            loops[loops.len() - 1],
            sweeps[sweeps.len() - 1]
        );
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (bare, swept) = (median(&mut loops), median(&mut sweeps));
    println!(
        "six cases: bare loop {bare:.0} a second, sweep {swept:.0} a second, {:.1} %",
        100.0 * swept / bare
    );
    Ok(())
}

/// The time that this program had on cores, in seconds; 0 where the system does not say.
fn seconds_of_cores() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the program's name: user and system time, in hundredths of a second.
    let numbers = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(11);
    numbers
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// A plan of some seeds.
fn fitting(plan: &str, seeds: u64) -> miette::Result<Fitting> {
    let plan = Plan::read(&Document::new(
        "the plan",
        format!("{plan}[seeds]\ncount = {seeds}\n"),
    ))?;
    Ok(Fitting::new(
        plan,
        |_| Some(&PsciLatency as &dyn Experiment),
        &[],
    )?)
}

fn platforms() -> Folder {
    Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/platforms"))
}

/// The instructions that valgrind counts for more points, less those for fewer, on one thread.
/// Chunks are as large as those of a sweep of 100 000 points, and a part of what is counted.
fn instructions_of_a_point() -> Option<f64> {
    let (few, many) = (4 * 256, 12 * 256);
    let count = |points: u64| -> Option<f64> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command
            .arg(std::env::current_exe().ok()?)
            .args([ONLY, &points.to_string()])
            .env("RAYON_NUM_THREADS", "1");
        let said = String::from_utf8(command.output().ok()?.stderr).ok()?;
        let line = said
            .lines()
            .find_map(|line| line.split_once("Collected : "))?;
        line.1.trim().parse().ok()
    };
    Some((count(many)? - count(few)?) / (many - few) as f64)
}

/// Seconds of a loop over `run` on as many threads, with nothing written.
fn bare(fitting: &Fitting, points: u64) -> miette::Result<f64> {
    let platforms = platforms();
    let (next, begin) = (AtomicU64::new(0), Instant::now());
    thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(1)
                    .build()
                    .expect("a thread can be started");
                pool.install(|| {
                    // As in a sweep, machines are made once, and nothing that nobody looks at.
                    let kept = Kept::default();
                    loop {
                        let number = next.fetch_add(1, Relaxed);
                        if number >= points {
                            break;
                        }
                        let request = Request {
                            world: fitting.world,
                            settings: fitting
                                .settings(&fitting.plan.point(number))
                                .expect("the plan was checked"),
                            platforms: &platforms,
                            conditions: Conditions::default(),
                            source_tree: None,
                            kept: Some(&kept),
                        };
                        let observer = Observer {
                            progress: Arc::default(),
                            events: false,
                            description: false,
                        };
                        let recording = fitting.experiment.run(&request, &observer);
                        assert!(!recording.expect("every point runs").measures().is_empty());
                    }
                });
            });
        }
    });
    Ok(begin.elapsed().as_secs_f64())
}

fn swept(fitting: &Fitting) -> miette::Result<f64> {
    let platforms = platforms();
    let folder = tempfile::tempdir().map_err(|error| miette::miette!("{error}"))?;
    let dataset = Dataset::begin(&folder.path().join("s"), fitting)?;
    let place = Environment {
        platforms: &platforms,
        conditions: Conditions::default(),
        source_tree: None,
        threads: None,
    };
    let outcome = sweep::run(&dataset, fitting, &place, &Share::All, &Arc::default())?;
    assert_eq!((outcome.failures, outcome.unwritten.len()), (0, 0));
    Ok(outcome.time.as_secs_f64())
}
