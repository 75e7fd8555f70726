//! First five programs, correct and faulty, in loom, in shuttle and in the explorer: see `beside`.
//!
//! Then the same bakery lock in shuttle and in the explorer, in turn, five times each: schedules a
//! second by random choice and by PCT.
//!
//! Both run three CPUs that enter a section once. In shuttle each access of a word is one of its
//! atomics, so that it is a choice point there as it is here; a wait yields. Each program runs in
//! one thread.
#![allow(missing_docs)]

mod beside;
mod programs;

use explore::{Board, Config, Strategy, Word, check};
use interleavings::Core;
use psci::SharedWord;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

const CPUS: usize = 3;
const SCHEDULES: u64 = 20_000;
const ROUNDS: usize = 5;

mod theirs {
    use super::{CPUS, SCHEDULES};
    use shuttle::sync::Arc;
    use shuttle::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
    use shuttle::{Config, Runner, scheduler, thread};

    fn bakery() {
        let words: Arc<Vec<AtomicU32>> = Arc::new((0..CPUS).map(|_| AtomicU32::new(0)).collect());
        let inside = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..CPUS)
            .map(|me| {
                let (words, inside) = (words.clone(), inside.clone());
                thread::spawn(move || {
                    words[me].store(1, SeqCst);
                    let highest =
                        (0..CPUS).filter(|&other| other != me).map(|other| words[other].load(SeqCst) >> 1).max();
                    let ticket = highest.unwrap_or(0) + 1;
                    words[me].store(ticket << 1, SeqCst);
                    for other in (0..CPUS).filter(|&other| other != me) {
                        loop {
                            let word = words[other].load(SeqCst);
                            let theirs = word >> 1;
                            if word & 1 == 0 && (theirs == 0 || (ticket, me) < (theirs, other)) {
                                break;
                            }
                            thread::yield_now();
                        }
                    }
                    assert_eq!(inside.fetch_add(1, SeqCst), 0);
                    assert_eq!(inside.fetch_sub(1, SeqCst), 1);
                    words[me].store(0, SeqCst);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    pub fn random(seed: u64) {
        let scheduler = scheduler::RandomScheduler::new_from_seed(seed, SCHEDULES as usize);
        Runner::new(scheduler, Config::new()).run(bakery);
    }

    pub fn pct(seed: u64) {
        let scheduler = scheduler::PctScheduler::new_from_seed(seed, 3, SCHEDULES as usize);
        Runner::new(scheduler, Config::new()).run(bakery);
    }
}

/// The same, on the explorer's machine; a CPU that polls waits there until the word changes.
fn ours(strategy: Strategy, seed: u64) {
    let config =
        Config { strategies: vec![strategy], schedules: SCHEDULES, seed, cores: vec![Core::LSE], ..Config::default() };
    check(&config, |model| {
        let words: Rc<Vec<Word<u32>>> = Rc::new((0..CPUS).map(|_| SharedWord::<u32, Board>::new(0)).collect());
        let inside = Rc::new(Cell::new(0));
        for me in 0..CPUS {
            let (words, inside) = (words.clone(), inside.clone());
            model.cpu(move |machine| {
                words[me].store(machine, 1);
                let highest = (0..CPUS).filter(|&other| other != me).map(|other| words[other].load(machine) >> 1).max();
                let ticket = highest.unwrap_or(0) + 1;
                words[me].store(machine, ticket << 1);
                for other in (0..CPUS).filter(|&other| other != me) {
                    loop {
                        let word = words[other].load(machine);
                        let theirs = word >> 1;
                        if word & 1 == 0 && (theirs == 0 || (ticket, me) < (theirs, other)) {
                            break;
                        }
                    }
                }
                inside.set(inside.get() + 1);
                machine.pause();
                machine.check(inside.get() == 1, || "two CPUs are inside".to_owned());
                inside.set(inside.get() - 1);
                words[me].store(machine, 0);
            });
        }
    });
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
    std::panic::set_hook(Box::new(|panic| {
        if std::env::var_os("SHOW_PANICS").is_some() {
            eprintln!("{panic}");
        }
    }));
    beside::table();
    println!("{CPUS} CPUs, {SCHEDULES} schedules a round, {ROUNDS} rounds in turn, median schedules/s");
    let kinds: [(&str, fn(u64), Strategy); 2] =
        [("random", theirs::random, Strategy::Random), ("pct:3", theirs::pct, Strategy::Pct(3))];
    for (name, theirs, strategy) in kinds {
        let (mut shuttle, mut here) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS as u64 {
            shuttle.push(rate(|| theirs(round)));
            here.push(rate(|| ours(strategy, round)));
        }
        let (shuttle, here) = (median(shuttle), median(here));
        println!("{name:<8} shuttle {shuttle:>9.0}   explorer {here:>9.0}   ratio {:.2}", here / shuttle);
    }
}
