//! The programs in loom, in shuttle and in the explorer: executions, time, and what was found.

use crate::programs::{PROGRAMS, in_explorer, in_loom, in_shuttle};
use interleavings::{Config, Core, Strategy};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Runs that are drawn, where not all are tried.
const DRAWN: usize = 20_000;
/// Executions after which it is given up that all are tried.
const MOST: u64 = 2_000_000;

static RUNS: AtomicU64 = AtomicU64::new(0);

struct Result {
    runs: u64,
    repeated: Option<u64>,
    seconds: f64,
    found: bool,
    complete: bool,
}

fn measure(explore: impl FnOnce() -> Option<(u64, bool)>) -> Result {
    RUNS.store(0, Relaxed);
    let start = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(explore));
    let seconds = start.elapsed().as_secs_f64();
    let runs = RUNS.load(Relaxed);
    match done {
        Ok(told) => Result {
            runs,
            repeated: told.map(|(repeated, _)| repeated),
            seconds,
            found: false,
            complete: told.is_none_or(|(_, complete)| complete),
        },
        Err(_) => Result {
            runs,
            repeated: None,
            seconds,
            found: true,
            complete: false,
        },
    }
}

fn loom(name: &'static str, faulty: bool) -> Result {
    measure(|| {
        loom::model::Builder::new().check(move || {
            RUNS.fetch_add(1, Relaxed);
            in_loom::run(name, faulty);
        });
        None
    })
}

fn shuttle(name: &'static str, faulty: bool) -> Result {
    let ran = measure(|| {
        let scheduler = shuttle::scheduler::RandomScheduler::new_from_seed(1, DRAWN);
        shuttle::Runner::new(scheduler, shuttle::Config::new()).run(move || {
            RUNS.fetch_add(1, Relaxed);
            in_shuttle::run(name, faulty);
        });
        None
    });
    Result {
        complete: false,
        ..ran
    }
}

fn explorer(name: &'static str, faulty: bool, late_loads: bool) -> Result {
    let strategies = vec![Strategy::Dpor];
    // The core that orders least.
    let cores = vec![Core {
        lse: false,
        rcpc: true,
    }];
    let config = Config {
        strategies,
        schedules: MOST,
        late_loads,
        cores,
        ..Config::default()
    };
    measure(|| {
        let tally = interleavings::explore(&config, move || {
            RUNS.fetch_add(1, Relaxed);
            in_explorer::run(name, faulty);
        });
        Some((tally.repeated, tally.complete))
    })
}

/// Explores all programs in all explorers, and prints a table.
pub fn table() {
    println!(
        "{:<9} {:<8} {:<22} {:>9} {:>9} {:>8}  answer",
        "program", "", "explorer", "runs", "cut", "seconds"
    );
    for (name, without) in PROGRAMS {
        for faulty in [false, true] {
            let of = if faulty { "faulty" } else { "correct" };
            for (
                who,
                Result {
                    runs,
                    repeated,
                    seconds,
                    found,
                    complete,
                },
            ) in [
                ("loom", loom(name, faulty)),
                ("shuttle, random", shuttle(name, faulty)),
                ("here, no late loads", explorer(name, faulty, false)),
                ("here", explorer(name, faulty, true)),
            ] {
                let answer = match (found, complete, faulty) {
                    (true, _, true) => "found",
                    (true, _, false) => "A FALSE ALARM",
                    (false, true, false) => "complete",
                    (false, true, true) => "MISSED, and complete",
                    (false, false, true) => "MISSED",
                    (false, false, false) => "nothing",
                };
                let cut = repeated.map_or_else(|| "-".to_owned(), |repeated| repeated.to_string());
                println!("{name:<9} {of:<8} {who:<22} {runs:>9} {cut:>9} {seconds:>8.3}  {answer}");
            }
        }
        println!("          (the fault: without {without})");
    }
}
