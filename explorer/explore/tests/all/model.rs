//! Tests of one's own: locks and the like, explored as a firmware engineer would.

use crate::platform::{self, Model};
use explore::{Board, Config, Invariant, Operation, Strategy, Tally, Word};
use interleavings::subject::{Bodies, Order};
use psci_faults::lock::{BakeryWord, Lock, Ticket};
use psci_faults::{CpuIndex, Platform, SharedAtomic, SharedWord};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

fn check(config: &Config, set_up: impl Fn(&mut Model)) -> Tally<(), Bodies> {
    platform::check(config, true, set_up)
}

/// This CPU cleans its caches, turns them off and leaves coherency.
fn leave_with_flush(machine: &Board) {
    machine.act(Operation::Flush { level: 1 });
    let process = machine.process();
    machine.memory_mut().flush(process, true);
    machine.memory_mut().leave_coherency(process);
    machine.wake_pollers();
}

/// CPUs that enter a section one after the other; `acquire` and `release` are the lock.
fn section(
    model: &mut Model,
    cpus: u16,
    acquire: impl Fn(&Board, u16) + 'static,
    release: impl Fn(&Board, u16) + 'static,
) {
    let inside = Rc::new(Cell::new(0));
    let lock = Rc::new((acquire, release));
    for cpu in 0..cpus {
        let (inside, lock) = (inside.clone(), lock.clone());
        model.cpu(move |machine| {
            (lock.0)(machine, cpu);
            inside.set(inside.get() + 1);
            machine.pause();
            let is_alone = (inside.get() == 1).then_some(());
            machine.hold(
                is_alone
                    .ok_or_else(|| (Invariant::Own, format!("{} CPUs are inside", inside.get()))),
            );
            inside.set(inside.get() - 1);
            (lock.1)(machine, cpu);
        });
    }
}

fn bakery(model: &mut Model, cpus: u16) {
    let words: Rc<Vec<BakeryWord<Board>>> =
        Rc::new((0..cpus).map(|_| BakeryWord::default()).collect());
    let other = words.clone();
    let lock = |words: &Rc<Vec<BakeryWord<Board>>>, machine: &Board, cpu: u16, acquire: bool| {
        let lock = Lock::bakery(0, words, CpuIndex(0));
        if acquire {
            lock.acquire(machine, CpuIndex(cpu))
        } else {
            lock.release(machine, CpuIndex(cpu))
        }
    };
    section(
        model,
        cpus,
        move |machine, cpu| lock(&words, machine, cpu, true),
        move |machine, cpu| lock(&other, machine, cpu, false),
    );
}

/// A bakery between CPUs of which the first `off` leave coherency and the others do not.
fn mixed_bakery(model: &mut Model, cpus: u16, off: u16) {
    let words: Rc<Vec<BakeryWord<Board>>> =
        Rc::new((0..cpus).map(|_| BakeryWord::default()).collect());
    let other = words.clone();
    let acquire = move |machine: &Board, cpu: u16| {
        if cpu < off {
            leave_with_flush(machine);
        }
        Lock::bakery(0, &words, CpuIndex(0)).acquire(machine, CpuIndex(cpu));
    };
    let release = move |machine: &Board, cpu| {
        Lock::bakery(0, &other, CpuIndex(0)).release(machine, CpuIndex(cpu))
    };
    section(model, cpus, acquire, release);
}

/// A lock in two words as a beginner writes it: looks, then takes.
fn naive(model: &mut Model) {
    let word: Rc<Word<u32>> = Rc::new(SharedWord::<u32, Board>::new(0));
    let other = word.clone();
    let take = move |machine: &Board, _| {
        while word.load(machine) != 0 {}
        word.store(machine, 1);
    };
    section(model, 2, take, move |machine, _| other.store(machine, 0));
}

/// The message of a failed check's panic.
fn failure(config: &Config, set_up: impl Fn(&mut Model)) -> String {
    let result = catch_unwind(AssertUnwindSafe(|| check(config, set_up)));
    *result
        .expect_err("the check passes")
        .downcast::<String>()
        .expect("a text")
}

#[test]
fn the_locks_exclude_in_coherency_and_out_of_it() {
    for coherent in [true, false] {
        let config = Config {
            schedules: 30_000,
            ..Config::default()
        };
        let tally = platform::check(&config, coherent, |model| bakery(model, 3));
        assert_eq!(tally.schedules, 30_000);
    }
    check(
        &Config {
            schedules: 30_000,
            ..Config::default()
        },
        |model| {
            let ticket: Rc<Ticket<Board>> = Rc::new(Ticket::default());
            let other = ticket.clone();
            let lock = |ticket: &Ticket<Board>, machine: &Board, cpu, acquire: bool| {
                let lock = Lock::ticket(0, ticket);
                if acquire {
                    lock.acquire(machine, CpuIndex(cpu))
                } else {
                    lock.release(machine, CpuIndex(cpu))
                }
            };
            section(
                model,
                3,
                move |m, cpu| lock(&ticket, m, cpu, true),
                move |m, cpu| lock(&other, m, cpu, false),
            );
        },
    );
}

/// A lock of one word, by each of the read-modify-writes that a word has beside the addition.
fn spin_lock(model: &mut Model, how: &'static str) {
    let word: Rc<Word<u32>> = Rc::new(SharedWord::<u32, Board>::new(0));
    let other = word.clone();
    let take = move |machine: &Board, _| loop {
        let taken = match how {
            "swap" => word.swap(machine, 1) == 0,
            "compare_exchange" => word.compare_exchange(machine, 0, 1).is_ok(),
            _ => word.fetch_or(machine, 1) & 1 == 0,
        };
        if taken {
            break;
        }
        while word.load_acquire(machine) & 1 == 1 {}
    };
    let let_go = move |machine: &Board, _| match how {
        "fetch_and" => assert_eq!(other.fetch_and(machine, !1), 1),
        _ => SharedWord::<u32, Board>::store(&*other, machine, 0),
    };
    section(model, 2, take, let_go);
}

/// On a core with LSE, on one without, and on one with RCpc.
#[test]
fn every_read_modify_write_is_one_step_with_lse_and_without() {
    for how in ["swap", "compare_exchange", "fetch_or", "fetch_and"] {
        let tally = check(
            &Config {
                schedules: 5_000,
                ..Config::default()
            },
            move |model| spin_lock(model, how),
        );
        assert_eq!(tally.covered.len(), 3, "{how}: {tally:?}");
    }
}

/// CPUs whose caches are on take a bakery from CPUs whose caches are off, as on the way down and
/// up.
#[test]
fn a_bakery_excludes_between_cpus_in_coherency_and_out_of_it() {
    for off in [1, 2] {
        let config = Config {
            schedules: 30_000,
            ..Config::default()
        };
        check(&config, move |model| mixed_bakery(model, 3, off));
    }
}

/// In every order of memory, without a bound on preemptions.
#[test]
fn every_run_of_a_bakery_of_two_is_tried() {
    let tally = check(&all(), |model| bakery(model, 2));
    assert!(tally.complete, "{tally:?}");
    println!("{} runs, {} cut", tally.schedules, tally.repeated);
}

fn all() -> Config {
    Config {
        strategies: vec![Strategy::Dpor],
        schedules: 10_000_000,
        ..Config::default()
    }
}

/// The store outside of coherency is seen in it, after the line was read, only if a cache evicts
/// the line; where caches must do that for it to be seen, a search without them is never complete.
#[test]
fn what_caches_do_on_their_own_is_tried() {
    let seen = |config: &Config| {
        let seen = Rc::new(RefCell::new(BTreeSet::new()));
        let tally = check(config, |model| {
            let words: Rc<[Word<u32>; 2]> = Rc::new([
                SharedWord::<u32, Board>::new(0),
                SharedWord::<u32, Board>::new(0),
            ]);
            let (other, seen) = (words.clone(), seen.clone());
            model.cpu(move |machine| {
                let first = words[0].load(machine);
                words[1].store(machine, 1);
                seen.borrow_mut().insert((first, words[0].load(machine)));
            });
            model.cpu(move |machine| {
                leave_with_flush(machine);
                other[0].store(machine, 1);
            });
        });
        assert!(!tally.complete, "{tally:?}");
        seen.take()
    };
    assert_eq!(seen(&all()), BTreeSet::from([(0, 0), (1, 1)]));
    assert_eq!(
        seen(&Config::default()),
        BTreeSet::from([(0, 0), (0, 1), (1, 1)])
    );
}

#[test]
fn a_lock_that_looks_and_then_takes_is_found_shrunk_and_left_in_a_file() {
    let said = failure(&Config::default(), naive);
    assert!(said.contains("2 CPUs are inside (own)"), "{said}");
    // Each stands still between its look and the end of its section.
    let deviations = said.lines().filter(|line| line.contains(". CPU ")).count();
    assert!((1..=3).contains(&deviations), "{said}");
    let path = said.split("STOPWATT_REPLAY=").nth(1).unwrap().trim();
    let left = std::fs::read_to_string(path).unwrap();
    assert!(
        left.contains("threads = 2") && left.matches("[[deviation]]").count() == deviations,
        "{left}"
    );
}

#[test]
fn a_missing_barrier_is_found() {
    // Dekker's test with relaxed accesses: both may find the other absent, and a barrier keeps them
    // from it.
    let dekker = |barrier: bool| {
        move |model: &mut Model| {
            let words: Rc<[Word<u32>; 2]> = Rc::new([
                SharedWord::<u32, Board>::new(0),
                SharedWord::<u32, Board>::new(0),
            ]);
            let absent = Rc::new(Cell::new(0));
            for cpu in 0..2 {
                let (words, absent) = (words.clone(), absent.clone());
                model.cpu(move |machine| {
                    machine.store(words[cpu].number(), 1, Order::Relaxed);
                    if barrier {
                        machine.barrier();
                    }
                    let other = machine.load(words[1 - cpu].number(), Order::Relaxed);
                    absent.set(absent.get() + u32::from(other == 0));
                });
            }
            model.at_the_end(move |_| absent.get() < 2, "each found the other absent");
        }
    };
    let said = failure(&Config::default(), dekker(false));
    assert!(said.contains("each found the other absent (own)"), "{said}");
    check(
        &Config {
            schedules: 20_000,
            ..Config::default()
        },
        dekker(true),
    );
}

#[test]
fn who_waits_for_ever_loops_for_ever_or_panics_is_said() {
    let said = failure(&Config::default(), |model| {
        model.cpu(|machine| machine.wait_for_event())
    });
    assert!(
        said.contains("CPU 0 waits for an event (everybody-wakes)"),
        "{said}"
    );
    let said = failure(&Config::default(), |model| {
        model.cpu(|machine| {
            loop {
                machine.pause()
            }
        })
    });
    assert!(said.contains("(livelock)"), "{said}");
    let said = failure(&Config::default(), |model| {
        model.cpu(|_| panic!("that was me"))
    });
    assert!(said.contains("that was me (panic)"), "{said}");
}

#[test]
fn code_that_makes_no_operation_is_noticed() {
    let noticed = std::sync::Arc::new(AtomicBool::new(false));
    let notices = noticed.clone();
    let _watchdog = explore::watch(std::time::Duration::from_millis(200), move |_, _| {
        notices.store(true, Relaxed);
    });
    let config = Config {
        schedules: 1,
        ..Config::default()
    };
    check(&config, |model| {
        let noticed = noticed.clone();
        model.cpu(move |_| while !noticed.load(Relaxed) {});
    });
}
