//! A kernel as small as can be, in which nothing happens at the same time: one jiffy after the
//! other, and in each, one CPU after the other.

use points::{Point, Sink};
use rcu::{
    Callback, IdleNeed, InterruptedCode, Order, Platform, Rcu, RcuTimer, Reader, Scalar,
    SharedCell, SharedWord, Stall, Step, Thread,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// A plain cell: nothing happens at the same time.
pub struct Word<T>(Cell<T>);

impl<T: Scalar> SharedWord<T, Machine> for Word<T> {
    fn new(value: T) -> Self {
        Self(Cell::new(value))
    }
    fn load(&self, machine: &Machine) -> T {
        machine.access();
        self.0.get()
    }
    fn store(&self, machine: &Machine, value: T) {
        machine.access();
        self.0.set(value);
    }
    fn fetch_add(&self, machine: &Machine, value: T) -> T {
        machine.access();
        self.0.replace(T::from_word(
            self.0.get().to_word().wrapping_add(value.to_word()),
        ))
    }
}

impl<T: Scalar> SharedCell<T, Machine> for Word<T> {
    fn compare_exchange(&self, machine: &Machine, current: T, new: T, _: Order) -> bool {
        machine.access();
        let same = self.0.get() == current;
        if same {
            self.0.set(new);
        }
        same
    }
}

/// A callback that was invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub cpu: usize,
    pub jiffy: u64,
    pub callback: Callback,
}

#[derive(Default)]
pub struct Machine {
    this_cpu: Cell<usize>,
    jiffies: Cell<u64>,
    softirqs: RefCell<BTreeSet<usize>>,
    woken: RefCell<BTreeSet<Thread>>,
    pub timers: RefCell<BTreeMap<RcuTimer, u64>>,
    resched: RefCell<BTreeSet<usize>>,
    pub interrupts_off: Cell<bool>,
    pub invoked: RefCell<Vec<Invocation>>,
    pub stalls: RefCell<Vec<(u64, Stall)>>,
    pub stamps: RefCell<Vec<(Point, u32)>>,
    /// Accesses to shared words.
    pub accesses: Cell<u64>,
}

impl Machine {
    fn access(&self) {
        self.accesses.set(self.accesses.get() + 1);
    }
}

impl Sink for Machine {
    fn now(&self) -> u64 {
        self.jiffies.get()
    }
    fn capture(&self, point: Point, argument: u32, _: u64) {
        self.stamps.borrow_mut().push((point, argument));
    }
}

impl Platform for Machine {
    type Shared<T: Scalar> = Word<T>;
    type Watch = ();

    fn barrier(&self) {}
    fn this_cpu(&self) -> usize {
        self.this_cpu.get()
    }
    fn jiffies(&self) -> u64 {
        self.jiffies.get()
    }
    fn raise_softirq(&self) {
        self.softirqs.borrow_mut().insert(self.this_cpu());
    }
    fn wake(&self, thread: Thread) {
        self.woken.borrow_mut().insert(thread);
    }
    fn resched(&self, cpu: usize) {
        self.resched.borrow_mut().insert(cpu);
    }
    fn set_timer(&self, timer: RcuTimer, at_jiffy: u64) {
        self.timers.borrow_mut().insert(timer, at_jiffy);
    }
    fn cancel_timer(&self, timer: RcuTimer) {
        self.timers.borrow_mut().remove(&timer);
    }
    fn invoke(&self, callback: Callback) {
        let invoked = Invocation {
            cpu: self.this_cpu(),
            jiffy: self.jiffies(),
            callback,
        };
        self.invoked.borrow_mut().push(invoked);
    }
    fn may_wake(&self) -> bool {
        !self.interrupts_off.get()
    }
    fn lock_wait(&self, lock: u32) {
        panic!("nothing happens at the same time, but lock {lock:#x} is held");
    }
    fn stall(&self, stall: &Stall) {
        self.stalls
            .borrow_mut()
            .push((self.jiffies(), stall.clone()));
    }
}

/// The load of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Runs a task, in user space or the kernel.
    Busy(InterruptedCode),
    Idle,
    Off,
}

struct CpuState {
    load: Cell<Load>,
    need: Cell<IdleNeed>,
    /// Jiffies in which the CPU was idle and woke for RCU alone: a tick that was kept, or the time
    /// that RCU asked for.
    wakeups: RefCell<Vec<u64>>,
    reader: Reader,
}

/// The kernel. Threads run on CPU 0, which is never idle.
pub struct Kernel {
    pub machine: Machine,
    pub rcu: Rcu<Machine>,
    cpus: Vec<CpuState>,
    threads: RefCell<BTreeMap<Thread, Option<u64>>>,
    /// Threads that never get to run.
    pub starved: RefCell<BTreeSet<Thread>>,
}

impl Kernel {
    /// CPU 0 runs a task; the others are idle.
    pub fn new(settings: rcu::Settings) -> Self {
        let cpus = settings.cpus;
        let rcu = Rcu::new(settings).expect("settings that can be had");
        let threads = rcu
            .threads()
            .into_iter()
            .map(|thread| (thread, None))
            .collect();
        let cpu = |id| CpuState {
            load: Cell::new(Load::Busy(InterruptedCode::User)),
            need: Cell::new(IdleNeed::StopTick),
            wakeups: RefCell::default(),
            reader: Reader::new(id as u32),
        };
        let kernel = Self {
            machine: Machine::default(),
            rcu,
            cpus: (0..cpus).map(cpu).collect(),
            threads: RefCell::new(threads),
            starved: RefCell::default(),
        };
        (1..cpus).for_each(|cpu| kernel.set_load(cpu, Load::Idle));
        kernel
    }

    pub fn on<R>(&self, cpu: usize, what: impl FnOnce(&Machine) -> R) -> R {
        self.machine.this_cpu.set(cpu);
        what(&self.machine)
    }

    pub fn reader(&self, cpu: usize) -> &Reader {
        &self.cpus[cpu].reader
    }

    pub fn need(&self, cpu: usize) -> IdleNeed {
        self.cpus[cpu].need.get()
    }

    /// Takes the wake-ups that were counted so far.
    pub fn wakeups(&self, cpu: usize) -> Vec<u64> {
        self.cpus[cpu].wakeups.take()
    }

    fn softirqs(&self, cpu: usize) {
        while self.machine.softirqs.borrow_mut().remove(&cpu) {
            if self.rcu.core(&self.machine) {
                self.machine.raise_softirq();
            }
        }
    }

    /// Asks what RCU needs until it raises no softirq any more.
    fn prepare_idle(&self, cpu: usize) {
        loop {
            self.cpus[cpu].need.set(self.rcu.idle_need(&self.machine));
            if !self.machine.softirqs.borrow().contains(&cpu) {
                return;
            }
            self.softirqs(cpu);
        }
    }

    pub fn set_load(&self, cpu: usize, load: Load) {
        let before = self.cpus[cpu].load.replace(load);
        self.on(cpu, |p| {
            if before == Load::Idle {
                self.rcu.idle_exit(p);
                self.softirqs(cpu);
            }
            match load {
                Load::Busy(_) if before == Load::Off => self.rcu.cpu_online(p),
                Load::Idle => {
                    self.rcu.context_switch(p, &self.cpus[cpu].reader);
                    self.prepare_idle(cpu);
                    self.rcu.idle_enter(p);
                }
                Load::Busy(_) | Load::Off => {}
            }
        });
    }

    /// An interrupt on `cpu`, whose handler does `what`.
    pub fn interrupt(&self, cpu: usize, what: impl FnOnce(&Machine)) {
        self.on(cpu, |p| {
            self.rcu.irq_enter(p);
            what(p);
            self.softirqs(cpu);
            if self.cpus[cpu].load.get() == Load::Idle {
                self.prepare_idle(cpu);
            }
            self.rcu.irq_exit(p);
        });
    }

    /// A callback from an interrupt on `cpu`.
    pub fn call(&self, cpu: usize, argument: u64, urgency: rcu::Urgency) {
        self.interrupt(cpu, |p| {
            self.rcu.call(
                p,
                Callback {
                    function: cpu as u32,
                    argument,
                    urgency,
                },
            )
        });
    }

    /// One jiffy passes.
    pub fn jiffy(&self) {
        let now = self.machine.jiffies.get() + 1;
        self.machine.jiffies.set(now);
        for (number, cpu) in self.cpus.iter().enumerate() {
            let interrupted = match (cpu.load.get(), cpu.need.get()) {
                (Load::Busy(what), _) => what,
                (Load::Idle, IdleNeed::KeepTick) => InterruptedCode::Idle,
                (Load::Idle, IdleNeed::WakeAt(at)) if at <= now => InterruptedCode::Idle,
                _ => continue,
            };
            if interrupted == InterruptedCode::Idle {
                cpu.wakeups.borrow_mut().push(now);
            }
            self.interrupt(number, |p| self.rcu.tick(p, interrupted, &cpu.reader));
            if self.machine.resched.borrow_mut().remove(&number) && !cpu.reader.is_reading() {
                self.on(number, |p| self.rcu.context_switch(p, &cpu.reader));
            }
        }
        let due: Vec<RcuTimer> = self
            .machine
            .timers
            .borrow()
            .iter()
            .filter(|&(_, &at)| at <= now)
            .map(|(&timer, _)| timer)
            .collect();
        for timer in due {
            self.machine.timers.borrow_mut().remove(&timer);
            self.on(0, |p| self.rcu.timer(p, timer));
        }
        self.run_threads();
    }

    /// Runs the threads until all sleep.
    pub fn run_threads(&self) {
        self.machine.this_cpu.set(0);
        let now = self.machine.jiffies.get();
        while let Some(thread) = {
            let starved = self.starved.borrow();
            let threads = self.threads.borrow();
            let mut due = threads.iter().filter(|&(thread, until)| {
                let woken = self.machine.woken.borrow().contains(thread);
                !starved.contains(thread) && (woken || until.is_some_and(|until| until <= now))
            });
            due.next().map(|(&thread, _)| thread)
        } {
            self.machine.woken.borrow_mut().remove(&thread);
            let step = match thread {
                Thread::GracePeriod => self.rcu.grace_period_thread(&self.machine),
                _ => self.rcu.offload_thread(&self.machine, thread),
            };
            let until = match step {
                Step::Again => Some(now),
                Step::Sleep { until } => until,
            };
            self.threads.borrow_mut().insert(thread, until);
        }
    }

    pub fn jiffies(&self, count: u64) {
        (0..count).for_each(|_| self.jiffy());
    }

    pub fn invoked(&self) -> usize {
        self.machine.invoked.borrow().len()
    }
}
