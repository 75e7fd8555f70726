//! Correct programs over all types, which every strategy finds nothing in, and wrong ones.

use interleavings::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use interleavings::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicUsize, fence,
};
use interleavings::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use interleavings::{Config, Strategy, explore, hint, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn found(config: &Config, test: impl Fn() + Send + 'static) -> Option<String> {
    let result = catch_unwind(AssertUnwindSafe(|| explore(config, test)));
    result
        .err()
        .map(|text| *text.downcast::<String>().expect("a text"))
}

/// Runs this in so many threads, and waits for them.
fn in_threads(count: usize, body: impl Fn(usize) + Send + 'static) {
    let body = Arc::new(body);
    let threads: Vec<_> = (0..count)
        .map(|number| {
            let body = body.clone();
            thread::spawn(move || body(number))
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn mutex() {
    let count = Arc::new(Mutex::new(0));
    let other = count.clone();
    in_threads(2, move |_| *other.lock().unwrap() += 1);
    assert_eq!(*count.lock().unwrap(), 2);
}

/// Threads of a scope borrow, start others of it, and have ended behind it.
fn scope() {
    let (count, parts) = (Mutex::new(0), [AtomicU32::new(1), AtomicU32::new(2)]);
    let sum = thread::scope(|scope| {
        let own = scope.spawn(|| {
            scope.spawn(|| *count.lock().unwrap() += 1);
            parts[0].load(Relaxed)
        });
        scope.spawn(|| parts[1].store(7, Relaxed));
        own.join().unwrap()
    });
    assert_eq!(
        (sum, parts[1].load(Relaxed), *count.lock().unwrap()),
        (1, 7, 1)
    );
}

fn mutex_below_stores() {
    let (lock, word) = (Arc::new(Mutex::new(0)), Arc::new(AtomicU32::new(0)));
    let other = lock.clone();
    let thread = thread::spawn(move || *other.lock().unwrap() += 1);
    let held = lock.lock().unwrap();
    word.store(1, Release);
    word.store(2, Release);
    drop(held);
    thread.join().unwrap();
}

fn try_lock() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    in_threads(2, move |_| {
        if let Ok(mut held) = other.try_lock() {
            *held += 1;
        }
    });
    assert!((1..=2).contains(&*lock.lock().unwrap()));
}

fn readers_and_a_writer() {
    let lock = Arc::new((RwLock::new((0, 0)), AtomicU32::new(0)));
    in_threads(3, move |number| {
        if number == 0 {
            let mut held = lock.0.write().unwrap();
            lock.1.store(1, Release);
            held.0 += 1;
            lock.1.store(2, Release);
            held.1 += 1;
        } else {
            let held = lock.0.read().unwrap();
            assert_eq!(held.0, held.1);
        }
    });
}

fn condition() {
    let ready = Arc::new((Mutex::new(false), Condvar::new()));
    let other = ready.clone();
    let thread = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let mut held = ready.0.lock().unwrap();
    while !*held {
        held = ready.1.wait(held).unwrap();
    }
    drop(held);
    thread.join().unwrap();
}

fn condition_for_all() {
    let ready = Arc::new((Mutex::new(false), Condvar::new()));
    in_threads(3, move |number| {
        let mut held = ready.0.lock().unwrap();
        if number == 0 {
            *held = true;
            ready.1.notify_all();
        } else {
            drop(ready.1.wait_while(held, |ready| !*ready).unwrap());
        }
    });
}

fn barrier() {
    let shared = Arc::new((
        Barrier::new(2),
        [AtomicU32::new(0), AtomicU32::new(0)],
        AtomicU32::new(0),
    ));
    let other = shared.clone();
    in_threads(2, move |number| {
        other.1[number].store(1, Relaxed);
        let is_leader = other.0.wait().is_leader();
        other.2.fetch_add(u32::from(is_leader), Relaxed);
        assert_eq!(other.1[1 - number].load(Relaxed), 1);
    });
    assert_eq!(shared.2.load(Relaxed), 1);
}

fn once() {
    let shared = Arc::new((Once::new(), AtomicU32::new(0)));
    in_threads(2, move |_| {
        shared
            .0
            .call_once(|| shared.1.store(shared.1.load(Relaxed) + 1, Relaxed));
        assert_eq!(shared.1.load(Relaxed), 1);
        assert!(shared.0.is_completed());
    });
}

fn once_lock() {
    let shared = Arc::new(OnceLock::new());
    in_threads(2, move |number| {
        let value = *shared.get_or_init(|| number);
        assert_eq!(shared.get(), Some(&value));
        assert_eq!(shared.set(7), Err(7));
    });
}

fn lazy() {
    let lazy = Arc::new(LazyLock::new(|| AtomicU32::new(5)));
    in_threads(2, move |_| {
        lazy.fetch_add(1, Relaxed);
        assert!((6..=7).contains(&lazy.load(Relaxed)));
    });
}

fn channel() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let threads = [
        thread::spawn(move || sender.send(1).unwrap()),
        thread::spawn(move || other.send(2).unwrap()),
    ];
    assert_eq!(receiver.iter().sum::<u32>(), 3);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn bounded_channel() {
    for bound in [0, 1] {
        let (sender, receiver) = mpsc::sync_channel(bound);
        let thread = thread::spawn(move || (0..2).for_each(|number| sender.send(number).unwrap()));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1]);
        thread.join().unwrap();
    }
}

fn channel_without_receiver() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || drop(receiver));
    let _ = sender.send(1);
    thread.join().unwrap();
    assert!(sender.send(2).is_err());
}

fn park() {
    let word = Arc::new(AtomicBool::new(false));
    let (other, parked) = (word.clone(), thread::current());
    let thread = thread::spawn(move || {
        other.store(true, Relaxed);
        parked.unpark();
    });
    while !word.load(Relaxed) {
        thread::park();
    }
    thread.join().unwrap();
}

fn spin_lock() {
    let lock = Arc::new((AtomicU8::new(0), AtomicI64::new(0)));
    in_threads(2, move |_| {
        while lock
            .0
            .compare_exchange_weak(0, 1, Acquire, Relaxed)
            .is_err()
        {
            hint::spin_loop();
        }
        lock.1.store(lock.1.load(Relaxed) - 1, Relaxed);
        lock.0.store(0, Release);
    });
}

fn ticket_lock() {
    let lock = Arc::new((AtomicU16::new(0), AtomicU16::new(0), AtomicU32::new(0)));
    in_threads(2, move |_| {
        let ticket = lock.0.fetch_add(1, Relaxed);
        while lock.1.load(Acquire) != ticket {
            thread::yield_now();
        }
        let before = lock.2.load(Relaxed);
        lock.2.store(before + 1, Relaxed);
        lock.1.store(ticket + 1, Release);
    });
}

fn message_by_fences() {
    let words = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
    let other = words.clone();
    let thread = thread::spawn(move || {
        other.0.store(1, Relaxed);
        fence(Release);
        other.1.store(true, Relaxed);
    });
    while !words.1.load(Relaxed) {}
    fence(Acquire);
    assert_eq!(words.0.load(Relaxed), 1);
    thread.join().unwrap();
}

fn store_buffering() {
    let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let other = words.clone();
    let thread = thread::spawn(move || {
        other[0].store(1, SeqCst);
        other[1].load(SeqCst)
    });
    words[1].store(1, SeqCst);
    assert!(words[0].load(SeqCst) + thread.join().unwrap() > 0);
}

fn stack() {
    let head = Arc::new(AtomicPtr::new(std::ptr::null_mut::<u32>()));
    in_threads(2, move |number| {
        let node = Box::into_raw(Box::new(number as u32));
        let mut old = head.load(Relaxed);
        while let Err(now) = head.compare_exchange(old, node, AcqRel, Acquire) {
            old = now;
        }
    });
}

fn counts() {
    let count = Arc::new(AtomicU32::new(0));
    let other = count.clone();
    in_threads(3, move |number| {
        other.fetch_max(number as u32, Relaxed);
        other.fetch_or(4, Relaxed);
    });
    assert!((4..=6).contains(&count.load(Relaxed)));
}

fn rendezvous() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::Builder::new()
        .name("asks".to_owned())
        .spawn(move || receiver.recv().unwrap())
        .unwrap();
    while let Err(mpsc::TrySendError::Full(_)) = sender.try_send(7) {
        hint::spin_loop();
    }
    assert_eq!(thread.join().unwrap(), 7);
}

interleavings::thread_local! {
    static OWN: std::cell::Cell<u32> = std::cell::Cell::new(1);
    static LAST: Farewell = Farewell(Arc::new(AtomicU32::new(0)));
}

struct Farewell(Arc<AtomicU32>);

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.store(1, Relaxed);
    }
}

/// Each thread has its own, and drops it before it is joined.
fn locals() {
    OWN.with(|own| own.set(5));
    let thread = thread::spawn(|| {
        OWN.with(|own| assert_eq!(own.replace(2), 1));
        LAST.with(|last| last.0.clone())
    });
    let dropped = thread.join().unwrap();
    assert_eq!(
        (OWN.with(std::cell::Cell::get), dropped.load(Relaxed)),
        (5, 1)
    );
}

const TIME: Duration = Duration::from_millis(10);

fn condition_with_a_limit() {
    let ready = Arc::new((Mutex::new(false), Condvar::new()));
    let other = ready.clone();
    let thread = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let mut held = ready.0.lock().unwrap();
    while !*held {
        held = ready.1.wait_timeout(held, TIME).unwrap().0;
    }
    drop(held);
    thread.join().unwrap();
}

fn channel_with_a_limit() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(5).unwrap());
    let mut values = Vec::new();
    loop {
        match receiver.recv_timeout(TIME) {
            Ok(value) => values.push(value),
            Err(mpsc::RecvTimeoutError::Timeout) => thread::sleep(TIME),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    assert_eq!(values, [5]);
    assert_eq!(
        (receiver.try_iter().count(), receiver.into_iter().count()),
        (0, 0)
    );
    thread.join().unwrap();
}

fn park_with_a_limit() {
    let word = Arc::new(AtomicBool::new(false));
    let other = word.clone();
    let thread = thread::spawn(move || other.store(true, Release));
    while !word.load(Acquire) {
        thread::park_timeout(TIME);
    }
    thread.join().unwrap();
}

fn nobody_tells() {
    let (lock, condition) = (Mutex::new(3), Condvar::new());
    let (held, result) = condition.wait_timeout(lock.lock().unwrap(), TIME).unwrap();
    assert!(result.timed_out());
    let (held, result) = condition
        .wait_timeout_while(held, TIME, |value| *value == 3)
        .unwrap();
    assert!(result.timed_out());
    drop(held);
    thread::park_timeout(TIME);
    assert_eq!(lock.into_inner().unwrap(), 3);
}

type Test = (&'static str, fn());

const CORRECT: [Test; 27] = [
    ("scope", scope),
    ("rendezvous", rendezvous),
    ("locals", locals),
    ("mutex", mutex),
    ("mutex below stores", mutex_below_stores),
    ("try_lock", try_lock),
    ("readers and a writer", readers_and_a_writer),
    ("condition", condition),
    ("condition for all", condition_for_all),
    ("barrier", barrier),
    ("once", once),
    ("once lock", once_lock),
    ("lazy", lazy),
    ("channel", channel),
    ("bounded channel", bounded_channel),
    ("channel without receiver", channel_without_receiver),
    ("park", park),
    ("spin lock", spin_lock),
    ("ticket lock", ticket_lock),
    ("message by fences", message_by_fences),
    ("store buffering", store_buffering),
    ("stack", stack),
    ("counts", counts),
    ("condition with a limit", condition_with_a_limit),
    ("channel with a limit", channel_with_a_limit),
    ("park with a limit", park_with_a_limit),
    ("nobody tells", nobody_tells),
];

#[test]
fn correct_programs_are_clean_in_every_strategy() {
    let alone = |strategy| Config {
        strategies: vec![strategy],
        schedules: 3_000,
        ..Config::default()
    };
    let drawn = [
        Strategy::Random,
        Strategy::Pct(3),
        Strategy::PassingOver,
        Strategy::Few(3),
    ];
    let default = Config {
        operations: 500_000,
        schedules: 3_000,
        ..Config::default()
    };
    for config in drawn.map(alone).into_iter().chain([default]) {
        for (name, test) in CORRECT {
            assert_eq!(found(&config, test), None, "{name} {:?}", config.strategies);
        }
    }
}

#[test]
fn lost_wake_ups_are_found() {
    let config = Config::default();
    // The flag is looked at, the lock let go, and only then is it waited.
    let lost = found(&config, || {
        let ready = Arc::new((Mutex::new(false), Condvar::new()));
        let other = ready.clone();
        let thread = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let is_ready = *ready.0.lock().unwrap();
        if !is_ready {
            drop(ready.1.wait(ready.0.lock().unwrap()).unwrap());
        }
        thread.join().unwrap();
    });
    let lost = lost.unwrap();
    assert!(lost.contains("everybody-wakes"), "{lost}");
    let waits = lost.contains("thread 0 waits for word 1 (ready)");
    assert!(waits && lost.contains(" to change at explorer/"), "{lost}");
    // One of two is told.
    let one = found(&config, || {
        let ready = Arc::new((Mutex::new(false), Condvar::new()));
        in_threads(3, move |number| {
            let mut held = ready.0.lock().unwrap();
            if number == 0 {
                *held = true;
                ready.1.notify_one();
            } else {
                drop(ready.1.wait_while(held, |ready| !*ready).unwrap());
            }
        });
    });
    assert!(one.unwrap().contains("everybody-wakes"));
    // A token that is taken before the flag is up.
    let parked = found(&config, || {
        let word = Arc::new(AtomicBool::new(false));
        let (other, parked) = (word.clone(), thread::current());
        let thread = thread::spawn(move || {
            parked.unpark();
            other.store(true, Release);
        });
        while !word.load(Acquire) {
            thread::park();
        }
        thread.join().unwrap();
    });
    assert!(parked.unwrap().contains("everybody-wakes"));
}

/// What looks at counts is tried with every order of clones and drops; orders are those of std.
#[test]
fn counts_of_an_arc_are_operations() {
    use interleavings::sync::UnsafeCell;
    let config = || Config {
        strategies: vec![Strategy::Dpor],
        ..Config::default()
    };
    let seen = |test: fn() -> bool| {
        let all = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
        let to = all.clone();
        let tally = explore(&config(), move || {
            let seen = test();
            to.lock().unwrap().insert(seen);
        });
        assert!(tally.complete);
        std::mem::take(&mut *all.lock().unwrap())
            .into_iter()
            .collect::<Vec<bool>>()
    };
    // Who drops first decides, though neither thread does anything else.
    let unwrapped = seen(|| {
        let value = Arc::new(7);
        let other = value.clone();
        let thread = thread::spawn(move || drop(other));
        let is_only = Arc::try_unwrap(value).is_ok();
        thread.join().unwrap();
        is_only
    });
    assert_eq!(unwrapped, [false, true]);
    let upgraded = seen(|| {
        let value = Arc::new(7);
        let weak = Arc::downgrade(&value);
        let thread = thread::spawn(move || drop(value));
        let is_there = weak.upgrade().is_some_and(|value| *value == 7);
        thread.join().unwrap();
        assert!(weak.upgrade().is_none());
        is_there
    });
    assert_eq!(upgraded, [false, true]);
    // A look at the count orders nothing; `get_mut` does, and so does the last drop.
    let after = |look: fn(&mut Arc<UnsafeCell<u32>>) -> bool| {
        found(&config(), move || {
            let mut cell = Arc::new(UnsafeCell::new(0));
            let other = cell.clone();
            let thread = thread::spawn(move || {
                other.with_mut(|_| ());
                drop(other);
            });
            if look(&mut cell) {
                cell.with_mut(|_| ());
            }
            thread.join().unwrap();
        })
    };
    assert!(
        after(|cell| Arc::strong_count(cell) == 1).is_some_and(|text| text.contains("data-race"))
    );
    assert_eq!(after(|cell| Arc::get_mut(cell).is_some()), None);
    struct Last(UnsafeCell<u32>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.with_mut(|_| ());
        }
    }
    let last = found(&config(), || {
        let value = Arc::new(Last(UnsafeCell::new(0)));
        let other = value.clone();
        let thread = thread::spawn(move || other.0.with_mut(|_| ()));
        drop(value);
        thread.join().unwrap();
    });
    assert_eq!(last, None);
}

/// A panic within a scope ends the run before what it lends is gone, whoever is still to act on it:
/// the failure is the panic's, in every strategy.
#[test]
fn a_panic_within_a_scope_is_told_and_nothing_acts_on_what_it_lent() {
    struct Told<'a>(&'a AtomicU32);
    impl Drop for Told<'_> {
        fn drop(&mut self) {
            assert_eq!(self.0.load(Relaxed), 5, "what was lent is gone");
        }
    }
    for strategy in [
        Strategy::Dpor,
        Strategy::Random,
        Strategy::Pct(3),
        Strategy::PassingOver,
    ] {
        let config = Config {
            strategies: vec![strategy],
            schedules: 2_000,
            ..Config::default()
        };
        let text = found(&config, || {
            let lent = Box::new(AtomicU32::new(5));
            thread::scope(|scope| {
                let (first, second) = (Told(&lent), Told(&lent));
                scope.spawn(move || first.0.load(Relaxed));
                scope.spawn(move || assert_eq!(second.0.load(Relaxed), 6, "not six"));
                assert_eq!(lent.load(Relaxed), 6, "not six");
            });
        });
        assert!(
            text.as_ref().is_some_and(|text| text.contains("not six")),
            "{strategy:?}: {text:?}"
        );
    }
}

/// A word is named by what it was made for.
#[test]
fn a_failure_names_the_variable() {
    struct Pair {
        taken: AtomicBool,
        free: AtomicBool,
    }
    let config = Config {
        late_loads: false,
        ..Config::default()
    };
    let text = found(&config, || {
        let mut others = Vec::new();
        let pair = Arc::new(Pair {
            taken: AtomicBool::new(false),
            free: AtomicBool::new(true),
        });
        let done = Arc::new(AtomicU32::new(0));
        for _ in 0..2 {
            let (pair, done) = (pair.clone(), done.clone());
            others.push(thread::spawn(move || {
                if !pair.taken.load(Acquire) && pair.free.load(Relaxed) {
                    pair.taken.store(true, Release);
                    done.fetch_add(1, Relaxed);
                }
            }));
        }
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(done.load(Relaxed), 1, "both took it");
    });
    let text = text.unwrap();
    assert!(
        text.contains("both took it") && text.contains("word 1 (free) of explorer/"),
        "{text}"
    );
}

#[test]
fn who_relies_on_time_is_found() {
    type Ready = (Mutex<bool>, Condvar, AtomicU32);
    let ready = || Arc::new((Mutex::new(false), Condvar::new(), AtomicU32::new(0)));
    let tests: [fn(&Ready); 3] = [
        |ready| {
            let waited = ready
                .1
                .wait_timeout_while(ready.0.lock().unwrap(), TIME, |ready| !*ready);
            assert!(*waited.unwrap().0);
        },
        |ready| {
            thread::park_timeout(TIME);
            assert_eq!(ready.2.load(Acquire), 1);
        },
        |ready| {
            thread::sleep(TIME);
            assert_eq!(ready.2.load(Acquire), 1);
        },
    ];
    for test in tests {
        let text = found(&Config::default(), move || {
            let ready = ready();
            let (other, first) = (ready.clone(), thread::current());
            thread::spawn(move || {
                other.2.store(1, Release);
                *other.0.lock().unwrap() = true;
                other.1.notify_one();
                first.unpark();
            });
            test(&ready);
        });
        assert!(text.unwrap().contains("(panic)"));
    }
}

#[test]
fn panics_of_runs_print_nothing_of_their_own() {
    const CHILD: &str = "INTERLEAVINGS_PANICS";
    if std::env::var_os(CHILD).is_some() {
        let text = found(&Config::default(), || {
            let word = Arc::new(AtomicU32::new(0));
            let other = word.clone();
            let thread = thread::spawn(move || other.store(1, Relaxed));
            assert_eq!(word.load(Relaxed), 0, "it was stored");
            thread.join().unwrap();
        });
        assert!(text.unwrap().contains(&format!("{}:", file!())));
        return;
    }
    let program = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "types::panics_of_runs_print_nothing_of_their_own",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&program.stderr);
    assert!(program.status.success(), "{printed}");
    // That of `explore`, which has all of it.
    assert_eq!(printed.matches("panicked at").count(), 1, "{printed}");
}

#[test]
fn a_failure_names_the_lines_that_made_its_words() {
    let first = line!() + 2;
    let text = found(&Config::default(), || {
        let count = Arc::new(AtomicU32::new(0));
        let lock = Arc::new(Mutex::new(0));
        let (other, held) = (count.clone(), lock.clone());
        in_threads(2, move |_| {
            *held.lock().unwrap() += 1;
            other.store(other.load(Relaxed) + 1, Relaxed);
        });
        let _both = (*lock.lock().unwrap(), assert_eq!(count.load(Relaxed), 2));
    });
    let place = format!("of {}:{first}", file!());
    let text = text.unwrap();
    assert!(text.contains(&place), "{place}: {text}");
    // What is waited for is named as well.
    let first = line!() + 2;
    let text = found(&Config::default(), || {
        let lock = Mutex::new(0);
        let _held = lock.lock().unwrap();
        let _again = lock.lock().unwrap();
    });
    let (place, text) = (format!("of {}:{first}", file!()), text.unwrap());
    assert!(text.contains(&place), "{place}: {text}");
}

#[test]
fn what_one_has_to_oneself_needs_no_atomics() {
    let text = found(&Config::default(), || {
        let mut word = AtomicU32::new(3);
        word.with_mut(|value| *value += 4);
        assert_eq!(
            word.fetch_update(Relaxed, Relaxed, |value| value.checked_sub(5)),
            Ok(7)
        );
        assert_eq!(
            (word.fetch_sub(3, Relaxed), word.into_inner()),
            (2, u32::MAX)
        );
        let signed = AtomicI64::new(-1);
        assert_eq!(
            (signed.fetch_max(-5, Relaxed), signed.fetch_min(-5, Relaxed)),
            (-1, -1)
        );
        let small = AtomicU8::new(250);
        assert_eq!(
            (
                small.fetch_add(10, Relaxed),
                small.fetch_nand(6, Relaxed),
                small.into_inner()
            ),
            (250, 4, 251)
        );
        let flag = AtomicBool::default();
        assert_eq!(
            (
                flag.fetch_not(Relaxed),
                flag.fetch_nand(true, Relaxed),
                flag.into_inner()
            ),
            (false, true, false)
        );
        let pointer = AtomicPtr::<u32>::default();
        assert!(
            pointer
                .fetch_update(Relaxed, Relaxed, |old| old.is_null().then_some(old))
                .is_ok()
        );
    });
    assert_eq!(text, None);
}

#[test]
fn small_programs_are_tried_in_full() {
    let config = Config {
        strategies: vec![Strategy::Dpor],
        schedules: 1_000_000,
        ..Config::default()
    };
    let tests: [Test; 11] = [
        ("mutex", mutex),
        ("try_lock", try_lock),
        ("condition", condition),
        ("once", once),
        ("once lock", once_lock),
        ("park", park),
        ("message by fences", message_by_fences),
        ("stack", stack),
        ("condition with a limit", condition_with_a_limit),
        ("park with a limit", park_with_a_limit),
        ("nobody tells", nobody_tells),
    ];
    for (name, test) in tests {
        let tally = explore(&config, test);
        println!("{name}: {}", tally.covered.join("; "));
        assert!(tally.complete, "{name}");
    }
}

/// Memory could explain it as well, which is harder to read.
#[test]
fn a_lost_increment_is_told_by_switches() {
    let story = found(&Config::default(), || {
        let count = Arc::new(AtomicU32::new(0));
        let other = count.clone();
        in_threads(2, move |_| {
            let before = other.load(Relaxed);
            other.store(before + 1, Relaxed);
        });
        assert_eq!(count.load(Relaxed), 2);
    });
    let story = story.unwrap();
    assert!(
        story.contains("stands still") && !story.contains("early"),
        "{story}"
    );
}
