//! The cost of callbacks: `cargo bench -p rcu --bench callbacks`.
//!
//! One CPU queues a million callbacks, ticks, runs its softirq and the threads, without an engine
//! under it: what is measured is the code of RCU alone. Each form may take a second.

use points::{Point, Sink};
use rcu::{
    Callback, Form, InterruptedCode, Order, Platform, Rcu, RcuTimer, Reader, Scalar, Settings,
    SharedCell, SharedWord, Step, Thread, Urgency,
};
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::time::Instant;

const CALLBACKS: u64 = 1_000_000;
const LIMIT_S: f64 = 1.0;

struct Word<T>(Cell<T>);

impl<T: Scalar> SharedWord<T, Machine> for Word<T> {
    fn new(value: T) -> Self {
        Self(Cell::new(value))
    }
    fn load(&self, _: &Machine) -> T {
        self.0.get()
    }
    fn store(&self, _: &Machine, value: T) {
        self.0.set(value);
    }
    fn fetch_add(&self, _: &Machine, value: T) -> T {
        self.0.replace(T::from_word(
            self.0.get().to_word().wrapping_add(value.to_word()),
        ))
    }
}

impl<T: Scalar> SharedCell<T, Machine> for Word<T> {
    fn compare_exchange(&self, _: &Machine, current: T, new: T, _: Order) -> bool {
        let same = self.0.get() == current;
        if same {
            self.0.set(new);
        }
        same
    }
}

/// One CPU.
#[derive(Default)]
struct Machine {
    jiffies: Cell<u64>,
    softirq: Cell<bool>,
    woken: RefCell<Vec<Thread>>,
    timer: Cell<Option<(u64, RcuTimer)>>,
    invoked: Cell<u64>,
}

impl Sink for Machine {
    fn now(&self) -> u64 {
        self.jiffies.get()
    }
    fn capture(&self, _: Point, _: u32, _: u64) {}
}

impl Platform for Machine {
    type Shared<T: Scalar> = Word<T>;
    type Watch = ();

    fn barrier(&self) {}
    fn this_cpu(&self) -> usize {
        0
    }
    fn jiffies(&self) -> u64 {
        self.jiffies.get()
    }
    fn raise_softirq(&self) {
        self.softirq.set(true);
    }
    fn wake(&self, thread: Thread) {
        self.woken.borrow_mut().push(thread);
    }
    fn resched(&self, _: usize) {}
    fn set_timer(&self, timer: RcuTimer, at_jiffy: u64) {
        self.timer.set(Some((at_jiffy, timer)));
    }
    fn cancel_timer(&self, _: RcuTimer) {
        self.timer.set(None);
    }
    fn invoke(&self, callback: Callback) {
        black_box(callback);
        self.invoked.set(self.invoked.get() + 1);
    }
}

fn step(rcu: &Rcu<Machine>, machine: &Machine, thread: Thread) -> Option<u64> {
    loop {
        let step = match thread {
            Thread::GracePeriod => rcu.grace_period_thread(machine),
            _ => rcu.offload_thread(machine, thread),
        };
        if let Step::Sleep { until } = step {
            return until;
        }
    }
}

/// Queues all callbacks, `per_jiffy` in each jiffy, and goes on until all were invoked. Returns the
/// seconds.
fn run(settings: Settings, per_jiffy: u64) -> f64 {
    let machine = Machine::default();
    let rcu: Rcu<Machine> = Rcu::new(settings).expect("settings that can be had");
    let task = Reader::new(0);
    let mut look_at = None;
    let begin = Instant::now();
    let mut queued = 0;
    while machine.invoked.get() < CALLBACKS {
        for _ in 0..per_jiffy.min(CALLBACKS - queued) {
            rcu.call(
                &machine,
                Callback {
                    function: 0,
                    argument: queued,
                    urgency: Urgency::Plain,
                },
            );
            queued += 1;
        }
        machine.jiffies.set(machine.jiffies.get() + 1);
        rcu.irq_enter(&machine);
        rcu.tick(&machine, InterruptedCode::User, &task);
        if let Some((at, timer)) = machine.timer.get()
            && at <= machine.jiffies.get()
        {
            machine.timer.set(None);
            rcu.timer(&machine, timer);
        }
        while machine.softirq.take() {
            machine.softirq.set(rcu.core(&machine));
        }
        rcu.irq_exit(&machine);
        if look_at.is_some_and(|at| at <= machine.jiffies.get()) {
            machine.wake(Thread::GracePeriod);
        }
        while let Some(thread) = { machine.woken.borrow_mut().pop() } {
            let until = step(&rcu, &machine, thread);
            if thread == Thread::GracePeriod {
                look_at = until;
            }
        }
    }
    begin.elapsed().as_secs_f64()
}

fn main() {
    let modern = |offloaded| Settings {
        offloaded,
        ..Settings::new(1, 250, Form::Modern)
    };
    let cases = [
        (
            "softirq, 2013, 50 a jiffy",
            Settings::new(1, 250, Form::Y2013),
            50,
        ),
        ("softirq, modern, 5000 a jiffy", modern(vec![]), 5000),
        ("threads, modern, 50 a jiffy", modern(vec![0]), 50),
        (
            "threads, modern, 5000 a jiffy (bypass)",
            modern(vec![0]),
            5000,
        ),
    ];
    for (name, settings, per_jiffy) in cases {
        let best = (0..3)
            .map(|_| run(settings.clone(), per_jiffy))
            .fold(f64::MAX, f64::min);
        let limit = if best <= LIMIT_S { "holds" } else { "MISSED" };
        println!(
            "{name}: {CALLBACKS} callbacks in {best:.3} s, {:.0} ns each (best of 3); limit {LIMIT_S} s: {limit}",
            best / CALLBACKS as f64 * 1e9
        );
    }
}
