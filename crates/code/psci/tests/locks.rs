//! The two locks, between real threads.

#![allow(clippy::disallowed_types)]

mod fake;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use fake::{CPUS, Fake, Options, Rig, leak};
use psci::CpuIndex;
use psci::lock::{BakeryWord, Lock, PLATFORM_LOCK, Ticket};

/// Every CPU adds to a counter that is not atomic in itself: what they lose shows a lock that does not exclude.
fn count(rig: &'static Rig, lock: &'static Lock<'static, Fake>, cpus: usize, rounds: u64) -> u64 {
    rig.fake.strict.store(false, SeqCst); // maintenance races with accesses here, as it may
    let counter = leak(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for cpu in 0..cpus as u16 {
            let counter = &*counter;
            scope.spawn(move || {
                let body = || {
                    for _ in 0..rounds {
                        lock.acquire(rig.fake, CpuIndex(cpu));
                        let value = counter.load(Relaxed);
                        std::thread::yield_now();
                        counter.store(value + 1, Relaxed);
                        lock.release(rig.fake, CpuIndex(cpu));
                    }
                };
                rig.on(cpu, body).returned();
            });
        }
    });
    rig.forget();
    counter.load(Relaxed)
}

/// Mutual exclusion between CPUs of which half have their caches off.
#[test]
fn bakery_excludes_with_caches_on_and_off() {
    let rig: &'static Rig = leak(Rig::new(Options::default()));
    let words: &'static Vec<BakeryWord<Fake>> = leak((0..CPUS).map(|_| BakeryWord::new()).collect());
    let lock = leak(Lock::bakery(PLATFORM_LOCK, words, CpuIndex(0)));
    // The words are new: bring them to memory.
    (0..CPUS as u16).for_each(|cpu| {
        rig.fake.set_cache(cpu, true);
        rig.on(cpu, || {
            lock.acquire(rig.fake, CpuIndex(cpu));
            lock.release(rig.fake, CpuIndex(cpu));
        })
        .returned();
        rig.fake.set_cache(cpu, cpu % 2 == 0);
    });
    assert_eq!(count(rig, lock, CPUS, 300), CPUS as u64 * 300);
}

/// Mutual exclusion, through several wraps of the 16-bit tickets.
#[test]
fn ticket_excludes_and_wraps() {
    let rig: &'static Rig = leak(Rig::new(Options { coherent: true, ..Options::default() }));
    let lock = leak(Lock::ticket(PLATFORM_LOCK, leak(Ticket::new())));
    rig.on(0, || {
        for _ in 0..0xff00 {
            lock.acquire(rig.fake, CpuIndex(0));
            lock.release(rig.fake, CpuIndex(0));
        }
    })
    .returned();
    rig.forget();
    assert_eq!(count(rig, lock, CPUS, 2000), CPUS as u64 * 2000);
}

/// The stamps of a lock carry its id.
#[cfg(all(feature = "detail", not(feature = "off")))]
#[test]
fn a_lock_stamps_its_id() {
    let rig = Rig::new(Options { coherent: true, ..Options::default() });
    let lock = Lock::ticket(0x8003, leak(Ticket::new()));
    rig.on(0, || {
        lock.acquire(rig.fake, CpuIndex(0));
        lock.release(rig.fake, CpuIndex(0));
    })
    .returned();
    assert_eq!(rig.log(), ["lock-wait 0x8003", "lock-acquired 0x8003", "lock-released 0x8003"]);
}
