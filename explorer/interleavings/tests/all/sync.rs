//! Code as it is written for std, with the types of `interleavings`.

use interleavings::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use interleavings::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};
use interleavings::sync::{Arc, Mutex, UnsafeCell};
use interleavings::{Config, Core, Strategy, explore, hint, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn drawn() -> Config {
    Config {
        schedules: 5_000,
        ..Config::default()
    }
}

/// The words of a failed test; nothing if it finds nothing.
fn found(config: &Config, test: impl Fn() + Send + 'static) -> Option<String> {
    let result = catch_unwind(AssertUnwindSafe(|| explore(config, test)));
    result
        .err()
        .map(|text| *text.downcast::<String>().expect("a text"))
}

fn message(store: Ordering, load: Ordering) {
    let words = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
    let other = words.clone();
    let writer = thread::spawn(move || {
        other.0.store(42, Relaxed);
        other.1.store(true, store);
    });
    if words.1.load(load) {
        assert_eq!(words.0.load(Relaxed), 42);
    }
    writer.join().unwrap();
}

#[test]
fn a_message_needs_both_its_orders() {
    assert_eq!(found(&drawn(), || message(Release, Acquire)), None);
    assert_eq!(found(&drawn(), || message(SeqCst, SeqCst)), None);
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed)] {
        let text = found(&drawn(), move || message(store, load)).unwrap();
        assert!(text.contains("left: 0\n right: 42"), "{text}");
    }
}

#[test]
fn fences_do_it_as_well() {
    let with = |writes: bool, reads: bool| {
        found(&drawn(), move || {
            let words = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
            let data = Arc::new(Shared(UnsafeCell::new(0)));
            let (other, theirs) = (words.clone(), data.clone());
            let writer = thread::spawn(move || {
                theirs.set(1);
                other.0.store(42, Relaxed);
                if writes {
                    fence(Release);
                }
                other.1.store(true, Relaxed);
            });
            if words.1.load(Relaxed) {
                if reads {
                    fence(Acquire);
                    assert_eq!(data.get(), 1);
                }
                assert_eq!(words.0.load(Relaxed), 42);
            }
            writer.join().unwrap();
        })
    };
    assert_eq!(with(true, true), None);
    assert!(with(false, true).is_some());
    assert!(with(true, false).is_some());
}

/// Plain data that threads share.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: the tests are about whether accesses are ordered; all threads of a test are coroutines of
// one.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

impl<T: Copy> Shared<T> {
    #[track_caller]
    fn get(&self) -> T {
        // SAFETY: nobody else runs while the closure does.
        self.0.with(|data| unsafe { *data })
    }

    #[track_caller]
    fn set(&self, value: T) {
        // SAFETY: as above.
        self.0.with_mut(|data| unsafe { *data = value });
    }
}

#[test]
fn a_data_race_names_both_accesses() {
    let text = found(&drawn(), || {
        let data = Arc::new(Shared(UnsafeCell::new(0)));
        let other = data.clone();
        let writer = thread::spawn(move || other.set(1));
        data.get();
        writer.join().unwrap();
    })
    .unwrap();
    assert!(text.contains("(data-race)"), "{text}");
    assert!(text.matches("tests/all/sync.rs:").count() == 2, "{text}");
}

#[test]
fn what_a_join_or_a_mutex_orders_is_no_race() {
    let nothing = found(&drawn(), || {
        let data = Arc::new(Shared(UnsafeCell::new(0)));
        let count = Arc::new(Mutex::new(0));
        data.set(1);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (data, count) = (data.clone(), count.clone());
                thread::spawn(move || {
                    let mut held = count.lock().unwrap();
                    *held += 1;
                    data.set(data.get() + 1);
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!((*count.lock().unwrap(), data.get()), (2, 3));
    });
    assert_eq!(nothing, None);
}

/// Stores below the lock drain late, so that a thread tries to take it often.
#[test]
fn a_mutex_that_is_held_for_long_is_no_deadlock() {
    for strategy in [
        Strategy::Random,
        Strategy::Pct(3),
        Strategy::PassingOver,
        Strategy::Few(3),
    ] {
        let config = Config {
            strategies: vec![strategy],
            ..drawn()
        };
        let nothing = found(&config, || {
            let (count, word) = (Arc::new(Mutex::new(0)), Arc::new(AtomicU32::new(0)));
            let other = count.clone();
            let thread = thread::spawn(move || *other.lock().unwrap() += 1);
            let held = count.lock().unwrap();
            word.store(1, Release);
            word.store(2, Release);
            drop(held);
            thread.join().unwrap();
            assert_eq!(*count.lock().unwrap(), 1);
        });
        assert_eq!(nothing, None, "{strategy:?}");
    }
}

/// A lock of one word.
struct Spin(AtomicBool);

impl Spin {
    fn lock(&self, order: Ordering) {
        while self
            .0
            .compare_exchange_weak(false, true, order, Relaxed)
            .is_err()
        {
            hint::spin_loop();
        }
    }

    fn unlock(&self, order: Ordering) {
        self.0.store(false, order);
    }
}

fn spin_lock(lock: Ordering, unlock: Ordering) {
    let shared = Arc::new((Spin(AtomicBool::new(false)), Shared(UnsafeCell::new(0))));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.0.lock(lock);
                shared.1.set(shared.1.get() + 1);
                shared.0.unlock(unlock);
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert_eq!(shared.1.get(), 2);
}

#[test]
fn a_lock_needs_both_its_orders_with_lse_and_without() {
    for lse in [true, false] {
        let config = Config {
            cores: vec![Core { lse, rcpc: true }],
            ..drawn()
        };
        assert_eq!(found(&config, || spin_lock(Acquire, Release)), None);
        assert!(
            found(&config, || spin_lock(Relaxed, Release))
                .unwrap()
                .contains("data-race")
        );
        assert!(
            found(&config, || spin_lock(Acquire, Relaxed))
                .unwrap()
                .contains("data-race")
        );
    }
}

/// Store buffering around read-modify-writes: whether both loads may return 0.
fn around_updates(order: Ordering) {
    let words = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let other = words.clone();
    let second = thread::spawn(move || {
        other[1].swap(1, order);
        other[0].load(Relaxed)
    });
    words[0].swap(1, order);
    let first = words[1].load(Relaxed);
    assert!(first + second.join().unwrap() > 0, "both are 0");
}

#[test]
fn exclusives_order_less_than_lse() {
    let core = |lse| Config {
        cores: vec![Core { lse, rcpc: false }],
        ..drawn()
    };
    assert_eq!(found(&core(true), || around_updates(AcqRel)), None);
    assert!(
        found(&core(false), || around_updates(AcqRel))
            .unwrap()
            .contains("both are 0")
    );
    assert!(
        found(&core(true), || around_updates(Acquire))
            .unwrap()
            .contains("both are 0")
    );
    assert!(
        found(&core(true), || around_updates(Release))
            .unwrap()
            .contains("both are 0")
    );
    // And a weak compare-and-swap may fail for no reason.
    let alone = |lse| {
        found(&core(lse), || {
            let word = AtomicUsize::new(0);
            assert_eq!(word.compare_exchange_weak(0, 1, AcqRel, Relaxed), Ok(0));
        })
    };
    assert_eq!(alone(true), None);
    assert!(alone(false).unwrap().contains("Err(0)"));
}

#[test]
fn updates_are_one_step() {
    for lse in [true, false] {
        let config = Config {
            cores: vec![Core { lse, rcpc: true }],
            ..drawn()
        };
        let nothing = found(&config, || {
            let words = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let threads: Vec<_> = (0..3)
                .map(|thread| {
                    let words = words.clone();
                    thread::spawn(move || {
                        words.0.fetch_or(1 << thread, Relaxed);
                        words.1.fetch_add(1, Relaxed);
                        words
                            .1
                            .fetch_update(Relaxed, Relaxed, |value| Some(value + 1))
                            .unwrap();
                    })
                })
                .collect();
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            assert_eq!((words.0.load(Relaxed), words.1.load(Relaxed)), (7, 6));
        });
        assert_eq!(nothing, None);
    }
}

#[test]
fn a_pointer_hands_over_what_it_points_at() {
    let with = |store: Ordering| {
        found(&drawn(), move || {
            let pointer = Arc::new(AtomicPtr::new(std::ptr::null_mut::<Shared<u32>>()));
            let other = pointer.clone();
            let writer = thread::spawn(move || {
                let node = Box::new(Shared(UnsafeCell::new(0)));
                node.set(7);
                other.store(Box::into_raw(node), store);
            });
            let node = pointer.load(Acquire);
            if !node.is_null() {
                // SAFETY: it was made by `Box::into_raw`, and nobody frees it.
                assert_eq!(unsafe { &*node }.get(), 7);
            }
            writer.join().unwrap();
        })
    };
    assert_eq!(with(Release), None);
    assert!(with(Relaxed).unwrap().contains("data-race"));
}

#[test]
fn who_waits_for_ever_is_told_of() {
    let text = found(&drawn(), || {
        let lock = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = lock.clone();
        let second = thread::spawn(move || {
            let _held = other.1.lock().unwrap();
            let _both = other.0.lock().unwrap();
        });
        let _held = lock.0.lock().unwrap();
        let _both = lock.1.lock().unwrap();
        drop((_both, _held));
        second.join().unwrap();
    })
    .unwrap();
    assert!(text.contains("nobody is left to go on"), "{text}");
    let text = found(&drawn(), || {
        let word = AtomicBool::new(false);
        while !word.load(Relaxed) {}
    })
    .unwrap();
    assert!(text.contains("livelock"), "{text}");
    // Looking three times without a loop is no wait.
    let nothing = found(&drawn(), || {
        let word = AtomicBool::new(false);
        (0..5).for_each(|_| assert!(!word.load(Relaxed)));
    });
    assert_eq!(nothing, None);
}

/// Every run that differs, in all orders of memory; late loads on or off.
fn all(late_loads: bool) -> Config {
    let strategies = vec![Strategy::Dpor];
    Config {
        strategies,
        schedules: 10_000_000,
        cores: vec![Core::LSE],
        late_loads,
        ..Config::default()
    }
}

/// To take a lock, find nothing and let it go again is no step forward: who then says that it waits
/// does so until somebody else has had the lock.
#[test]
fn a_consumer_that_polls_below_a_lock_is_tried_whole() {
    let tally = explore(&all(true), || {
        let queue = Arc::new(Mutex::new(Vec::new()));
        let theirs = queue.clone();
        let producer =
            thread::spawn(move || (0..2).for_each(|item| theirs.lock().unwrap().push(item)));
        let mut taken = 0;
        while taken < 2 {
            let item = queue.lock().unwrap().pop();
            match item {
                Some(_) => taken += 1,
                None => thread::yield_now(),
            }
        }
        producer.join().unwrap();
    });
    assert!(
        tally.complete && tally.schedules < 200,
        "{}",
        tally.schedules
    );
}

/// A queue of one slot between two threads.
struct Ring {
    slot: Shared<u32>,
    head: AtomicUsize,
    tail: AtomicUsize,
}

fn ring(items: u32, head: Ordering) {
    let ring = Arc::new(Ring {
        slot: Shared(UnsafeCell::new(0)),
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
    });
    let other = ring.clone();
    let producer = thread::spawn(move || {
        for item in 0..items {
            while other.head.load(Acquire) != item as usize {
                thread::yield_now();
            }
            other.slot.set(item);
            other.tail.store(item as usize + 1, Release);
        }
    });
    for item in 0..items {
        while ring.tail.load(Acquire) != item as usize + 1 {
            thread::yield_now();
        }
        assert_eq!(ring.slot.get(), item);
        ring.head.store(item as usize + 1, head);
    }
    producer.join().unwrap();
}

#[test]
fn every_run_that_differs_is_tried() {
    let config = all(false);
    let complete = |test: fn()| {
        let tally = explore(&config, test);
        assert!(tally.complete);
        println!("{} runs, {} cut", tally.schedules, tally.repeated);
        tally.schedules - tally.repeated
    };
    complete(|| message(Release, Acquire));
    complete(|| ring(2, Release));
    complete(|| spin_lock(Acquire, Release));
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed)] {
        assert!(found(&config, move || message(store, load)).is_some());
    }
    assert!(
        found(&config, || ring(2, Relaxed))
            .unwrap()
            .contains("data-race")
    );
    assert!(
        found(&config, || spin_lock(Relaxed, Release))
            .unwrap()
            .contains("data-race")
    );
    assert!(
        found(&config, || around_updates(Acquire))
            .unwrap()
            .contains("both are 0")
    );
    assert_eq!(found(&config, || around_updates(AcqRel)), None);
}

/// A list of free nodes: two threads take one each and give it back, with a tag against reuse.
fn free_list() {
    let list = Arc::new((
        AtomicUsize::new(1),
        [AtomicUsize::new(2), AtomicUsize::new(0)],
    ));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let list = list.clone();
            thread::spawn(move || {
                let mut head = list.0.load(Acquire);
                let node = loop {
                    let next = list.1[(head & 3) - 1].load(Relaxed);
                    let taken = head & !3 | next;
                    match list
                        .0
                        .compare_exchange_weak(head, taken + 4, AcqRel, Acquire)
                    {
                        Ok(_) => break head & 3,
                        Err(other) => head = other,
                    }
                };
                let mut head = list.0.load(Relaxed);
                loop {
                    list.1[node - 1].store(head & 3, Relaxed);
                    match list.0.compare_exchange_weak(
                        head,
                        (head & !3 | node) + 4,
                        Release,
                        Relaxed,
                    ) {
                        Ok(_) => break,
                        Err(other) => head = other,
                    }
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert_eq!(list.0.load(Relaxed) >> 2, 4);
}

#[test]
fn exclusives_that_fail_do_not_multiply_the_runs() {
    let runs = [true, false].map(|lse| {
        let config = Config {
            cores: vec![Core { lse, rcpc: false }],
            ..all(true)
        };
        let tally = explore(&config, free_list);
        assert!(tally.complete);
        println!("{} runs, {} cut", tally.schedules, tally.repeated);
        tally.schedules
    });
    assert!(runs[1] < 40 * runs[0], "{runs:?}");
}
