//! Five programs, correct and with a fault each, written once for whoever has the types.

/// The faults, by program: what is left out.
pub const PROGRAMS: [(&str, &str); 5] = [
    ("peterson", "the order of its swap"),
    ("ring", "the release of the slot that was read"),
    ("seqlock", "the writer's fence"),
    ("mutex", "the lock in one of the threads"),
    ("queue", "the push before the end is told"),
];

/// Makes `run(name, faulty)` of the types that are in scope: `AtomicBool`, `AtomicUsize`,
/// `Mutex`, `UnsafeCell` with `with` and `with_mut`, `Arc`, `fence`, `spawn` and
/// `yield_now`.
macro_rules! programs {
    () => {
        use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

        struct Plain<T>(UnsafeCell<T>);

        // SAFETY: the programs are about whether accesses are ordered.
        unsafe impl<T> Sync for Plain<T> {}
        // SAFETY: as above.
        unsafe impl<T> Send for Plain<T> {}

        impl<T: Copy> Plain<T> {
            fn get(&self) -> T {
                // SAFETY: whoever explores runs one thread at a time.
                self.0.with(|data| unsafe { *data })
            }

            fn set(&self, value: T) {
                // SAFETY: as above.
                self.0.with_mut(|data| unsafe { *data = value });
            }
        }

        fn two(body: impl Fn(usize) + Clone + Send + 'static) {
            let other = body.clone();
            let thread = spawn(move || other(1));
            body(0);
            thread.join().unwrap();
        }

        fn peterson(faulty: bool) {
            let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
            let (turn, count) = (
                Arc::new(AtomicUsize::new(0)),
                Arc::new(Plain(UnsafeCell::new(0))),
            );
            let seen = count.clone();
            two(move |me| {
                let other = 1 - me;
                flags[me].store(true, Relaxed);
                turn.swap(other, if faulty { Relaxed } else { AcqRel });
                while flags[other].load(Acquire) && turn.load(Acquire) == other {
                    yield_now();
                }
                count.set(count.get() + 1);
                flags[me].store(false, Release);
            });
            assert_eq!(seen.get(), 2);
        }

        fn ring(faulty: bool) {
            const ITEMS: usize = 2;
            let slot = Arc::new(Plain(UnsafeCell::new(0)));
            let places = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            two(move |me| {
                let [head, tail] = &*places;
                for item in 0..ITEMS {
                    if me == 1 {
                        while head.load(Acquire) != item {
                            yield_now();
                        }
                        slot.set(item);
                        tail.store(item + 1, Release);
                    } else {
                        while tail.load(Acquire) != item + 1 {
                            yield_now();
                        }
                        assert_eq!(slot.get(), item);
                        head.store(item + 1, if faulty { Relaxed } else { Release });
                    }
                }
            });
        }

        fn seqlock(faulty: bool) {
            let sequence = Arc::new(AtomicUsize::new(0));
            let data = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            two(move |me| {
                if me == 1 {
                    sequence.store(1, Relaxed);
                    if !faulty {
                        fence(Release);
                    }
                    data[0].store(1, Relaxed);
                    data[1].store(1, Relaxed);
                    sequence.store(2, Release);
                } else {
                    let before = sequence.load(Acquire);
                    let (first, second) = (data[0].load(Relaxed), data[1].load(Relaxed));
                    fence(Acquire);
                    if before % 2 == 0 && sequence.load(Relaxed) == before {
                        assert_eq!(first, second);
                    }
                }
            });
        }

        fn mutex(faulty: bool) {
            let (lock, count) = (
                Arc::new(Mutex::new(())),
                Arc::new(Plain(UnsafeCell::new(0))),
            );
            let seen = count.clone();
            two(move |me| {
                let _held = (!faulty || me == 0).then(|| lock.lock().unwrap());
                count.set(count.get() + 1);
            });
            assert_eq!(seen.get(), 2);
        }

        /// A consumer polls a queue below a lock.
        fn queue(faulty: bool) {
            let (queue, ended) = (
                Arc::new(Mutex::new(Vec::new())),
                Arc::new(AtomicBool::new(false)),
            );
            two(move |me| {
                if me == 1 {
                    if faulty {
                        ended.store(true, Release);
                    }
                    queue.lock().unwrap().push(1);
                    return;
                }
                loop {
                    let item = queue.lock().unwrap().pop();
                    if item.is_some() {
                        break;
                    }
                    assert!(!ended.load(Acquire), "the item is lost");
                    yield_now();
                }
            });
        }

        /// Runs a program once.
        pub fn run(name: &str, faulty: bool) {
            match name {
                "peterson" => peterson(faulty),
                "ring" => ring(faulty),
                "seqlock" => seqlock(faulty),
                "mutex" => mutex(faulty),
                "queue" => queue(faulty),
                _ => unreachable!("the table has the names"),
            }
        }
    };
}

pub mod in_loom {
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use loom::sync::{Arc, Mutex};
    use loom::thread::{spawn, yield_now};

    programs!();
}

pub mod in_shuttle {
    use shuttle::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use shuttle::sync::{Arc, Mutex};
    use shuttle::thread::{spawn, yield_now};

    /// Shuttle watches no plain data.
    struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        fn new(data: T) -> Self {
            Self(std::cell::UnsafeCell::new(data))
        }

        fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }

    programs!();
}

pub mod in_explorer {
    use interleavings::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use interleavings::sync::{Arc, Mutex, UnsafeCell};
    use interleavings::thread::{spawn, yield_now};

    programs!();
}
