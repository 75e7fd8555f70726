//! The two locks, between real threads.

#![allow(clippy::disallowed_types)]

use crate::fake::{CPUS, Fake, Harness, Options, leak};
use psci::CpuIndex;
use psci::lock::{BakeryWord, Lock, PLATFORM_LOCK, Ticket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// Every CPU adds to a counter that is not atomic in itself: what they lose shows a lock that does
/// not exclude.
fn count(
    harness: &'static Harness,
    lock: &'static Lock<'static, Fake>,
    cpus: usize,
    rounds: u64,
) -> u64 {
    harness.fake.strict.store(false, SeqCst); // maintenance races with accesses here, as it may
    let counter = leak(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for cpu in 0..cpus as u16 {
            let counter = &*counter;
            scope.spawn(move || {
                let body = || {
                    for _ in 0..rounds {
                        lock.acquire(harness.fake, CpuIndex(cpu));
                        let value = counter.load(Relaxed);
                        std::thread::yield_now();
                        counter.store(value + 1, Relaxed);
                        lock.release(harness.fake, CpuIndex(cpu));
                    }
                };
                harness.run_on(cpu, body).returned();
            });
        }
    });
    harness.clear_log();
    counter.load(Relaxed)
}

/// Mutual exclusion between CPUs of which half have their caches off.
#[test]
fn bakery_excludes_with_caches_on_and_off() {
    let harness: &'static Harness = leak(Harness::new(Options::default()));
    let words: &'static Vec<BakeryWord<Fake>> =
        leak((0..CPUS).map(|_| BakeryWord::default()).collect());
    let lock = leak(Lock::bakery(PLATFORM_LOCK, words, CpuIndex(0)));
    // The words are new: bring them to memory.
    (0..CPUS as u16).for_each(|cpu| {
        harness.fake.set_cache(cpu, true);
        harness
            .run_on(cpu, || {
                lock.acquire(harness.fake, CpuIndex(cpu));
                lock.release(harness.fake, CpuIndex(cpu));
            })
            .returned();
        harness.fake.set_cache(cpu, cpu % 2 == 0);
    });
    assert_eq!(count(harness, lock, CPUS, 300), CPUS as u64 * 300);
}

/// Mutual exclusion, through several wraps of the 16-bit tickets.
#[test]
fn ticket_excludes_and_wraps() {
    let harness: &'static Harness = leak(Harness::new(Options {
        coherent: true,
        ..Options::default()
    }));
    let lock = leak(Lock::ticket(PLATFORM_LOCK, leak(Ticket::default())));
    harness
        .run_on(0, || {
            for _ in 0..0xff00 {
                lock.acquire(harness.fake, CpuIndex(0));
                lock.release(harness.fake, CpuIndex(0));
            }
        })
        .returned();
    harness.clear_log();
    assert_eq!(count(harness, lock, CPUS, 2000), CPUS as u64 * 2000);
}

/// One who comes while another holds the lock waits, in either position: the earlier ticket goes
/// first, then the lower position.
#[test]
fn a_held_bakery_is_waited_for_from_either_side() {
    for (holder, other) in [(0, 1), (1, 0)] {
        let harness: &'static Harness = leak(Harness::new(Options::default()));
        let words: &'static Vec<BakeryWord<Fake>> =
            leak((0..CPUS).map(|_| BakeryWord::default()).collect());
        let lock = &*leak(Lock::bakery(PLATFORM_LOCK, words, CpuIndex(0)));
        (0..CPUS as u16).for_each(|cpu| harness.fake.set_cache(cpu, true));
        harness
            .run_on(holder, || lock.acquire(harness.fake, CpuIndex(holder)))
            .returned();
        let waited = &*leak(AtomicBool::new(false));
        let let_go = move || {
            waited.store(true, SeqCst);
            harness
                .run_on(holder, || lock.release(harness.fake, CpuIndex(holder)))
                .returned();
        };
        *harness.fake.at_wait.lock().unwrap() = Some(Box::new(let_go));
        harness
            .run_on(other, || lock.acquire(harness.fake, CpuIndex(other)))
            .returned();
        assert!(
            waited.load(SeqCst),
            "CPU {other} did not wait for CPU {holder}"
        );
        harness
            .run_on(other, || lock.release(harness.fake, CpuIndex(other)))
            .returned();
    }
}

/// The stamps of a lock carry its id.
#[cfg(all(feature = "detail", not(feature = "off")))]
#[test]
fn a_lock_stamps_its_id() {
    let harness = Harness::new(Options {
        coherent: true,
        ..Options::default()
    });
    let lock = Lock::ticket(0x8003, leak(Ticket::default()));
    harness
        .run_on(0, || {
            lock.acquire(harness.fake, CpuIndex(0));
            lock.release(harness.fake, CpuIndex(0));
        })
        .returned();
    assert_eq!(
        harness.log(),
        [
            "lock-wait 0x8003",
            "lock-acquired 0x8003",
            "lock-released 0x8003"
        ]
    );
}
