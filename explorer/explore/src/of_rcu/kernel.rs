//! The kernel under RCU: time in jiffies, tasks, threads, timers, and what each CPU is about.
//!
//! A clock moves on when every CPU has done its work of the jiffy: a CPU may stand still in the
//! middle of anything, but not for ever.

use self::Occupation::*;
use super::acts;
use super::acts::*;
use super::library::{Count, Library};
use super::names::{OF_GROUP, OF_RCU, OF_RCU_CPU};
use super::oracle::{Oracle, STANDS};
use super::scenario::{Action, DEPTH, Idle, KernelScenario, Mode, Urgency, stall_s};
use super::thread;
use crate::Word;
use ::points::{Point, Sink};
use interleavings::subject::{
    Act, AtomicOrder, Breach, Fence, Invariant, Kind, Machine, Mark, OnMachine, Operation,
    OperationIndex, Order, Signal, Wait,
};
use itertools::Itertools;
use rcu_faults::IdleNeed::*;
use rcu_faults::Thread::*;
use rcu_faults::{
    Callback, IdleNeed, InterruptedCode, Platform, RcuTimer, Scalar, Stall, Step, Thread,
};
use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::panic::Location;

/// A task: it reads, or not, and some CPU runs it, or none.
#[derive(Default)]
struct Task {
    /// The object that it sees.
    sees: Cell<Option<usize>>,
    depth: Cell<u32>,
    running: Cell<bool>,
    /// Signal of the CPU that ran the task last, for the next one.
    told: Cell<Signal>,
}

#[derive(Default)]
struct ThreadState {
    woken: Cell<bool>,
    until: Cell<Option<u64>>,
    running: Cell<bool>,
    /// Signals of wake-ups, and of the CPU that ran the thread last.
    told: Cell<Signal>,
    /// The moment at which its last step ended that found something to do.
    worked: Cell<u64>,
}

impl ThreadState {
    /// True if it does nothing until somebody wakes it.
    fn sleeps(&self) -> bool {
        !self.running.get() && !self.woken.get() && self.until.get().is_none()
    }
}

/// The activity of a CPU, as the clock sees it.
#[derive(Clone, Copy, Default)]
enum Occupation {
    #[default]
    Work,
    /// Done with this jiffy.
    Done(u64),
    /// Idle until this jiffy, and what RCU needs of it meanwhile.
    Idle(u64, IdleNeed),
    /// Off until this jiffy.
    Off(u64),
}

#[derive(Default)]
struct CpuState {
    doing: Cell<Occupation>,
    ticked: Cell<u64>,
    /// The jiffy in which it began its present work.
    began: Cell<u64>,
    softirq: Cell<bool>,
    in_softirq: Cell<bool>,
    resched: Cell<bool>,
    /// Signals of the CPUs that sent the interrupt.
    told: Cell<Signal>,
    /// A thread is to run here, or a CPU that went off is to be looked after.
    kicked: Cell<bool>,
    task: Cell<Option<usize>>,
    may_wake: Cell<bool>,
}

/// The kernel. One value stands for all of it; what a CPU does acts on the process that runs.
pub(crate) struct Kernel {
    pub(crate) machine: Machine,
    pub(crate) jiffies: Cell<u64>,
    /// The jiffy of each group's timer, and what was told by the CPU that set it.
    pub(crate) timers: RefCell<BTreeMap<usize, (u64, Signal)>>,
    pub(crate) scenario: RefCell<KernelScenario>,
    pub(crate) mode: Mode,
    oracle: RefCell<Oracle>,
    ended: Cell<bool>,
    states: Vec<CpuState>,
    tasks: Vec<Task>,
    /// The first of the words that point to objects.
    pub(crate) pointers: Cell<u16>,
    /// The first object, as plain data.
    pub(crate) objects: Cell<u32>,
    threads: RefCell<BTreeMap<Thread, ThreadState>>,
    /// A CPU goes off or comes up; and one that has gone off and whose callbacks are still there.
    hotplug_busy: Cell<bool>,
    hotplug: Cell<Signal>,
    gone: Cell<Option<usize>>,
    /// CPUs that have done all their actions, and the jiffy within which all callbacks must then
    /// have been invoked.
    finished: Cell<usize>,
    end: Cell<Option<u64>>,
}

/// A CPU waits for the next jiffy.
const FOR_JIFFY: Wait = Wait::Other(0);
/// A CPU has nothing to do.
const FOR_WORK: Wait = Wait::Other(1);

/// Jiffies for which callbacks may wait after the work: more than the twenty seconds of lazy ones
/// where CPUs share a thread.
const PATIENCE: u64 = 22 * super::library::HZ;

impl Kernel {
    /// A kernel on a machine, with RCU configured in this way.
    pub(crate) fn new(machine: Machine, mode: Mode) -> Self {
        let cpus = machine.cpus().len();
        Self {
            machine,
            jiffies: Cell::new(0),
            timers: RefCell::default(),
            scenario: RefCell::default(),
            mode,
            oracle: RefCell::default(),
            ended: Cell::new(false),
            states: (0..cpus).map(|_| CpuState::default()).collect(),
            tasks: (0..cpus + 1).map(|_| Task::default()).collect(),
            pointers: Cell::new(0),
            objects: Cell::new(0),
            threads: RefCell::default(),
            hotplug_busy: Cell::new(false),
            hotplug: Cell::default(),
            gone: Cell::new(None),
            finished: Cell::new(0),
            end: Cell::new(None),
        }
    }

    /// The number of readers that there are: the tasks, of which there is one more than CPUs, and
    /// one for each CPU.
    pub(crate) fn readers(&self) -> usize {
        self.tasks.len() + self.states.len()
    }

    /// Starts anew: each CPU runs the task of its number.
    pub(crate) fn begin(&self, threads: &[Thread], objects: usize) {
        let cpus = self.states.len();
        self.jiffies.set(0);
        self.timers.borrow_mut().clear();
        self.oracle
            .replace(Oracle::new(self.readers(), objects, cpus));
        self.ended.set(false);
        for (cpu, state) in self.states.iter().enumerate() {
            state.doing.set(Work);
            state.ticked.set(0);
            state.began.set(0);
            state.softirq.set(false);
            state.in_softirq.set(false);
            state.resched.set(false);
            state.told.take();
            state.kicked.set(false);
            state.task.set(Some(cpu));
            state.may_wake.set(true);
        }
        for (number, task) in self.tasks.iter().enumerate() {
            task.sees.set(None);
            task.depth.set(0);
            task.running.set(number < cpus);
            task.told.take();
        }
        self.threads.replace(
            threads
                .iter()
                .map(|&thread| (thread, ThreadState::default()))
                .collect(),
        );
        self.hotplug_busy.set(false);
        self.hotplug.take();
        self.gone.set(None);
        self.finished.set(0);
        self.end.set(None);
    }

    pub(crate) fn oracle(&self) -> RefMut<'_, Oracle> {
        self.oracle.borrow_mut()
    }

    /// Writes in the oracle, and fails the run if it says so: nothing is borrowed where it ends.
    fn keep(&self, write: impl FnOnce(&mut Oracle) -> Result<(), Breach>) {
        let result = write(&mut self.oracle());
        self.hold(result);
    }

    fn jiffy(&self) -> u64 {
        self.jiffies.get()
    }

    fn goes_on(&self) -> bool {
        !self.ended.get() && !self.is_over()
    }

    fn act(&self, act: &'static Act, with: usize) {
        self.machine.act(Operation::Act {
            act,
            with: u64::from(with as u32),
        });
    }

    /// Ends what a process waits for, if it waits.
    fn rouse(&self, process: usize) {
        if !self.is_awake(process) {
            self.unblock(process);
        }
    }

    /// A load of a shared word. RCU does not poll words, so two loads of one in a row are no wait
    /// for it.
    #[inline(always)]
    pub(crate) fn load(&self, cell: u16, order: Order) -> u64 {
        self.cpu().forget_polled();
        self.machine.load(cell, order)
    }

    /// Jiffies after which a grace period counts as stalled.
    fn patience(&self) -> u64 {
        stall_s(&self.scenario.borrow()) * super::library::HZ
    }

    // --- Threads and time
    // ---------------------------------------------------------------------------

    /// True if a thread could run that nobody runs.
    fn ready(&self, state: &ThreadState) -> bool {
        let now = self.jiffy();
        !state.running.get()
            && (state.woken.get() || state.until.get().is_some_and(|until| until <= now))
    }

    fn thread_is_ready(&self) -> bool {
        self.threads
            .borrow()
            .values()
            .any(|state| self.ready(state))
    }

    /// A thread that could run and that nobody runs; it is marked as running.
    fn take_thread(&self, which: usize) -> Option<Thread> {
        let threads = self.threads.borrow();
        let ready = threads.iter().filter(|(_, state)| self.ready(state));
        let ready = ready.collect_vec();
        let &(&thread, state) = ready.get(which % ready.len().max(1))?;
        state.running.set(true);
        Some(thread)
    }

    /// Ends the sleep of an idle CPU, so that somebody does what is to be done.
    fn kick_idle_cpu(&self) {
        let idle = |state: &&CpuState| matches!(state.doing.get(), Idle(..)) && !state.kicked.get();
        if let Some(cpu) = self.states.iter().position(|state| idle(&state)) {
            self.states[cpu].kicked.set(true);
            self.rouse(cpu);
        }
    }

    /// The clock's process.
    pub(crate) fn clock(&self) {
        while self.goes_on() {
            let now = self.jiffy();
            let passes = self.passes(now);
            let mut states = self.states.iter();
            let Some(cpus) = states.try_fold(u64::MAX, |first, state| match state.doing.get() {
                Work if passes => Some(first.min(now + 1)),
                _ => Some(first.min(self.next_event(state, now)?)),
            }) else {
                self.block(FOR_WORK);
                continue;
            };
            if !passes {
                self.hold(self.somebody_wakes());
            }
            let timers = self.timers.borrow();
            let threads = self.threads.borrow();
            let untils = threads.values().filter_map(|state| state.until.get());
            let due = untils.chain(timers.values().map(|&(at, _)| at)).min();
            let due = due.unwrap_or(u64::MAX);
            drop((threads, timers));
            let end = self.end.get().unwrap_or(u64::MAX);
            let next = cpus.min(due).clamp(now + 1, end.max(now + 1));
            self.jiffies.set(next);
            if next >= end || self.end.get().is_some() && self.oracle().left == 0 {
                self.ended.set(true);
                let left = self.oracle().one_left();
                if let Some(number) = left {
                    self.fail(Invariant::NoCallbackLost, format!(
                        "callback {number} is not invoked, {PATIENCE} jiffies after all work was done"
                    ));
                }
            }
            if due <= next {
                self.kick_idle_cpu();
            }
            for (cpu, state) in self.states.iter().enumerate() {
                if self.ended.get()
                    || self
                        .next_event(state, now)
                        .is_some_and(|event| event <= next)
                {
                    self.rouse(cpu);
                }
            }
            self.operation(Operation::Act {
                act: &JIFFY,
                with: u64::from(next as u32),
            });
        }
    }

    /// True if the clock moves on though one CPU has not done its work: it may stand still for up to
    /// three jiffies, with its interrupts off.
    fn passes(&self, now: u64) -> bool {
        let works = |state: &&CpuState| matches!(state.doing.get(), Work);
        let mut works = self.states.iter().filter(works);
        let is_due = works
            .next()
            .is_some_and(|state| now < state.began.get() + STANDS);
        is_due && works.next().is_none() && self.answer(Kind::ClockPasses, 2) == 1
    }

    /// The jiffy in which this CPU goes on; none if it still works in the present one.
    fn next_event(&self, state: &CpuState, now: u64) -> Option<u64> {
        match state.doing.get() {
            Work => None,
            Done(jiffy) => (jiffy >= now).then_some(now + 1),
            Idle(..) if state.kicked.get() || state.resched.get() => None,
            Idle(until, _) if until <= now => None,
            Idle(_, KeepTick) if state.ticked.get() < now => None,
            Idle(_, WakeAt(at)) if at <= now => None,
            Idle(_, KeepTick) => Some(now + 1),
            Idle(until, WakeAt(at)) => Some(until.min(at)),
            Idle(until, StopTick) => Some(until),
            Off(until) if until <= now => None,
            Off(until) => Some(until),
        }
    }

    /// Lets the clock go on until something happens here.
    fn wait_until(&self, doing: Occupation, happened: impl Fn() -> bool) {
        let state = &self.states[self.process()];
        state.doing.set(doing);
        // The clock ends first.
        if self.goes_on() {
            self.rouse(self.last_process());
        }
        let waits = if matches!(doing, Done(_)) {
            FOR_JIFFY
        } else {
            FOR_WORK
        };
        while !happened() && self.goes_on() {
            self.block(waits);
        }
        state.doing.set(Work);
        state.began.set(self.jiffy());
    }

    fn due_timer(&self) -> Option<usize> {
        let now = self.jiffy();
        let mut timers = self.timers.borrow_mut();
        let (group, told) = timers
            .iter()
            .find(|(_, (at, _))| *at <= now)
            .map(|(&group, &(_, told))| (group, told))?;
        timers.remove(&group);
        self.hear(&Cell::new(told));
        Some(group)
    }

    /// A thread has made a step.
    fn has_stepped(&self, thread: Thread, step: Step) {
        let threads = self.threads.borrow();
        let state = &threads[&thread];
        let Step::Sleep { until } = step else {
            state.until.set(Some(0));
            return state.worked.set(self.oracle().next_moment());
        };
        state.until.set(until);
    }

    /// CPUs whose offloaded ones share a thread.
    fn stride(&self) -> usize {
        self.states.len() / self.states.len().isqrt()
    }

    /// While no CPU works: of a callback that an offloaded CPU queued, somebody wakes the threads
    /// that look after it and invoke it. A thread that sleeps is known to sleep, and waits for what
    /// is still to come.
    fn somebody_wakes(&self) -> Result<(), Breach> {
        let threads = self.threads.borrow();
        let sleeps = |thread: Thread| threads.get(&thread).is_none_or(ThreadState::sleeps);
        let breach = |what: String| Err((Invariant::SoonEnough, what));
        let of_rcu = usize::from(self.pointers.get()) - OF_RCU.len();
        let groups = usize::from(self.names().counts[1]);
        let of_groups = of_rcu - groups * OF_GROUP.len();
        let of_cpus = of_groups - self.states.len() * OF_RCU_CPU.len();
        let word = |at: usize| self.memory().newest(at as u16);
        let ended = word(of_rcu);
        // What was asked for at the root of the tree.
        if sleeps(GracePeriod) && ended.is_multiple_of(2) && word(4) > ended {
            return breach("a grace period is asked for, and nobody wakes the thread".to_owned());
        }
        for cpu in 0..self.states.len() {
            let group = cpu / self.stride();
            let [thread, invokes] = [OffloadGp(group), OffloadCb(cpu)];
            let modern = threads.contains_key(&invokes);
            let timer = self.timers.borrow().get(&group).map(|&(at, _)| at);
            let thread = if modern { thread } else { Offload(cpu) };
            let of_cpu = of_cpus + cpu * OF_RCU_CPU.len();
            let of_group = of_groups + group * OF_GROUP.len();
            let wrong = |name: Thread, what: &str| {
                breach(format!("{} {what}", thread::name(thread::number(name))))
            };
            if modern && sleeps(invokes) && word(of_cpu + 2) == 0 {
                return wrong(invokes, "sleeps, and is said to be awake");
            }
            if modern && timer.is_none() && word(of_group + 2) != 0 {
                return wrong(thread, "is to be woken later, and no timer is set");
            }
            let Some(state) = threads.get(&thread).filter(|state| state.sleeps()) else {
                continue;
            };
            if modern && word(of_group + 1) == 0 {
                return wrong(thread, "sleeps, and is said to be awake");
            }
            let leader = if modern { group * self.stride() } else { cpu };
            let waits_for = word(of_cpus + leader * OF_RCU_CPU.len() + 3);
            if (1..=ended).contains(&waits_for) {
                return wrong(thread, "waits for a grace period that has ended");
            }
            let for_nothing = waits_for == 0 && sleeps(invokes);
            if let Some((number, at, may_wait)) = self.oracle().first_left(cpu)
                && (for_nothing || at > state.worked.get())
                && timer.is_none_or(|at| !may_wait && at > self.jiffy() + 2)
            {
                let thread = thread::name(thread::number(thread));
                let what = format!("callback {number} is queued, and nobody wakes {thread}");
                return Err((Invariant::NoCallbackLost, what));
            }
        }
        Ok(())
    }
}

/// A CPU, and the library that it runs.
pub(crate) struct RunningCpu<'k> {
    kernel: &'k Kernel,
    rcu: &'k Library<Kernel>,
    cpu: usize,
    state: &'k CpuState,
}

impl Deref for RunningCpu<'_> {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        self.kernel
    }
}

impl<'k> RunningCpu<'k> {
    pub(crate) fn new(kernel: &'k Kernel, rcu: &'k Library<Kernel>, cpu: usize) -> Self {
        let state = &kernel.states[cpu];
        Self {
            kernel,
            rcu,
            cpu,
            state,
        }
    }

    /// The life of a CPU: its actions, and then what RCU wants of it.
    pub(crate) fn runs(&self) {
        for number in 0.. {
            self.boundary();
            if !self.goes_on() {
                return;
            }
            let action = self.scenario.borrow().action_of(self.cpu, number);
            let Some(action) = action else { break };
            self.start_action(number);
            self.does(action);
        }
        // What RCU wants is no action, and is counted by itself.
        let actions = self.scenario.borrow().cpus[self.cpu].len();
        self.count_operations_from(self.cpu, OperationIndex::start_of(actions));
        self.finished.set(self.finished.get() + 1);
        if self.finished.get() == self.states.len() {
            self.oracle().done_at = Some(self.jiffy());
            self.end.set(Some(self.jiffy() + PATIENCE));
        }
        while self.goes_on() {
            self.wind_up();
            self.end_jiffy();
            if self.goes_on() {
                self.boundary();
            }
        }
    }

    fn does(&self, action: Action) {
        let now = self.jiffy();
        match action {
            Action::Read(pointer) => self.read(pointer),
            Action::Leave => {
                if let Some(task) = self
                    .state
                    .task
                    .get()
                    .filter(|&task| self.tasks[task].depth.get() > 0)
                {
                    self.leave(task);
                }
            }
            Action::Replace {
                pointer,
                urgency,
                atomic,
            } => {
                self.state.may_wake.set(!atomic);
                self.replace(pointer, urgency);
                self.state.may_wake.set(true);
            }
            Action::Switch(to) => self.switch(usize::from(to)),
            Action::Thread { which, steps } => self.run_thread(usize::from(which), steps),
            Action::Idle(device) => self.idle(now + u64::from(device.jiffies), device),
            Action::Off(jiffies) if self.cpu > 0 => self.go_off(jiffies),
            Action::Off(_) => {}
            Action::Jiffy => self.end_jiffy(),
        }
    }

    /// After the work: all read sections end, and then there is nothing to do but what RCU wants.
    fn wind_up(&self) {
        if let Some(task) = self.state.task.get() {
            while self.tasks[task].depth.get() > 0 {
                self.leave(task);
            }
        }
        let reader = || {
            self.tasks
                .iter()
                .position(|task| task.depth.get() > 0 && !task.running.get())
        };
        let reading = reader().is_some();
        // For some jiffies threads come to one step each.
        self.run_thread(0, if self.jiffy() % 8 < 4 { 1 } else { 12 });
        if reading || self.scenario.borrow().busy_end {
            self.switch(reader().unwrap_or(self.cpu));
        } else {
            self.idle(u64::MAX, Idle::default());
        }
    }

    /// Between two actions: interrupts come in.
    fn boundary(&self) {
        let Self { state, cpu, .. } = *self;
        self.pause();
        if self.tick_comes() {
            self.interrupt(true, InterruptedCode::Kernel);
        }
        if state.softirq.get() {
            self.interrupt(false, InterruptedCode::Kernel);
        }
        if state.resched.replace(false) {
            self.hear(&state.told);
            self.switch(self.cpu);
        }
        if let Some(gone) = self.gone.take() {
            self.hear(&self.hotplug);
            let rcu = &self.rcu.rcu;
            let is_own = |cpu: usize| !rcu.settings().offloaded.contains(&cpu);
            let mut ready = rcu.ready_callbacks(cpu);
            if is_own(gone) {
                ready += rcu.ready_callbacks(gone);
                self.oracle().takes_over(gone, cpu, rcu.callbacks(gone));
            }
            rcu.migrate_callbacks(self, gone);
            if is_own(cpu) && rcu.ready_callbacks(cpu) < ready {
                self.fail(Invariant::SoonEnough, format!(
                    "callbacks of CPU {gone}, whose grace period has ended, wait again on CPU {cpu}"
                ));
            }
            self.tell(&self.hotplug);
            self.hotplug_busy.set(false);
        }
    }

    /// True if the tick of this jiffy comes here, where it could; it may come as late as at the end
    /// of the jiffy's work.
    fn tick_comes(&self) -> bool {
        let (state, now) = (&self.state, self.jiffy());
        let comes = state.ticked.get() < now && self.answer(Kind::LateTick, 2) == 0;
        if comes {
            state.ticked.set(now);
        }
        comes
    }

    /// The CPU has done its work of this jiffy.
    fn end_jiffy(&self) {
        let now = self.jiffy();
        if self.state.ticked.replace(now) < now {
            self.interrupt(true, InterruptedCode::Kernel);
        }
        self.wait_until(Done(now), || self.jiffy() > now);
    }

    /// The reader that runs on a CPU.
    fn current(&self) -> usize {
        self.state.task.get().unwrap_or_else(|| self.nobody())
    }

    /// The reader that stands for a CPU's idle task, its interrupts and its threads.
    fn nobody(&self) -> usize {
        self.tasks.len() + self.cpu
    }

    /// An interrupt: the tick or another, then timers that are due, then the softirq, at most three
    /// times.
    fn interrupt(&self, tick: bool, interrupted: InterruptedCode) {
        self.act(&INTERRUPTED, 0);
        self.rcu.rcu.irq_enter(self);
        if tick {
            let current = self.current();
            let user = self.scenario.borrow().user_ticks && self.state.task.get().is_some();
            let reads = self.rcu.readers[current].is_reading();
            let from_user = interrupted == InterruptedCode::Kernel && user && !reads;
            if from_user || self.scenario.borrow().preemptible && !reads {
                self.oracle().was_quiet(self.cpu);
            }
            self.tick(
                if from_user {
                    InterruptedCode::User
                } else {
                    interrupted
                },
                current,
            );
        }
        while let Some(group) = self.due_timer() {
            self.rcu.rcu.timer(self, RcuTimer { group });
        }
        for _ in 0..3 {
            if self.state.softirq.replace(false) && self.core() {
                self.state.softirq.set(true);
            }
        }
        self.rcu.rcu.irq_exit(self);
    }

    /// The softirq; whether callbacks are left for another one.
    fn core(&self) -> bool {
        self.oracle().saw(Count::SoftirqRuns);
        self.state.in_softirq.set(true);
        let more = self.rcu.rcu.core(self);
        self.state.in_softirq.set(false);
        more
    }

    /// A tick that interrupts a handler: it runs no softirq, and nobody is quiet.
    fn nested_tick(&self) {
        self.state.ticked.set(self.jiffy());
        self.act(&INTERRUPTED, 0);
        self.rcu.rcu.irq_enter(self);
        self.tick(InterruptedCode::Kernel, self.nobody());
        self.rcu.rcu.irq_exit(self);
    }

    /// RCU's part of a tick, after which a grace period that lasts for too long was reported.
    fn tick(&self, interrupted: InterruptedCode, current: usize) {
        let reader = &self.rcu.readers[current];
        self.rcu.rcu.tick(self, interrupted, reader);
        self.keep(|oracle| oracle.ticked(self.jiffy(), self.patience()));
    }

    fn read(&self, pointer: u8) {
        let Some(task) = self.state.task.get() else {
            return;
        };
        let depth = self.tasks[task].depth.get();
        if depth < DEPTH {
            self.rcu.read_lock(task);
            self.tasks[task].depth.set(depth + 1);
            if depth == 0 {
                self.oracle().read_starts(task);
                let object =
                    self.load(self.pointers.get() + u16::from(pointer), Order::Relaxed) as usize;
                self.tasks[task].sees.set(Some(object));
                self.act(&READS, object);
            }
        }
        self.look(task);
    }

    fn look(&self, task: usize) {
        if let Some(object) = self.tasks[task].sees.get() {
            self.look_at(task, object);
        }
    }

    fn look_at(&self, reader: usize, object: usize) {
        self.act(&acts::LOOKS, object);
        let plain = self.objects.get() + object as u32;
        self.watch_plain(plain, false, Location::caller(), None);
        self.keep(|oracle| oracle.look(reader, object));
    }

    fn leave(&self, task: usize) {
        let depth = self.tasks[task].depth.get() - 1;
        if depth == 0 {
            self.look(task);
            self.tasks[task].sees.set(None);
            self.oracle().read_ends(task);
        }
        self.tasks[task].depth.set(depth);
        self.act(&LEAVES, task);
        self.rcu.read_unlock(self, task);
    }

    /// Replaces an object, and has the old one freed.
    fn replace(&self, pointer: u8, urgency: Urgency) {
        let new = self.oracle().object();
        self.memory_mut().watch_plain(1);
        let word = self.pointers.get() + u16::from(pointer);
        // The least that hides an object. Who replaces the same one holds a lock of the kernel's.
        let old = self.swap(word, new as u64, AtomicOrder::Relaxed);
        let number = self.oracle().queue(
            self.process(),
            old as usize,
            self.jiffy(),
            self.mode.puts_off(urgency),
        );
        self.act(&QUEUES, number);
        if self.mode.is_lazy(urgency, self.process()) {
            self.oracle().saw(Count::Lazy);
        }
        let callback = Callback {
            function: self.cpu as u32,
            argument: number as u64,
            urgency: match urgency {
                Urgency::Plain => rcu_faults::Urgency::Plain,
                Urgency::Lazy => rcu_faults::Urgency::Lazy,
                Urgency::Hurry => rcu_faults::Urgency::Hurry,
            },
        };
        self.rcu.rcu.call(self, callback);
    }

    /// Another task runs, if one is free; the one before may be in the middle of reading.
    fn switch(&self, to: usize) {
        self.put_task();
        self.take_task(to);
    }

    fn put_task(&self) {
        self.act(&SWITCHES, 0);
        self.oracle().was_quiet(self.cpu);
        self.rcu.context_switch(self, self.current());
        if let Some(task) = self.state.task.take() {
            self.tell(&self.tasks[task].told);
            self.tasks[task].running.set(false);
        }
    }

    fn take_task(&self, first: usize) {
        let count = self.tasks.len();
        if let Some(task) = (0..count)
            .map(|index| (first + index) % count)
            .find(|&task| !self.tasks[task].running.get())
        {
            self.tasks[task].running.set(true);
            self.hear(&self.tasks[task].told);
            self.state.task.set(Some(task));
        }
    }

    /// Some steps of a thread that is ready, with interrupts between them.
    fn run_thread(&self, which: usize, steps: u8) {
        let Some(thread) = self.take_thread(which) else {
            return;
        };
        self.put_task();
        for _ in 0..steps {
            self.act(&STEPS, thread::number(thread));
            {
                // Another CPU may have run it last, or woken it.
                let threads = self.threads.borrow();
                threads[&thread].woken.set(false);
                self.hear(&threads[&thread].told);
            }
            let step = match thread {
                GracePeriod => self.rcu.rcu.grace_period_thread(self),
                other => self.rcu.rcu.offload_thread(self, other),
            };
            self.has_stepped(thread, step);
            // An interrupt may come between the decision to sleep and the sleep.
            let tick = self.tick_comes();
            if tick || self.state.softirq.get() {
                self.interrupt(tick, InterruptedCode::Kernel);
            }
            if step != Step::Again || !self.goes_on() {
                break;
            }
        }
        // Others may go until it has settled: nothing is borrowed then.
        self.settle();
        {
            let threads = self.threads.borrow();
            self.tell(&threads[&thread].told);
            threads[&thread].running.set(false);
        }
        // Whoever woke it while it ran found nobody to run it; it may be ready still.
        self.oracle().was_quiet(self.cpu);
        self.rcu.context_switch(self, self.nobody());
        self.take_task(self.cpu);
    }

    fn idle(&self, until: u64, device: Idle) {
        let state = &self.state;
        self.put_task();
        let mut need = self.idle_need();
        self.act(&IDLES, 0);
        // Nobody reads here any more, and RCU may know before its call returns.
        self.oracle().is_quiet(self.cpu, true);
        self.rcu.rcu.idle_enter(self);
        state.kicked.set(false);
        // The device's interrupt comes a jiffy later, or with a tick that comes before.
        let mut interrupt_at = if device.looks > 0 || device.replaces {
            self.jiffy() + 1
        } else {
            u64::MAX
        };
        // What became ready while this CPU was awake has kicked nobody.
        while !self.thread_is_ready() && self.gone.get().is_none() && self.goes_on() {
            let timed = || match need {
                _ if interrupt_at <= self.jiffy() => true,
                StopTick => false,
                KeepTick => state.ticked.get() < self.jiffy(),
                WakeAt(at) => at <= self.jiffy(),
            };
            let leave = || self.jiffy() >= until || state.kicked.get() || state.resched.get();
            self.wait_until(Idle(until.min(interrupt_at), need), || timed() || leave());
            if leave() {
                break;
            }
            if timed() {
                let tick = interrupt_at > self.jiffy();
                interrupt_at = u64::MAX;
                state.ticked.set(self.jiffy());
                self.act(&INTERRUPTED, 0);
                self.rcu.rcu.irq_enter(self);
                self.oracle().is_quiet(self.cpu, false);
                if tick {
                    self.tick(InterruptedCode::Idle, self.nobody());
                }
                self.device(device);
                need = self.idle_need();
                self.oracle().is_quiet(self.cpu, true);
                self.rcu.rcu.irq_exit(self);
            }
        }
        state.kicked.set(false);
        self.rcu.rcu.idle_exit(self);
        self.oracle().is_quiet(self.cpu, false);
        self.take_task(self.cpu);
    }

    /// A device's interrupt on an idle CPU: its handler reads, and replaces what it read. It may
    /// last for jiffies, in which the others go on.
    fn device(
        &self,
        Idle {
            looks,
            replaces,
            lasts,
            ..
        }: Idle,
    ) {
        if self.end.get().is_some() {
            return;
        }
        let reader = self.nobody();
        if looks > 0 {
            self.rcu.read_lock(reader);
            self.oracle().read_starts(reader);
            let object = self.load(self.pointers.get(), Order::Relaxed) as usize;
            for look in 0..looks.max(lasts) {
                self.look_at(reader, object);
                if look < lasts && self.goes_on() {
                    let now = self.jiffy();
                    self.wait_until(Done(now), || self.jiffy() > now);
                    self.nested_tick();
                }
            }
            self.oracle().read_ends(reader);
            self.act(&LEAVES, reader);
            self.rcu.read_unlock(self, reader);
        }
        if replaces {
            self.replace(0, Urgency::Plain);
        }
    }

    /// Runs softirqs and asks what RCU needs, until it needs no softirq any more.
    fn idle_need(&self) -> IdleNeed {
        loop {
            while self.state.softirq.replace(false) {
                if self.core() {
                    self.state.softirq.set(true);
                }
            }
            let need = self.rcu.rcu.idle_need(self);
            if !self.state.softirq.get() {
                return need;
            }
        }
    }

    fn go_off(&self, jiffies: u8) {
        if self.hotplug_busy.replace(true) {
            return;
        }
        self.hear(&self.hotplug);
        let state = &self.state;
        self.put_task();
        self.act(&GOES_OFF, 0);
        self.oracle().is_quiet(self.cpu, true);
        if self.rcu.rcu.cpu_offline(self).is_err() {
            self.oracle().is_quiet(self.cpu, false);
            self.hotplug_busy.set(false);
            return self.take_task(self.cpu);
        }
        state.softirq.set(false);
        self.tell(&self.hotplug);
        self.gone.set(Some(self.cpu));
        self.kick_idle_cpu();
        let mut until = self.jiffy() + u64::from(jiffies);
        while self.goes_on() {
            self.wait_until(Off(until), || self.jiffy() >= until);
            // Its callbacks must have been taken over, and no other CPU be on its way.
            if !self.hotplug_busy.replace(true) {
                self.act(&COMES_UP, 0);
                self.hear(&self.hotplug);
                self.rcu.rcu.cpu_online(self);
                self.oracle().is_quiet(self.cpu, false);
                self.tell(&self.hotplug);
                self.hotplug_busy.set(false);
                break;
            }
            until = self.jiffy() + 1;
        }
        state.resched.set(false);
        self.take_task(self.cpu);
    }
}

impl Deref for Kernel {
    type Target = Machine;

    #[inline(always)]
    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl OnMachine for Kernel {
    // As Linux's atomics that return a value.
    const ATOMICS: AtomicOrder = AtomicOrder::Full;

    #[inline(always)]
    fn machine(&self) -> &Machine {
        &self.machine
    }

    #[inline(always)]
    fn load_ordered(&self, cell: u16) -> u64 {
        self.load(cell, Order::Ordered)
    }
}

impl Platform for Kernel {
    type Shared<T: Scalar> = Word<T>;
    type Watch = Mark;

    fn barrier(&self) {
        self.fence(Fence::Full);
    }

    fn this_cpu(&self) -> usize {
        self.process()
    }

    fn jiffies(&self) -> u64 {
        self.jiffy()
    }

    fn raise_softirq(&self) {
        self.oracle().saw(Count::Softirqs);
        self.states[self.process()].softirq.set(true);
    }

    fn wake(&self, thread: Thread) {
        self.oracle().saw(if thread == GracePeriod {
            Count::GracePeriodWakes
        } else {
            Count::OffloadWakes
        });
        // Others may go until it has settled: nothing is borrowed then.
        self.settle();
        {
            let threads = self.threads.borrow();
            self.tell(&threads[&thread].told);
            threads[&thread].woken.set(true);
        }
        self.kick_idle_cpu();
    }

    fn resched(&self, cpu: usize) {
        self.oracle().saw(Count::Interrupts);
        self.tell(&self.states[cpu].told);
        self.states[cpu].resched.set(true);
        if matches!(self.states[cpu].doing.get(), Idle(..)) {
            self.rouse(cpu);
        }
    }

    fn set_timer(&self, timer: RcuTimer, at_jiffy: u64) {
        let told = Cell::default();
        self.tell(&told);
        self.timers
            .borrow_mut()
            .insert(timer.group, (at_jiffy, told.get()));
    }

    fn cancel_timer(&self, timer: RcuTimer) {
        self.timers.borrow_mut().remove(&timer.group);
    }

    fn invoke(&self, callback: Callback) {
        let number = callback.argument as usize;
        self.act(&INVOKES, number);
        let by_softirq = self.states[self.process()].in_softirq.get();
        self.oracle().saw(if by_softirq {
            Count::BySoftirq
        } else {
            Count::ByThread
        });
        self.keep(|oracle| oracle.invoke(number));
        // Whoever frees an object writes to it, after all who read it.
        let object = self.oracle().frees(number);
        self.watch_plain(
            self.objects.get() + object as u32,
            true,
            Location::caller(),
            None,
        );
        self.keep(|oracle| oracle.was_in_time(number, self.jiffy()));
    }

    fn stall(&self, stall: &Stall) {
        let jiffy = self.jiffy();
        self.keep(|oracle| oracle.stalled(stall, jiffy, self.patience()));
    }

    fn may_wake(&self) -> bool {
        self.states[self.process()].may_wake.get()
    }

    /// Waits until the word of a lock that could not be had changes.
    fn lock_wait(&self, _: u32) {
        let word = self.cpu().last_atomic();
        self.block(Wait::Change(word));
    }
}

impl Sink for Kernel {
    fn now(&self) -> u64 {
        u64::from(self.step_count())
    }

    fn capture(&self, point: Point, number: u32, _: u64) {
        use rcu_faults::points::rcu::{
            FORCE_QUIESCENT_STATE, GRACE_PERIOD_END, GRACE_PERIOD_START,
        };
        if point == GRACE_PERIOD_START {
            self.keep(|oracle| oracle.grace_period_starts(number, self.jiffy()));
        } else if point == FORCE_QUIESCENT_STATE {
            self.oracle().saw(Count::Looks);
        } else if point == GRACE_PERIOD_END {
            self.keep(|oracle| oracle.grace_period_ends(number));
        }
    }
}
