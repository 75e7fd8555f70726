//! Loops that wait for others, with each order.

use interleavings::sync::Arc;
use interleavings::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use interleavings::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use interleavings::{Config, Core, Strategy, explore, hint, thread};

/// The last that a thread does is to wait for another one's store.
fn waits_at_the_end(order: Ordering, hints: bool) {
    let words = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
    let other = words.clone();
    let writer = thread::spawn(move || {
        other.0.store(1, Relaxed);
        other.0.store(2, Relaxed);
        other.1.store(true, Release);
    });
    while !words.1.load(order) {
        if hints {
            hint::spin_loop();
        }
    }
    writer.join().unwrap();
}

#[test]
fn a_wait_costs_as_many_runs_with_relaxed_loads_as_with_acquiring_ones() {
    for hints in [true, false] {
        let runs = [Acquire, Relaxed]
            .map(|order| counted(order, move |order| waits_at_the_end(order, hints)));
        assert!(runs[1] < 10 * runs[0], "{runs:?}");
    }
}

/// The runs that differ, which must all be tried.
fn counted(order: Ordering, test: impl Fn(Ordering) + Send + 'static) -> u64 {
    let config = Config {
        strategies: vec![Strategy::Dpor],
        schedules: 100_000,
        cores: vec![Core::LSE],
        ..Config::default()
    };
    let tally = explore(&config, move || test(order));
    assert!(tally.complete);
    tally.schedules
}

fn waits(word: &AtomicU32, value: u32, order: Ordering) {
    while word.load(order) != value {
        hint::spin_loop();
    }
}

/// Threads that wait for each other in turn, `count` of them beside the first.
fn in_turn(count: u32, order: Ordering) {
    let word = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..count)
        .map(|at| {
            let other = word.clone();
            thread::spawn(move || {
                waits(&other, at, order);
                other.store(at + 1, Relaxed);
            })
        })
        .collect();
    waits(&word, count, order);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn there_and_back(order: Ordering) {
    let word = Arc::new(AtomicU32::new(0));
    let other = word.clone();
    let second = thread::spawn(move || {
        other.store(1, Relaxed);
        waits(&other, 2, order);
    });
    waits(&word, 1, order);
    word.store(2, Relaxed);
    second.join().unwrap();
}

/// A late load whose value nobody is left to store is no loop without an end.
#[test]
fn relaxed_waits_in_several_threads_come_to_an_end() {
    let both = [Acquire, Relaxed];
    for runs in [
        both.map(|order| counted(order, |order| in_turn(2, order))),
        both.map(|o| counted(o, there_and_back)),
    ] {
        println!("{runs:?}");
        assert!(runs[1] < 20 * runs[0], "{runs:?}");
    }
}

/// Locks that wait with read-modify-writes, and what a thread does in each try.
fn lock(kind: usize, threads: usize) {
    let words = Arc::new([0; 2].map(AtomicU32::new));
    let body = move |words: &[AtomicU32; 2]| {
        let [lock, tries] = words;
        let is_held = || match kind {
            0 => lock.swap(1, Acquire) == 1,
            1 => lock.fetch_or(1, Acquire) & 1 == 1,
            2 => lock.fetch_add(0, Acquire) == 1 || lock.swap(1, Acquire) == 1,
            // It changes something in each round, so the words alone do not tell that it waits.
            _ => lock.swap(1, Acquire) == 1 && tries.fetch_add(1, Relaxed) < u32::MAX,
        };
        while is_held() {
            thread::yield_now();
        }
        lock.store(0, Release);
    };
    let others: Vec<_> = (1..threads)
        .map(|_| {
            let words = words.clone();
            thread::spawn(move || body(&words))
        })
        .collect();
    body(&words);
    others.into_iter().for_each(|other| other.join().unwrap());
}

/// A lock whose threads yield is no livelock, however many wait and whoever is passed over.
#[test]
fn locks_that_yield_end_in_every_strategy() {
    let strategies = [
        Strategy::Dpor,
        Strategy::Random,
        Strategy::Pct(3),
        Strategy::PassingOver,
        Strategy::Few(4),
    ];
    for (kind, threads) in (0..4).flat_map(|kind| [(kind, 2), (kind, 3)]) {
        for strategy in strategies {
            let config = Config {
                strategies: vec![strategy],
                schedules: 2_000,
                cores: vec![Core::LSE],
                ..Config::default()
            };
            let tally = explore(&config, move || lock(kind, threads));
            assert!(tally.found.is_none());
            assert!(tally.complete || strategy != Strategy::Dpor || kind == 3);
        }
    }
}

/// A yield that is no loop hides no order: what comes behind it may come before the others go on.
#[test]
fn a_yield_is_a_hint_the_first_time() {
    let config = Config {
        strategies: vec![Strategy::Dpor],
        ..Config::default()
    };
    let seen = std::panic::catch_unwind(|| {
        explore(&config, || {
            let words = Arc::new([0; 2].map(AtomicU32::new));
            let other = words.clone();
            let thread = thread::spawn(move || {
                assert_eq!(other[1].load(Relaxed), 0, "it went on at once");
            });
            words[0].load(Relaxed);
            thread::yield_now();
            words[1].store(1, Relaxed);
            thread.join().unwrap();
        })
    });
    assert!(seen.is_err());
}
