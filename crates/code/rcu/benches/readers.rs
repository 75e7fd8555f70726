//! The cost of readers on this machine: `cargo bench -p rcu --bench readers`.
//!
//! RCU runs on threads of the host, one per CPU, with its shared words as atomics, and the
//! grace-period thread on one more. Readers look at a record through a pointer; now and then one
//! replaces it, and the old one is used again only after a grace period. That no reader ever sees a
//! record that was freed is checked on the way. A lock for readers and writers does the same for
//! comparison.
#![allow(
    clippy::disallowed_types,
    reason = "here the platform's cells are atomics"
)]

use points::{Point, Sink};
use rcu::{
    Callback, Form, InterruptedCode, Order, Platform, Rcu, RcuTimer, Reader, Scalar, Settings,
    SharedCell, SharedWord, Step, Thread, Urgency,
};
use std::cell::Cell;
use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst, fence};
use std::sync::{Barrier, RwLock};
use std::time::{Duration, Instant};

/// Read sections of each thread, and how often all is measured; the best counts, for the machine
/// may have other things to do.
const SECTIONS: u64 = 100_000_000;
const ROUNDS: u32 = 5;
/// Read sections between two looks at the clock, and between two replacements.
const SECTIONS_PER_LOOK: u64 = 1024;
const LOOKS_PER_REPLACEMENT: u64 = 16;

/// A word as an atomic of the host.
struct Word<T>(AtomicU64, PhantomData<T>);

impl<T: Scalar> SharedWord<T, Host> for Word<T> {
    fn new(value: T) -> Self {
        Self(AtomicU64::new(value.to_word()), PhantomData)
    }
    fn load(&self, _: &Host) -> T {
        T::from_word(self.0.load(SeqCst))
    }
    fn store(&self, _: &Host, value: T) {
        self.0.store(value.to_word(), SeqCst);
    }
    fn fetch_add(&self, _: &Host, value: T) -> T {
        T::from_word(self.0.fetch_add(value.to_word(), SeqCst))
    }
}

impl<T: Scalar> SharedCell<T, Host> for Word<T> {
    fn compare_exchange(&self, _: &Host, current: T, new: T, _: Order) -> bool {
        self.0
            .compare_exchange(current.to_word(), new.to_word(), SeqCst, SeqCst)
            .is_ok()
    }
}

thread_local! {
    static CPU: Cell<usize> = const { Cell::new(0) };
    static SOFTIRQ: Cell<bool> = const { Cell::new(false) };
}

/// The content of a record while it is in use, and once it was freed.
const IN_USE: u64 = 1;
const FREED: u64 = 0;

/// A record, in a cache line of its own.
#[repr(align(128))]
struct Record(AtomicU64);

impl Record {
    /// Takes the record if it is free.
    fn take(&self) -> bool {
        self.0.load(SeqCst) == FREED
            && self
                .0
                .compare_exchange(FREED, IN_USE, SeqCst, SeqCst)
                .is_ok()
    }
}

/// Nanoseconds for which this thread has run, if the host says so (Linux does); else those since
/// `begin`, which count others' work as well.
fn ran_ns(begin: Instant) -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ran = text.split(' ').next().and_then(|ran| ran.parse().ok());
    ran.unwrap_or(begin.elapsed().as_nanos() as u64)
}

/// The host as a kernel: CPU 0 runs the grace-period thread, the others read.
struct Host {
    begin: Instant,
    woken: AtomicBool,
    grace_period_thread: std::thread::Thread,
    /// More records than can be waiting at any time, and which one is current.
    records: Vec<Record>,
    current: AtomicUsize,
    invoked: AtomicU64,
}

impl Sink for Host {
    fn now(&self) -> u64 {
        0
    }
    fn capture(&self, _: Point, _: u32, _: u64) {}
}

impl Platform for Host {
    type Shared<T: Scalar> = Word<T>;
    type Watch = ();

    fn barrier(&self) {
        fence(SeqCst);
    }
    fn this_cpu(&self) -> usize {
        CPU.get()
    }
    fn jiffies(&self) -> u64 {
        self.begin.elapsed().as_millis() as u64
    }
    fn raise_softirq(&self) {
        SOFTIRQ.set(true);
    }
    fn wake(&self, _: Thread) {
        self.woken.store(true, SeqCst);
        self.grace_period_thread.unpark();
    }
    fn resched(&self, _: usize) {}
    fn set_timer(&self, _: RcuTimer, _: u64) {}
    fn cancel_timer(&self, _: RcuTimer) {}
    fn invoke(&self, callback: Callback) {
        self.records[callback.argument as usize]
            .0
            .store(FREED, SeqCst);
        self.invoked.fetch_add(1, SeqCst);
    }
}

/// RCU for threads.
struct Threads(Rcu<Host>);

// SAFETY: the plain cells of `Rcu` belong each to one CPU, to the grace-period thread, or stand
// behind one of its spin locks, as `crates/code/rcu/src/cpu.rs` says. Here each CPU is one thread
// for all of the run, the grace-period thread is another, and the locks are made of sequentially
// consistent atomics; nobody goes off or reads counters before all threads were joined.
unsafe impl Sync for Threads {}

impl Threads {
    fn rcu(&self) -> &Rcu<Host> {
        &self.0
    }
}

fn tick(rcu: &Rcu<Host>, host: &Host, reader: &Reader) {
    rcu.irq_enter(host);
    rcu.tick(host, InterruptedCode::Kernel, reader);
    while SOFTIRQ.take() {
        SOFTIRQ.set(rcu.core(host));
    }
    rcu.irq_exit(host);
}

/// Reads and now and then replaces; returns how often it replaced.
fn read(rcu: &Rcu<Host>, host: &Host, reader: &Reader, cpu: usize) -> u64 {
    let mut replaced = 0;
    let mut jiffy = 0;
    for look in 0..SECTIONS / SECTIONS_PER_LOOK {
        for _ in 0..SECTIONS_PER_LOOK {
            rcu.read_lock(reader);
            let record = host.current.load(SeqCst);
            let seen = host.records[record].0.load(SeqCst);
            assert_eq!(
                black_box(seen),
                IN_USE,
                "a reader of CPU {cpu} sees a record that was freed"
            );
            rcu.read_unlock(host, reader);
        }
        if look % LOOKS_PER_REPLACEMENT == 0
            && let Some(new) = host.records.iter().position(Record::take)
        {
            let old = host.current.swap(new, SeqCst);
            rcu.call(
                host,
                Callback {
                    function: 0,
                    argument: old as u64,
                    urgency: Urgency::Plain,
                },
            );
            replaced += 1;
        }
        let now = host.jiffies();
        if now != jiffy {
            jiffy = now;
            tick(rcu, host, reader);
        }
    }
    replaced
}

/// The grace-period thread on a CPU that is idle whenever it sleeps.
fn grace_periods(rcu: &Rcu<Host>, host: &Host, over: &AtomicBool) {
    let reader = Reader::new(0);
    while !over.load(SeqCst) {
        host.woken.store(false, SeqCst);
        if rcu.grace_period_thread(host) != Step::Again && !host.woken.load(SeqCst) {
            rcu.context_switch(host, &reader);
            rcu.idle_enter(host);
            std::thread::park_timeout(Duration::from_micros(500));
            rcu.idle_exit(host);
            tick(rcu, host, &reader);
        }
    }
}

/// Nanoseconds per read section with this many readers, replacements and grace periods.
fn rcu_readers(threads: usize) -> (f64, u64, u64) {
    let shared = Threads(
        Rcu::new(Settings::new(threads + 1, 1000, Form::Modern)).expect("settings that can be had"),
    );
    let over = AtomicBool::new(false);
    let host = Host {
        begin: Instant::now(),
        woken: AtomicBool::new(false),
        grace_period_thread: std::thread::current(),
        records: (0..512)
            .map(|record| Record(AtomicU64::new(if record == 0 { IN_USE } else { FREED })))
            .collect(),
        current: AtomicUsize::new(0),
        invoked: AtomicU64::new(0),
    };
    let start = Barrier::new(threads + 1);
    let running = AtomicUsize::new(threads);
    let results: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let (shared, host, start, over, running) = (&shared, &host, &start, &over, &running);
        let readers: Vec<_> = (1..=threads)
            .map(|cpu| {
                scope.spawn(move || {
                    CPU.set(cpu);
                    let reader = Reader::new(cpu as u32);
                    let rcu = shared.rcu();
                    start.wait();
                    let begin = ran_ns(host.begin);
                    let replaced = read(rcu, host, &reader, cpu);
                    let took = ran_ns(host.begin) - begin;
                    // Until its callbacks were invoked, a CPU ticks on.
                    while rcu.idle_need(host) != rcu::IdleNeed::StopTick {
                        std::thread::sleep(Duration::from_millis(1));
                        tick(rcu, host, &reader);
                    }
                    rcu.context_switch(host, &reader);
                    rcu.idle_enter(host);
                    if running.fetch_sub(1, SeqCst) == 1 {
                        over.store(true, SeqCst);
                    }
                    (took, replaced)
                })
            })
            .collect();
        start.wait();
        grace_periods(shared.rcu(), host, over);
        readers
            .into_iter()
            .map(|reader| reader.join().expect("a reader ends"))
            .collect()
    });
    let replaced = results.iter().map(|(_, replaced)| replaced).sum();
    assert_eq!(
        host.invoked.load(SeqCst),
        replaced,
        "every callback is invoked once"
    );
    let ns = results.iter().map(|(took, _)| *took as f64).sum::<f64>()
        / (threads as f64 * SECTIONS as f64);
    (
        ns,
        replaced,
        shared.rcu().grace_period_counters().grace_periods,
    )
}

/// The same with a lock for readers and writers, a twentieth as often.
fn lock_readers(threads: usize) -> f64 {
    let sections = SECTIONS / 20;
    let record = RwLock::new(IN_USE);
    let start = Barrier::new(threads);
    let total: f64 = std::thread::scope(|scope| {
        let (record, start) = (&record, &start);
        let reader = move || {
            start.wait();
            let begin = Instant::now();
            let ran = ran_ns(begin);
            for section in 0..sections {
                assert_eq!(black_box(*record.read().expect("no reader panics")), IN_USE);
                if section % (SECTIONS_PER_LOOK * LOOKS_PER_REPLACEMENT) == 0 {
                    *record.write().expect("no reader panics") = IN_USE;
                }
            }
            (ran_ns(begin) - ran) as f64
        };
        let readers: Vec<_> = (0..threads).map(|_| scope.spawn(reader)).collect();
        readers
            .into_iter()
            .map(|reader| reader.join().expect("a reader ends"))
            .sum()
    });
    total / (threads as f64 * sections as f64)
}

fn main() {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let mut alone = (0.0, 0.0);
    for threads in 1..=most {
        let (mut ns, mut lock, mut replaced, mut grace_periods) = (f64::MAX, f64::MAX, 0, 0);
        for _ in 0..ROUNDS {
            let round = rcu_readers(threads);
            ns = ns.min(round.0);
            replaced += round.1;
            grace_periods += round.2;
            lock = lock.min(lock_readers(threads));
        }
        if threads == 1 {
            alone = (ns, lock);
        }
        println!(
            "{threads} threads: {ns:.2} ns per read section, {:.2} times that of one thread ({replaced} replacements, {grace_periods} grace periods); \
             a lock for readers and writers {lock:.2} ns, {:.2} times",
            ns / alone.0,
            lock / alone.1
        );
    }
}
