//! The kernel's side: words, time, threads, timers.

use super::oracle::Oracle;
use engine::{Scheduler, SplitMix64};
use points::{Point, Sink};
use rcu::{Callback, IdleNeed, Platform, RcuTimer, Reader, Scalar, SharedCell, Step, Thread};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A word of memory; each access is a choice.
pub struct Word<T>(Cell<T>);

impl<T: Scalar> SharedCell<T, World> for Word<T> {
    fn new(value: T) -> Self {
        Self(Cell::new(value))
    }
    fn load(&self, world: &World) -> T {
        world.scheduler.advance(1);
        self.0.get()
    }
    fn store(&self, world: &World, value: T) {
        world.scheduler.advance(1);
        self.0.set(value);
    }
    fn fetch_add(&self, world: &World, value: T) -> T {
        world.scheduler.advance(1);
        self.0.replace(T::from_word(self.0.get().to_word().wrapping_add(value.to_word())))
    }
    fn swap(&self, world: &World, value: T) -> T {
        world.scheduler.advance(1);
        self.0.replace(value)
    }
    fn compare_exchange(&self, world: &World, current: T, new: T) -> bool {
        world.scheduler.advance(1);
        let same = self.0.get() == current;
        if same {
            self.0.set(new);
        }
        same
    }
}

/// A task: it reads, or not, and some CPU runs it, or none.
pub struct Task {
    pub reader: Reader,
    /// The object that it reads.
    pub sees: Cell<Option<usize>>,
    pub depth: Cell<u32>,
    pub running: Cell<bool>,
}

#[derive(Default)]
pub struct ThreadState {
    pub woken: Cell<bool>,
    pub until: Cell<Option<u64>>,
    pub running: Cell<bool>,
}

/// What a CPU is about, as the clock sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Work,
    /// Done with this jiffy.
    Done(u64),
    /// Idle until this jiffy, and what RCU needs of it meanwhile.
    Idle(u64, IdleNeed),
    /// Off until this jiffy.
    Off(u64),
}

pub struct CpuState {
    pub doing: Cell<Doing>,
    pub ticked: Cell<u64>,
    pub softirq: Cell<bool>,
    pub resched: Cell<bool>,
    /// A thread is to run here, or a CPU that went off is to be looked after.
    pub kicked: Cell<bool>,
    pub task: Cell<Option<usize>>,
    pub may_wake: Cell<bool>,
    pub random: RefCell<SplitMix64>,
    /// Stands for the idle task and for threads, which never read.
    pub nobody: Reader,
}

pub struct World {
    pub scheduler: Scheduler,
    pub oracle: Oracle,
    pub jiffies: Cell<u64>,
    pub over: Cell<bool>,
    pub states: Vec<CpuState>,
    pub tasks: Vec<Task>,
    /// Pointers to objects, which tasks read and replace.
    pub pointers: Vec<Cell<usize>>,
    pub threads: RefCell<BTreeMap<Thread, ThreadState>>,
    pub timers: RefCell<BTreeMap<RcuTimer, u64>>,
    waiters: RefCell<Vec<(usize, u32)>>,
    pub preempted: Cell<u64>,
    /// In how many of a hundred actions an object is replaced. With few, lists run empty, and threads go to sleep.
    pub replaces: u64,
    pub hotplug: bool,
    /// A CPU goes off or comes up; and one that has gone off and whose callbacks are still there.
    pub hotplug_busy: Cell<bool>,
    pub gone: Cell<Option<usize>>,
    /// Whether the CPUs work on at the end, rather than go idle.
    pub busy_end: bool,
}

/// Jiffies of work, and jiffies within which all callbacks must have been invoked afterwards: more than the twenty seconds for which lazy ones
/// may wait when CPUs share a thread.
pub const WORK: u64 = 40;
pub const END: u64 = WORK + 22 * 24;

impl World {
    pub fn new(cpus: usize, seed: u64, random: &mut SplitMix64, hotplug: bool) -> Self {
        let state = |cpu| CpuState {
            doing: Cell::new(Doing::Work),
            ticked: Cell::new(0),
            softirq: Cell::new(false),
            resched: Cell::new(false),
            kicked: Cell::new(false),
            task: Cell::new(Some(cpu)),
            may_wake: Cell::new(true),
            random: RefCell::new(SplitMix64::fork(seed, cpu as u64)),
            nobody: Reader::new(1000 + cpu as u32),
        };
        let task = |task| Task {
            reader: Reader::new(task as u32),
            sees: Cell::new(None),
            depth: Cell::new(0),
            running: Cell::new(task < cpus),
        };
        let scheduler = Scheduler::new(cpus + 1);
        scheduler.set_daemon(cpus, true);
        let oracle = Oracle::default();
        Self {
            scheduler,
            pointers: (0..3).map(|_| Cell::new(oracle.object())).collect(),
            oracle,
            jiffies: Cell::new(0),
            over: Cell::new(false),
            states: (0..cpus).map(state).collect(),
            tasks: (0..cpus + 1).map(task).collect(),
            threads: RefCell::default(),
            timers: RefCell::default(),
            waiters: RefCell::default(),
            preempted: Cell::new(0),
            replaces: [2, 5, 12][random.below(3) as usize],
            hotplug,
            hotplug_busy: Cell::new(false),
            gone: Cell::new(None),
            busy_end: random.below(2) == 0,
        }
    }

    pub fn cpus(&self) -> usize {
        self.states.len()
    }

    pub fn make_threads(&self, threads: &[Thread]) {
        self.threads.replace(threads.iter().map(|&thread| (thread, ThreadState::default())).collect());
    }

    /// A number below `bound`, from the CPU's own stream.
    pub fn draw(&self, cpu: usize, bound: u64) -> u64 {
        self.states[cpu].random.borrow_mut().below(bound)
    }

    /// Whether a thread could run that nobody runs.
    fn ready(&self, state: &ThreadState) -> bool {
        let now = self.jiffies.get();
        !state.running.get() && (state.woken.get() || state.until.get().is_some_and(|until| until <= now))
    }

    pub fn thread_is_ready(&self) -> bool {
        self.threads.borrow().values().any(|state| self.ready(state))
    }

    /// A thread that could run and that nobody runs; it is marked as running.
    pub fn take_thread(&self, from: u64) -> Option<Thread> {
        let threads = self.threads.borrow();
        let count = threads.values().filter(|state| self.ready(state)).count();
        let (&thread, state) =
            threads.iter().filter(|(_, state)| self.ready(state)).nth(from as usize % count.max(1))?;
        state.running.set(true);
        Some(thread)
    }

    /// The thread has made a step.
    pub fn stepped(&self, thread: Thread, step: Step) {
        let threads = self.threads.borrow();
        threads[&thread].until.set(match step {
            Step::Again => Some(0),
            Step::Sleep { until } => until,
        });
    }

    /// Ends the sleep of an idle CPU, so that somebody does what is to be done.
    pub fn kick_idle_cpu(&self) {
        let idle = |state: &&CpuState| matches!(state.doing.get(), Doing::Idle(..)) && !state.kicked.get();
        if let Some(cpu) = self.states.iter().position(|state| idle(&state)) {
            self.states[cpu].kicked.set(true);
            self.scheduler.wake(cpu);
        }
    }

    /// The clock: moves on when all CPUs have done their jiffy, to the next in which anything is to happen.
    pub fn clock(&self) {
        while !self.over.get() && !self.oracle.failed() {
            let now = self.jiffies.get();
            if self.states.iter().any(|state| self.next_event(state, now).is_none()) {
                self.scheduler.wait(None);
                continue;
            }
            let cpus = self.states.iter().filter_map(|state| self.next_event(state, now)).min();
            let threads = self.threads.borrow().values().filter_map(|state| state.until.get()).min();
            let timers = self.timers.borrow().values().copied().min();
            let next = [cpus, threads, timers].into_iter().flatten().min().unwrap_or(END).clamp(now + 1, END);
            self.jiffies.set(next);
            if next >= END || (next > WORK && self.oracle.left() == 0) {
                self.over.set(true);
                if let Some(number) = self.oracle.one_left() {
                    self.oracle.fail(|| format!("callback {number} was never invoked"));
                }
            }
            if threads.is_some_and(|until| until <= next) || timers.is_some_and(|at| at <= next) {
                self.kick_idle_cpu();
            }
            for (cpu, state) in self.states.iter().enumerate() {
                if self.over.get() || self.next_event(state, now).is_some_and(|event| event <= next) {
                    self.scheduler.wake(cpu);
                }
            }
            self.scheduler.advance(1);
        }
        (0..self.cpus()).for_each(|cpu| self.scheduler.wake(cpu));
    }

    /// The jiffy in which this CPU goes on; none if it still works in the present one.
    fn next_event(&self, state: &CpuState, now: u64) -> Option<u64> {
        match state.doing.get() {
            Doing::Work => None,
            Doing::Done(jiffy) => (jiffy >= now).then_some(now + 1),
            Doing::Idle(..) if state.kicked.get() || state.resched.get() => None,
            Doing::Idle(until, _) if until <= now => None,
            Doing::Idle(_, IdleNeed::KeepTick) if state.ticked.get() < now => None,
            Doing::Idle(_, IdleNeed::WakeAt(at)) if at <= now => None,
            Doing::Idle(_, IdleNeed::KeepTick) => Some(now + 1),
            Doing::Idle(until, IdleNeed::WakeAt(at)) => Some(until.min(at)),
            Doing::Idle(until, IdleNeed::StopTick) => Some(until),
            Doing::Off(until) if until <= now => None,
            Doing::Off(until) => Some(until),
        }
    }
}

impl Sink for World {
    fn now(&self) -> u64 {
        self.scheduler.now()
    }
    fn capture(&self, _: Point, _: u32, _: u64) {}
}

impl Platform for World {
    type Shared<T: Scalar> = Word<T>;

    fn this_cpu(&self) -> usize {
        self.scheduler.current()
    }
    fn jiffies(&self) -> u64 {
        self.jiffies.get()
    }
    fn raise_softirq(&self) {
        self.states[self.this_cpu()].softirq.set(true);
    }
    fn wake(&self, thread: Thread) {
        self.threads.borrow()[&thread].woken.set(true);
        self.kick_idle_cpu();
    }
    fn resched(&self, cpu: usize) {
        self.states[cpu].resched.set(true);
        self.scheduler.wake(cpu);
    }
    fn set_timer(&self, timer: RcuTimer, at_jiffy: u64) {
        self.timers.borrow_mut().insert(timer, at_jiffy);
    }
    fn cancel_timer(&self, timer: RcuTimer) {
        self.timers.borrow_mut().remove(&timer);
    }
    fn invoke(&self, callback: Callback) {
        self.oracle.invoke(callback.argument);
        self.scheduler.advance(1);
    }
    fn may_wake(&self) -> bool {
        self.states[self.this_cpu()].may_wake.get()
    }
    fn lock_wait(&self, lock: u32) {
        self.waiters.borrow_mut().push((self.this_cpu(), lock));
        self.scheduler.wait(None);
    }
    fn lock_released(&self, lock: u32) {
        self.waiters.borrow_mut().retain(|&(cpu, waits_for)| {
            if waits_for == lock {
                self.scheduler.wake(cpu);
            }
            waits_for != lock
        });
    }
}
