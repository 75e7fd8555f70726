//! The speed of a sweep beside a bare loop: 10 000 points of one iteration of the six PSCI cases on
//! as many threads as rayon uses. The loop runs the same points into memory and writes nothing.
//! Both are timed in turns, and the medians compared.
//!
//! Run it with `cargo run --release -p sweep --example sweep_rate`; a number of points and one of
//! rounds may follow.

use document::Document;
use experiment::{Conditions, Experiment, Folder, Memory, Progress, Request};
use psci_experiments::PsciLatency;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Instant;
use sweep::{Dataset, Environment, Fitting, Plan, Share};

const PLAN: &str =
    "experiment = \"psci-latency\"\n[settings]\nrelease = \"last\"\niterations = 1\nfree-seeds = 0\norder = \"free\"\n";

fn main() -> miette::Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let (points, rounds) = (numbers.next().unwrap_or(10_000), numbers.next().unwrap_or(5));
    let plan = Plan::read(&Document::new("the plan", format!("{PLAN}[seeds]\ncount = {points}\n")))?;
    let fitting = Fitting::new(plan, |_| Some(&PsciLatency as &dyn Experiment), &[])?;
    let platforms = Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../platforms"));
    let folder = tempfile::tempdir().map_err(|error| miette::miette!("{error}"))?;
    let (mut loops, mut sweeps) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        loops.push(points as f64 / bare(&platforms, &fitting, points)?);
        let to = folder.path().join(round.to_string());
        sweeps.push(points as f64 / swept(&platforms, &fitting, &to)?);
        println!(
            "round {round}: bare loop {:.0} a second, sweep {:.0} a second",
            loops[loops.len() - 1],
            sweeps[sweeps.len() - 1]
        );
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (bare, swept) = (median(&mut loops), median(&mut sweeps));
    println!("medians: bare loop {bare:.0} a second, sweep {swept:.0} a second, {:.1} %", 100.0 * swept / bare);
    Ok(())
}

/// Seconds of a loop over `run` on as many threads, with nothing written.
fn bare(platforms: &Folder, fitting: &Fitting, points: u64) -> miette::Result<f64> {
    let (next, begin) = (AtomicU64::new(0), Instant::now());
    thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
                pool.install(|| {
                    loop {
                        let number = next.fetch_add(1, Relaxed);
                        if number >= points {
                            break;
                        }
                        let request = Request {
                            world: fitting.world,
                            settings: fitting.settings(&fitting.plan.point(number)).expect("the plan was checked"),
                            platforms,
                            conditions: Conditions::default(),
                            source_tree: None,
                            kept: None,
                        };
                        let mut sink = Memory::new(Arc::<Progress>::default());
                        fitting.experiment.run(&request, &mut sink).expect("every point runs");
                        assert!(!sink.finish().measures().is_empty());
                    }
                });
            });
        }
    });
    Ok(begin.elapsed().as_secs_f64())
}

fn swept(platforms: &Folder, fitting: &Fitting, to: &Path) -> miette::Result<f64> {
    let dataset = Dataset::begin(to, fitting)?;
    let place = Environment { platforms, conditions: Conditions::default(), source_tree: None, threads: None };
    let outcome = sweep::run(&dataset, fitting, &place, &Share::All, &Arc::default())?;
    assert_eq!((outcome.failures, outcome.unwritten.len()), (0, 0));
    Ok(outcome.time.as_secs_f64())
}
