//! The machine: CPUs and one process more, without any notion of time. What they are about is the
//! subject's.

use crate::choice::{Deviation, HELD, Kind};
use crate::dpor::Access;
use crate::failure::{Failure, Invariant};
use crate::memory::{Answers, Memory};
use crate::names::Names;
use crate::options::{CPUS_PER_CLUSTER, Limits};
use crate::place::OperationIndex;
use crate::ready::Ready;
use crate::spin::Spin;
use crate::step::{Did, Step};
use crate::strategy::{Chooser, NOBODY, RandomChoices};
use crate::watchdog::beat;
use engine::Scheduler;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// The event that a CPU's process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It waits for nothing.
    Nothing,
    /// An event, in WFE.
    Event,
    /// A word to change: it was read twice in a row and nothing else was done.
    Change(u16),
    /// The same, in a loop, as far as can be told: it goes on as well when nobody else can.
    Spin(u16),
    /// An interrupt, which may come whenever the process is chosen.
    Interrupt,
    /// The store of the value that a late load of its own has returned.
    LateLoad,
    /// Something of the subject's, which has a number and words for it.
    Other(u8),
    /// Another process to end.
    Process(u8),
    /// It is not there: whoever brings it back says so.
    Absent,
    /// All actions are done.
    Done,
}

/// A CPU of the machine.
pub struct Cpu {
    /// The wait of its process.
    pub waits: Cell<Waits>,
    /// An event has come that it has not waited for yet.
    pub event: Cell<bool>,
    /// The last word that it loaded, its value, and how often in a row.
    pub polled: Cell<(u16, u64, u8)>,
    /// The word of its last atomic.
    pub last_atomic: Cell<u16>,
    /// Its loads since it has done anything else.
    pub(crate) spin: RefCell<Spin>,
}

impl Cpu {
    /// Forgets a run.
    pub fn begin(&self, waits: Waits) {
        self.waits.set(waits);
        self.event.set(false);
        self.polled.set((u16::MAX, 0, 0));
        self.spin.borrow_mut().ends();
    }
}

/// The operations of a CPU since a load, without the values that it loaded: how many there were,
/// and their hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    count: u32,
    hash: u64,
    /// The operation that loaded.
    load: OperationIndex,
}

/// A late load that has got its value, with what its CPU had done meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateLoad {
    pub(crate) process: usize,
    pub(crate) followed: Followed,
}

impl LateLoad {
    /// The store came before the CPU did anything more.
    pub(crate) fn is_at_once(&self) -> bool {
        self.followed.count == 0
    }

    /// It is this operation of this process.
    pub(crate) fn is_at(&self, process: usize, operation: OperationIndex) -> bool {
        (self.process, self.followed.load) == (process, operation)
    }

    /// The choice that made it late.
    pub(crate) fn is_made_by(&self, deviation: &Deviation) -> bool {
        deviation.kind == Kind::LoadLate && self.is_at(usize::from(deviation.process), deviation.operation)
    }
}

/// A machine. One value stands for all of it; an operation acts on the process that runs.
pub struct Machine {
    /// The engine under the machine.
    pub scheduler: Scheduler,
    /// The memory that the CPUs share.
    pub memory: RefCell<Memory>,
    pub(crate) chooser: RefCell<Chooser>,
    /// The choices of this run that differ from the default.
    pub schedule: RefCell<Vec<Deviation>>,
    /// The CPUs.
    pub cpus: Vec<Cpu>,
    /// Processes that can go, as a set of bits.
    pub awake: Cell<u64>,
    asleep: Cell<u64>,
    /// The process that goes next, once the present one gives way.
    next: Cell<Option<usize>>,
    /// The present operation of each process.
    pub operations: Vec<Cell<OperationIndex>>,
    /// Operations of all processes so far.
    pub steps: Cell<u32>,
    /// The limits of the run.
    pub limits: Cell<Limits>,
    /// Nobody makes another operation: the run is over.
    pub over: Cell<bool>,
    /// The failure, if anything broke.
    pub failure: RefCell<Option<Failure>>,
    hash: Cell<u64>,
    /// The same for each process by itself: what it did and got. Code that draws on nothing else
    /// goes on alike from the same number.
    own_hashes: Vec<Cell<u64>>,
    /// By plain data, what its last writer had done by then.
    versions: RefCell<Vec<u64>>,
    /// States from which all was tried, where they are kept.
    pub known: RefCell<Option<HashSet<Vec<u64>>>>,
    /// The run has come to such a state, and ended there.
    pub pruned: Cell<bool>,
    pub(crate) keeps_steps: Cell<bool>,
    pub(crate) log: RefCell<Vec<Step>>,
    /// Accesses of each step are kept, where every run is tried that differs.
    pub(crate) traces: Cell<bool>,
    /// Loops that wait are found by all that they load, not by one word alone.
    pub(crate) spins: Cell<bool>,
    /// Loads that acquire are those of RCpc.
    pub(crate) rcpc: Cell<bool>,
    /// Read-modify-writes are made of exclusives, as on a core without LSE.
    pub exclusives: Cell<bool>,
    /// Loads may be late.
    pub late_loads: Cell<bool>,
    /// Processes whose operations are followed, as a set of bits; see [`Followed`].
    pub(crate) followed: Cell<u64>,
    follows: Vec<Cell<Followed>>,
    /// The late loads of this run that have got their value.
    pub(crate) late: RefCell<Vec<LateLoad>>,
    /// A run has such loads.
    pub(crate) has_late: Cell<bool>,
    /// A late load that is tried without being late, and whether the CPU did the same.
    pub(crate) tried: Cell<Option<(LateLoad, bool)>>,
    /// Names of words and locks.
    pub names: Cell<Names>,
    /// The holder of each lock, by the lock's id, as far as it is told.
    pub holders: RefCell<Vec<(u32, usize)>>,
}

/// Answers of the chooser for an operation, written down where they differ from the default.
pub struct LoggedAnswers<'a> {
    pub chooser: &'a mut Chooser,
    pub schedule: &'a mut Vec<Deviation>,
    pub process: usize,
    pub operation: OperationIndex,
}

impl Answers for LoggedAnswers<'_> {
    #[inline(always)]
    fn answer(&mut self, kind: Kind, options: u32) -> u32 {
        let value = self.chooser.answer(self.process, self.operation, kind, options);
        self.log(kind, value)
    }

    #[inline(always)]
    fn delay(&mut self, kind: Kind) -> u8 {
        const LONGEST: u32 = crate::LONGEST_DELAY as u32;
        let held = HELD as u32;
        let value = match self.chooser {
            Chooser::Dpor(dpor) => held * dpor.hold(kind),
            Chooser::ReplayedChoices(_) => self.chooser.answer(self.process, self.operation, kind, held + 1),
            _ => self.chooser.answer(self.process, self.operation, kind, LONGEST + 1),
        };
        let value = self.log(kind, value);
        if value == held { u8::MAX } else { value as u8 }
    }

    #[inline(always)]
    fn age(&mut self, choices: u32, in_order: u32) -> u32 {
        let value = match self.chooser {
            Chooser::Dpor(dpor) => {
                // A value that came since this process's last step is seen where that goes earlier.
                let older = choices.saturating_sub(1 + in_order);
                match dpor.answer(Kind::LoadAge, older + 1) {
                    0 => 0,
                    nth => in_order + nth,
                }
            }
            _ => self.chooser.answer(self.process, self.operation, Kind::LoadAge, choices),
        };
        self.log(Kind::LoadAge, value)
    }
}

impl LoggedAnswers<'_> {
    #[inline(always)]
    fn log(&mut self, kind: Kind, value: u32) -> u32 {
        if value != 0 {
            let (process, operation) = (self.process as u8, self.operation);
            self.schedule.push(Deviation { process, operation, kind, value: u64::from(value) });
        }
        value
    }
}

impl Machine {
    /// A cold machine whose CPUs lie in clusters of two, with words that hold `values` and that
    /// many of them in a cache line.
    pub fn new(cpus: usize, values: &[u64], cells_per_line: usize) -> Self {
        let clusters: Vec<u8> = (0..cpus).map(|cpu| (cpu / CPUS_PER_CLUSTER) as u8).collect();
        let cpu = |_| Cpu {
            waits: Cell::new(Waits::Nothing),
            event: Cell::new(false),
            polled: Cell::new((u16::MAX, 0, 0)),
            last_atomic: Cell::new(0),
            spin: RefCell::default(),
        };
        Self {
            scheduler: Scheduler::new(cpus + 1),
            memory: RefCell::new(Memory::new(values, cells_per_line, &clusters)),
            chooser: RefCell::new(Chooser::RandomChoices(RandomChoices::new())),
            schedule: RefCell::new(Vec::with_capacity(1024)),
            cpus: (0..cpus).map(cpu).collect(),
            awake: Cell::new(0),
            asleep: Cell::new(0),
            next: Cell::new(None),
            operations: (0..=cpus).map(|_| Cell::new(OperationIndex::default())).collect(),
            steps: Cell::new(0),
            limits: Cell::new(Limits::default()),
            over: Cell::new(false),
            failure: RefCell::default(),
            hash: Cell::new(0),
            own_hashes: (0..=cpus).map(|_| Cell::new(0)).collect(),
            versions: RefCell::default(),
            known: RefCell::default(),
            pruned: Cell::new(false),
            keeps_steps: Cell::new(false),
            log: RefCell::default(),
            traces: Cell::new(false),
            spins: Cell::new(false),
            rcpc: Cell::new(false),
            exclusives: Cell::new(false),
            late_loads: Cell::new(true),
            followed: Cell::new(0),
            follows: (0..=cpus).map(|_| Cell::default()).collect(),
            late: RefCell::default(),
            has_late: Cell::new(false),
            tried: Cell::new(None),
            names: Cell::new(Names::NUMBERS),
            holders: RefCell::new(Vec::with_capacity(16)),
        }
    }

    /// The process that is no CPU.
    #[inline(always)]
    pub fn last_process(&self) -> usize {
        self.cpus.len()
    }

    /// The process that runs.
    #[inline(always)]
    pub fn process(&self) -> usize {
        self.scheduler.current()
    }

    /// The CPU that runs.
    #[inline(always)]
    pub fn cpu(&self) -> &Cpu {
        &self.cpus[self.scheduler.current()]
    }

    /// The present operation of a process.
    #[inline(always)]
    pub fn operation_of(&self, process: usize) -> OperationIndex {
        self.operations[process].get()
    }

    /// Forgets a run: nothing is ready, nothing has happened.
    pub fn forget_run(&self) {
        self.awake.set(0);
        self.asleep.set(0);
        self.next.set(None);
        self.operations.iter().for_each(|operations| operations.set(OperationIndex::default()));
        self.steps.set(0);
        self.over.set(false);
        self.pruned.set(false);
        self.own_hashes.iter().for_each(|hash| hash.set(0));
        self.versions.borrow_mut().clear();
        self.failure.take();
        self.hash.set(0xcbf2_9ce4_8422_2325);
        self.schedule.borrow_mut().clear();
        self.log.borrow_mut().clear();
        self.followed.set(0);
        self.late.borrow_mut().clear();
        self.has_late.set(false);
        self.holders.borrow_mut().clear();
    }

    /// The hash that distinguishes this run from another one: all operations with their values, in
    /// order.
    pub fn hash(&self) -> u64 {
        self.hash.get()
    }

    /// The version of plain data that the process reads, or another one that it writes: what it
    /// does next may depend on it.
    pub(crate) fn mix_plain(&self, plain: u32, writes: bool) {
        let mut versions = self.versions.borrow_mut();
        if versions.len() <= plain as usize {
            versions.resize(plain as usize + 1, 0);
        }
        self.mix(versions[plain as usize]);
        if writes {
            versions[plain as usize] = self.own_hashes[self.process()].get();
        }
    }

    #[inline(always)]
    pub(crate) fn mix(&self, value: u64) {
        let mixed = |hash: u64| (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        self.hash.set(mixed(self.hash.get()));
        let own = &self.own_hashes[self.process()];
        own.set(mixed(own.get()));
    }

    // --- Who goes --------------------------------------------------------------------------------

    #[inline(always)]
    pub(crate) fn ready(&self) -> Ready {
        Ready { awake: self.awake.get(), asleep: self.asleep.get() }
    }

    /// The process can go, when it is chosen.
    pub fn can_go(&self, process: usize) {
        self.awake.set(self.awake.get() | 1 << process);
    }

    /// The CPU sleeps, and an interrupt may wake it whenever it is chosen.
    pub fn sleeps(&self, cpu: usize) {
        self.asleep.set(self.asleep.get() | 1 << cpu);
    }

    /// The process that runs ends what another one waits for.
    pub fn unblock(&self, process: usize) {
        if self.traces.get() && self.awake.get() >> process & 1 == 0 {
            self.note_learns(process, self.process());
        }
        self.go_on(process);
    }

    /// The wait of a process ends, and nobody ended it.
    fn go_on(&self, process: usize) {
        self.can_go(process);
        self.scheduler.wake(process);
    }

    /// The CPU starts an action, and counts its operations anew.
    pub fn start_action(&self, number: usize) {
        self.operations[self.process()].set(OperationIndex::start_of(number));
        self.act(Did::Action { number: number as u8 });
    }

    /// Before an operation: another process may go first, and caches may act on their own.
    #[inline(always)]
    pub fn operation(&self, did: Did) {
        let process = self.process();
        let operation = self.operations[process].get().next();
        self.operations[process].set(operation);
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        beat(process, operation);
        if steps > self.limits.get().steps {
            self.fail(
                Invariant::Livelock,
                format!("nobody gets on after {steps} operations: {}", self.describe_waits()),
            );
        }
        if self.known.borrow().is_some() && !self.has_late.get() {
            self.prune(process);
        }
        self.let_somebody_go(process, operation);
        let operation = self.let_held_stores_leave(process, operation);
        self.mix((process as u64) << 32 | did.number());
        if self.followed.get() >> process & 1 != 0 {
            self.follow(process, did.number(), true);
        }
        if self.traces.get() && (process == self.cpus.len() || did.touches_hardware()) {
            self.note_hardware(did);
        }
        if process < self.cpus.len() {
            let mut memory = self.memory.borrow_mut();
            memory.pass(process);
            self.act_on_their_own(process, operation, &mut memory);
            if memory.paid != 0 {
                drop(memory);
                self.note_paid();
            }
        }
        if self.keeps_steps.get() {
            self.log.borrow_mut().push(Step { process: process as u8, operation, did });
        }
    }

    /// Another process may go before an operation of this one.
    #[inline(always)]
    fn let_somebody_go(&self, process: usize, operation: OperationIndex) {
        if self.traces.get() {
            self.end_step(process);
        }
        let goes = self.chooser.borrow_mut().preempt(process, operation, self.ready());
        if goes != process {
            if goes == NOBODY {
                self.cut();
                self.stay();
            }
            self.schedule.borrow_mut().push(Deviation {
                process: process as u8,
                operation,
                kind: Kind::Preempt,
                value: goes as u64,
            });
            self.give_way_to(goes);
            self.scheduler.advance(0);
        }
        if self.over.get() {
            self.stay();
        }
    }

    /// Stores that were held back until a later one has overtaken them leave the buffer, or not
    /// yet; each is an operation of its own.
    #[inline(always)]
    fn let_held_stores_leave(&self, process: usize, operation: OperationIndex) -> OperationIndex {
        let mut operation = operation;
        while process < self.cpus.len() {
            let overtaken = self.memory.borrow().overtaken(process);
            if overtaken == 0 {
                break;
            }
            let Some(nth) = self.answer(Kind::StoreLeaves, overtaken as u32 + 1).checked_sub(1) else { break };
            self.memory.borrow_mut().let_overtaken_leave(process, nth as usize);
            self.wake_pollers();
            if self.keeps_steps.get() {
                self.log.borrow_mut().push(Step { process: process as u8, operation, did: Did::Own });
            }
            operation = operation.next();
            self.operations[process].set(operation);
            self.let_somebody_go(process, operation);
        }
        operation
    }

    /// Stores that were held back and overtaken leave the buffer one by one: the process is about
    /// to wait, or to end. Others may go before each, so what it waits for may have come: true if
    /// there were any.
    pub(crate) fn drain(&self) -> bool {
        let process = self.process();
        let mut any = false;
        while process < self.cpus.len() {
            let overtaken = self.memory.borrow().overtaken(process);
            if overtaken == 0 {
                break;
            }
            any = true;
            let operation = self.operations[process].get().next();
            self.operations[process].set(operation);
            self.let_somebody_go(process, operation);
            let nth = self.answer(Kind::StoreLeaves, overtaken as u32);
            self.memory.borrow_mut().let_overtaken_leave(process, nth as usize);
            self.wake_pollers();
            if self.keeps_steps.get() {
                self.log.borrow_mut().push(Step { process: process as u8, operation, did: Did::Own });
            }
        }
        any
    }

    /// The present step is about what is no word: events, or hardware and who has power. All steps
    /// of the latter count as dependent. An event touches those who wait for it, and comes to the
    /// same in whatever order several are sent.
    #[cold]
    fn note_hardware(&self, did: Did) {
        if let Some(trace) = &mut self.memory.borrow_mut().trace {
            match did {
                Did::WaitForEvent => trace.push(Access::event(self.process(), true)),
                Did::SendEvent => trace.extend((0..self.cpus.len()).map(|cpu| Access::event(cpu, false))),
                _ => trace.push(Access::HARDWARE),
            }
        }
    }

    /// The event of the process that runs is looked at or taken.
    pub(crate) fn note_event(&self) {
        if self.traces.get() {
            self.note_hardware(Did::WaitForEvent);
        }
    }

    /// A step of the process ends, where every run is tried that differs.
    #[cold]
    fn end_step(&self, process: usize) {
        let mut memory = self.memory.borrow_mut();
        memory.note_step(process);
        if let (Chooser::Dpor(dpor), Some(trace)) = (&mut *self.chooser.borrow_mut(), &mut memory.trace) {
            dpor.end_step(trace);
            trace.clear();
            dpor.are_worth_holding(&memory.worth_holding);
        }
        memory.worth_holding.clear();
        if std::mem::take(&mut memory.redundant) {
            drop(memory);
            self.cut();
        }
    }

    /// The run would repeat another one, and ends.
    fn cut(&self) {
        self.pruned.set(true);
        self.over.set(true);
    }

    /// The run is over: its last step ends.
    pub(crate) fn end_last_step(&self) {
        if self.traces.get() {
            self.end_step(0);
        }
    }

    /// A process knows what another one knew, where every run is tried that differs.
    fn note_learns(&self, process: usize, from: usize) {
        if let Chooser::Dpor(dpor) = &mut *self.chooser.borrow_mut() {
            dpor.learns_from(process, from);
        }
    }

    /// Ends the run if it has come, by choices that are new, to a state from which all was tried.
    #[cold]
    fn prune(&self, process: usize) {
        let Some((preemptions, acts)) = self.chooser.borrow().left_at_a_new_choice() else { return };
        let mut state = vec![process as u64, u64::from(preemptions) << 32 | u64::from(acts), self.awake.get()];
        state.extend(self.own_hashes.iter().map(Cell::get));
        state.extend(self.versions.borrow().iter());
        state.extend(self.cpus.iter().map(|cpu| u64::from(cpu.event.get())));
        self.memory.borrow().state(&mut state);
        if !self.known.borrow_mut().as_mut().is_none_or(|known| known.insert(state)) {
            self.cut();
        }
    }

    /// Forgets all states from which all was tried.
    pub(crate) fn forget_known(&self) {
        self.known.borrow_mut().iter_mut().for_each(HashSet::clear);
    }

    /// Evictions and fills that nobody asked for.
    #[inline(always)]
    fn act_on_their_own(&self, process: usize, operation: OperationIndex, memory: &mut Memory) {
        let mut chooser = self.chooser.borrow_mut();
        let mut schedule = self.schedule.borrow_mut();
        if let Chooser::Every(every) = &mut *chooser {
            for kind in [Kind::Evict, Kind::Fill] {
                let acts_on = |&line: &usize| match kind {
                    Kind::Evict => memory.is_cached(line),
                    _ => memory.may_fill(line),
                };
                let Some(line) = every.act(|| (0..memory.lines()).filter(acts_on)) else { continue };
                let value = line as u64 + 1;
                schedule.push(Deviation { process: process as u8, operation, kind, value });
                if kind == Kind::Evict { memory.evict(line) } else { memory.fill_early(line) }
            }
            return;
        }
        let lines = memory.lines() as u32;
        let mut asked = LoggedAnswers { chooser: &mut chooser, schedule: &mut schedule, process, operation };
        let evicted = asked.answer(Kind::Evict, lines + 1);
        if evicted != 0 {
            memory.evict(evicted as usize - 1);
        }
        let filled = asked.answer(Kind::Fill, lines + 1);
        if filled != 0 {
            memory.fill_early(filled as usize - 1);
        }
    }

    fn give_way_to(&self, process: usize) {
        let bit = 1 << process;
        if self.asleep.get() & bit != 0 {
            self.asleep.set(self.asleep.get() & !bit);
            self.go_on(process);
        }
        self.next.set(Some(process));
    }

    /// The lowest process that can go starts the run.
    pub fn begin(&self) {
        self.next.set(self.ready().first());
    }

    /// The process that goes on, for the engine.
    pub fn take_next(&self) -> Option<usize> {
        self.next.take()
    }

    /// The process cannot go on until somebody calls [`Machine::unblock`] for it.
    pub fn block(&self, waits: Waits) {
        let process = self.process();
        self.note_waits(process, waits);
        self.awake.set(self.awake.get() & !(1 << process));
        if waits == Waits::Interrupt {
            self.sleeps(process);
        }
        self.hand_over(process);
        while self.over.get() || self.awake.get() >> process & 1 == 0 {
            self.scheduler.wait(None);
        }
        self.note_waits(process, Waits::Nothing);
    }

    /// Another process goes on, if one can; this one could as well.
    pub fn let_others_go(&self) {
        let process = self.process();
        self.awake.set(self.awake.get() & !(1 << process));
        if self.awake.get() != 0 {
            self.hand_over(process);
        }
        self.can_go(process);
        if self.next.get().is_some() || self.over.get() {
            self.scheduler.advance(0);
        }
        if self.over.get() {
            self.stay();
        }
    }

    fn note_waits(&self, process: usize, waits: Waits) {
        if let Some(cpu) = self.cpus.get(process) {
            cpu.waits.set(waits);
        }
    }

    /// Lets a process go that was absent; it sees what the present one has seen and done.
    pub(crate) fn start_process(&self, process: usize) {
        self.memory.borrow_mut().inherit(process, self.process());
        self.note_learns(process, self.process());
        self.wake_pollers();
        self.note_waits(process, Waits::Nothing);
        self.can_go(process);
    }

    /// Waits until a process has ended, and sees what it has seen and done.
    pub(crate) fn wait_for_process(&self, process: usize) {
        self.settle();
        while self.cpus[process].waits.get() != Waits::Done {
            if !self.drain() {
                self.block(Waits::Process(process as u8));
            }
        }
        self.memory.borrow_mut().inherit(self.process(), process);
        self.note_learns(self.process(), process);
    }

    /// The process is done.
    pub fn leave(&self) {
        let process = self.process();
        let waits = |cpu: &usize| self.cpus[*cpu].waits.get() == Waits::Process(process as u8);
        (0..self.cpus.len()).filter(waits).for_each(|cpu| self.unblock(cpu));
        self.note_waits(process, Waits::Done);
        self.awake.set(self.awake.get() & !(1 << process));
        self.hand_over(process);
    }

    /// Chooses who goes on, since the present process cannot.
    fn hand_over(&self, process: usize) {
        if self.over.get() {
            return;
        }
        if process < self.cpus.len() {
            // A store does not stay in a buffer for ever.
            self.memory.borrow_mut().empty_buffer(process);
            self.wake_pollers();
        }
        // It counts as an operation, so that it can be told from the next time.
        let operation = self.operations[process].get().next();
        self.operations[process].set(operation);
        if self.traces.get() {
            self.end_step(process);
            if self.over.get() {
                return;
            }
        }
        let ready = self.ready();
        let goes = self.chooser.borrow_mut().next(process, operation, ready);
        match goes {
            Some(NOBODY) => self.cut(),
            Some(goes) => {
                if Some(goes) != ready.first() {
                    self.schedule.borrow_mut().push(Deviation {
                        process: process as u8,
                        operation,
                        kind: Kind::Next,
                        value: goes as u64,
                    });
                }
                self.give_way_to(goes);
            }
            None => match self.next_in_a_loop(process) {
                Some(goes) => {
                    self.go_on(goes);
                    self.give_way_to(goes);
                }
                None => self.over.set(true),
            },
        }
    }

    /// The next process after this one that waits in a loop.
    fn next_in_a_loop(&self, process: usize) -> Option<usize> {
        let count = self.cpus.len();
        let waits = |cpu: &usize| matches!(self.cpus[*cpu].waits.get(), Waits::Spin(_));
        (1..=count).map(|step| (process + step) % count).find(waits)
    }

    /// Does nothing more.
    pub fn stay(&self) -> ! {
        loop {
            self.scheduler.wait(None);
        }
    }

    /// Those who wait for a word to change look again.
    #[inline(always)]
    pub fn wake_pollers(&self) {
        if self.memory.borrow_mut().changed.take().is_some() {
            if self.followed.get() != 0 {
                self.note_paid();
            }
            let changes = std::mem::take(&mut self.memory.borrow_mut().changes);
            let sees = |cpu: &Cpu| match cpu.waits.get() {
                // That another word has changed is nothing to who waits for this one; where all is
                // to be tried, who goes is told from who could.
                Waits::Change(cell) if self.traces.get() => changes.contains(&cell),
                Waits::Spin(_) if self.traces.get() => {
                    cpu.spin.borrow().loads().iter().any(|(cell, _)| changes.contains(cell))
                }
                Waits::Change(_) | Waits::Spin(_) => true,
                _ => false,
            };
            for (index, cpu) in self.cpus.iter().enumerate() {
                if sees(cpu) && self.awake.get() >> index & 1 == 0 {
                    self.unblock(index);
                }
            }
        }
    }

    // --- Late loads ------------------------------------------------------------------------------

    /// Follows the process from its present operation, a load, on.
    pub(crate) fn follow_from_here(&self, process: usize) {
        self.follows[process].set(Followed { load: self.operations[process].get(), ..Followed::default() });
        self.followed.set(self.followed.get() | 1 << process);
    }

    /// Takes an operation, or a value that it stores, into account.
    #[cold]
    pub(crate) fn follow(&self, process: usize, what: u64, is_operation: bool) {
        let Followed { count, hash, load } = self.follows[process].get();
        let hash = (hash ^ what).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        let followed = Followed { count: count + u32::from(is_operation), hash, load };
        self.follows[process].set(followed);
        if let Some((late, _)) = self.tried.get()
            && late.is_at(process, load)
            && late.followed == followed
        {
            self.tried.set(Some((late, true)));
            self.followed.set(self.followed.get() & !(1 << process));
        }
    }

    /// Late loads have got their value.
    #[cold]
    fn note_paid(&self) {
        let paid = std::mem::take(&mut self.memory.borrow_mut().paid);
        for process in (0..self.cpus.len()).filter(|process| paid >> process & 1 != 0) {
            self.late.borrow_mut().push(LateLoad { process, followed: self.follows[process].get() });
            self.followed.set(self.followed.get() & !(1 << process));
            self.note_learns(process, self.process());
            if self.cpus[process].waits.get() == Waits::LateLoad {
                self.unblock(process);
            }
        }
    }

    /// Waits until a late load of this process has got its value; true if it had to wait.
    #[inline(always)]
    pub fn settle(&self) -> bool {
        self.followed.get() != 0 && self.settle_now()
    }

    #[cold]
    fn settle_now(&self) -> bool {
        let process = self.process();
        let waits = self.memory.borrow().owed(process).is_some();
        while self.memory.borrow().owed(process).is_some() {
            if !self.drain() {
                self.block(Waits::LateLoad);
            }
        }
        waits
    }

    /// The run is void: a late load has not got its value.
    pub(crate) fn is_void(&self) -> bool {
        self.memory.borrow().owes()
    }

    /// Answers a choice of the present operation.
    #[inline(always)]
    pub fn answer(&self, kind: Kind, options: u32) -> u32 {
        let process = self.process();
        let mut chooser = self.chooser.borrow_mut();
        let mut schedule = self.schedule.borrow_mut();
        LoggedAnswers {
            chooser: &mut chooser,
            schedule: &mut schedule,
            process,
            operation: self.operations[process].get(),
        }
        .answer(kind, options)
    }

    /// Ends the run with a failure, unless it has one.
    pub fn fail(&self, invariant: Invariant, what: String) -> ! {
        self.settle();
        self.report(invariant, what);
        self.stay()
    }

    /// As [`Machine::fail`], and goes on.
    pub fn report(&self, invariant: Invariant, what: String) {
        let process = self.process();
        let mut failure = self.failure.borrow_mut();
        if failure.is_none() {
            *failure =
                Some(Failure { invariant, what, process: process as u8, operation: self.operations[process].get() });
        }
        self.over.set(true);
    }

    /// The waits of processes, in words.
    pub fn describe_waits(&self) -> String {
        let mut text: Vec<String> = Vec::new();
        for (index, cpu) in self.cpus.iter().enumerate() {
            let names = self.names.get();
            let holders = self.holders.borrow();
            let held: Vec<String> =
                holders.iter().filter(|(_, by)| *by == index).map(|(id, _)| names.lock(*id)).collect();
            let held = if held.is_empty() { String::new() } else { format!(" and holds {}", held.join(", ")) };
            let what = match cpu.waits.get() {
                Waits::Done | Waits::Absent => continue,
                Waits::Nothing => "runs".to_owned(),
                Waits::Event => "waits for an event".to_owned(),
                Waits::Change(cell) | Waits::Spin(cell) => format!("waits for {} to change", names.cell(cell)),
                Waits::Interrupt => "waits for an interrupt".to_owned(),
                Waits::Process(other) => format!("waits for CPU {other} to end"),
                Waits::LateLoad => "waits for a late load".to_owned(),
                Waits::Other(what) => names.waits(what).to_owned(),
            };
            text.push(format!("CPU {index} {what}{held}"));
        }
        if text.is_empty() { "nobody is left who could".to_owned() } else { text.join("; ") }
    }
}
