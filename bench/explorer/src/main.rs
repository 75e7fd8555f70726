//! First five programs, correct and faulty, in loom, in shuttle and in the explorer: see `beside`.
//!
//! Then schedules a second of the correct ones in shuttle and in the explorer, in turn, by random
//! choice and by PCT. Each program runs in one thread.
#![allow(missing_docs)]

mod beside;
mod programs;

use interleavings::{Config, Core, Strategy};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use std::time::Instant;

const SCHEDULES: u64 = 20_000;
const ROUNDS: usize = 5;

fn theirs(name: &'static str, scheduler: impl Scheduler + 'static) {
    shuttle::Runner::new(scheduler, shuttle::Config::new())
        .run(move || programs::in_shuttle::run(name, false));
}

fn ours(name: &'static str, strategy: Strategy, seed: u64) {
    let (strategies, cores) = (vec![strategy], vec![Core::LSE]);
    let config = Config {
        strategies,
        schedules: SCHEDULES,
        seed,
        cores,
        ..Config::default()
    };
    interleavings::explore(&config, move || programs::in_explorer::run(name, false));
}

fn rate(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    SCHEDULES as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    // Panics are what is looked for, and shuttle ends threads with them.
    std::panic::set_hook(Box::new(|_| {}));
    beside::table();
    println!("{SCHEDULES} schedules a round, {ROUNDS} rounds in turn, median schedules/s");
    let count = SCHEDULES as usize;
    for (kind, strategy) in [("random", Strategy::Random), ("pct:3", Strategy::Pct(3))] {
        for (name, _) in programs::PROGRAMS {
            let (mut shuttle, mut here) = (Vec::new(), Vec::new());
            for seed in 0..ROUNDS as u64 {
                shuttle.push(rate(|| match strategy {
                    Strategy::Random => theirs(name, RandomScheduler::new_from_seed(seed, count)),
                    _ => theirs(name, PctScheduler::new_from_seed(seed, 3, count)),
                }));
                here.push(rate(|| ours(name, strategy, seed)));
            }
            let (shuttle, here) = (median(shuttle), median(here));
            println!(
                "{name:<9} {kind:<7} shuttle {shuttle:>8.0}   here {here:>8.0}   ratio {:.2}",
                here / shuttle
            );
        }
    }
}
