//! The simulated machine's state, and a run of a procedure on it.

use crate::config::{CoreCosts, Costs, Machine, ScpProtocol};
use crate::interrupts::Pending;
use crate::log::Event;
use crate::normal_world::SimWorld;
use crate::order::DeclaredOrder;
use crate::scp::Channel;
use engine::{Chooser, Deadlock, RandomChooser, Runner, Scheduler, SplitMix64, Time};
use points::Point;
use psci::lock::{BakeryWord, Lock, Ticket};
use psci::{
    CpuDesc, CpuIndex, CpuRecord, DomainDesc, DomainRecord, LockKind, Outcome, Psci, StorageRef, SystemRecord, Topology,
};
use psci_cases::{Case, Failure, Mode, Stamps, Word};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A simulated SoC. It stands for the whole machine; an operation acts on the CPU whose process runs.
pub struct Soc {
    pub(crate) machine: Machine,
    pub(crate) scheduler: Scheduler,
    pub(crate) cpus: Vec<Cpu>,
    /// Whether a domain has power, by its place in the platform's list.
    pub(crate) domains_on: Vec<Cell<bool>>,
    /// Flushes of a cluster's L2 so far, by the cluster's label.
    l2_flushes: Vec<Cell<u32>>,
    /// Dirty lines of a cluster's L2, by the cluster's label.
    pub(crate) l2_dirty: Vec<Cell<u64>>,
    pub(crate) channels: Vec<Channel>,
    channel_words: Vec<Vec<BakeryWord<Soc>>>,
    channel_tickets: Vec<Ticket<Soc>>,
    /// CPUs that flush now.
    pub(crate) flushing: RefCell<Vec<usize>>,
    pub(crate) order: DeclaredOrder,
    pub(crate) timer: Cell<Option<(usize, Time)>>,
    pub(crate) words: [Cell<u64>; Word::COUNT],
    pub(crate) random: RefCell<SplitMix64>,
    pub(crate) records: Cell<bool>,
    pub(crate) events: RefCell<Vec<Event>>,
    pub(crate) measured: RefCell<Vec<Measured>>,
    pub(crate) iteration: Cell<u32>,
    failure: RefCell<Option<Failure>>,
    finished: Cell<bool>,
    stale_loads: Cell<u64>,
    platform_calls: Cell<u64>,
    tick: Tick,
    lock_holders: RefCell<BTreeMap<u32, usize>>,
    lock_waits: Vec<Cell<Option<u32>>>,
}

/// A CPU of the machine.
pub(crate) struct Cpu {
    pub(crate) costs: CoreCosts,
    pub(crate) cluster: u16,
    pub(crate) l1_lines: u64,
    pub(crate) l2_lines: u64,
    pub(crate) caches_on: Cell<bool>,
    pub(crate) l1_dirty: Cell<u64>,
    calls: Cell<u64>,
    /// When the present call began, and the one before it.
    call_begins: Cell<[Time; 2]>,
    pub(crate) pending: Cell<Pending>,
    pub(crate) waiting: Cell<Waiting>,
    pub(crate) event: Cell<bool>,
    pub(crate) turned_on: Cell<bool>,
    /// The channel's process that waits for this CPU's WFI.
    pub(crate) watched_by: Cell<Option<usize>>,
    pub(crate) state: Cell<CpuState>,
    state_since: Cell<Time>,
    state_time: [Cell<Time>; CpuState::ALL.len()],
    pub(crate) call: Cell<Option<psci::Call>>,
    pub(crate) result: Cell<Option<[u64; 4]>>,
}

/// What a CPU's process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Waiting {
    #[default]
    Nothing,
    /// An event, in WFE.
    Event,
    /// An interrupt, in WFI with power and clock kept.
    Interrupt,
    /// Power to go, in the terminal WFI, or to come back.
    Power,
    /// The SCP's slot or response.
    Scp,
    /// Its place in the declared order.
    Order,
}

/// Power state of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuState {
    /// It executes, or waits in a WFE or for a message.
    Running,
    /// In WFI with its contents kept.
    Standby,
    /// Without power, to be woken by an interrupt.
    Suspended,
    /// Without power until a CPU_ON.
    Off,
}

impl CpuState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Running, Self::Standby, Self::Suspended, Self::Off];

    /// The state's name in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Standby => "standby",
            Self::Suspended => "suspended",
            Self::Off => "off",
        }
    }
}

/// What a frame of a CPU's process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Entry {
    /// The CPU that the machine starts with.
    ColdBoot,
    /// EL3, called by the normal world below.
    Smc,
    /// A CPU without power, then EL3 from the reset vector on.
    Down,
    /// An SCP channel or the timer.
    Service,
}

impl Entry {
    fn from_number(number: u32) -> Self {
        [Self::ColdBoot, Self::Smc, Self::Down, Self::Service][number as usize & 3]
    }
}

/// Stamps that a procedure handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Iteration of the procedure.
    pub iteration: u32,
    /// The CPU.
    pub cpu: usize,
    /// Its stamps in ticks.
    pub stamps: Stamps,
}

/// How a procedure is run.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// The procedure.
    pub case: Case,
    /// How often it is repeated, in one boot.
    pub iterations: u32,
    /// Draws what the machine leaves to chance: when CPUs leave a barrier.
    pub seed: u64,
    /// The order in which CPUs reach the SCP in a parallel suspend; empty: whatever comes.
    pub order: Vec<usize>,
    /// Whether events are kept.
    pub record: bool,
    /// If given, who goes next is chosen at random at every operation, and times mean nothing.
    pub explore: Option<Explore>,
}

/// How an exploration chooses who goes next; each with its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explore {
    /// All who can go are equally likely, each time.
    Uniform(u64),
    /// The same, but now and then one process is passed over for up to 256 choices, as a CPU is that a higher exception level or a debugger
    /// has. Equal chances all but never let one CPU make twenty steps while another makes none.
    PassingOver(u64),
}

/// What a run yields.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Every stamp, in order of time.
    pub events: Vec<Event>,
    /// What the procedure measured, in order of publication.
    pub measured: Vec<Measured>,
    /// Time in each power state by CPU, in ps, in the order of [`CpuState::ALL`].
    pub state_times: Vec<[u64; 4]>,
    /// Calls through [`psci::Platform`] and its shared cells that can yield.
    pub platform_calls: u64,
    /// Loads that saw an old value, for want of cache maintenance: 0 in correct firmware.
    pub stale_loads: u64,
    /// Simulated time at the end, in ps.
    pub end: Time,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The firmware refuses the power tree of the platform file.
    #[error("the firmware refuses the power tree: {0}")]
    Tree(psci::ConfigError),
    /// The procedure found something wrong.
    #[error("the procedure stopped: {0}")]
    Procedure(Failure),
    /// Nobody can go on.
    #[error("deadlock at {} us: {}", .time / engine::PS_PER_US, .waiters.join("; "))]
    Deadlock {
        /// When, in ps.
        time: Time,
        /// Who waits for what, and who holds it, in words.
        waiters: Vec<String>,
    },
}

/// The generic counter's resolution.
#[derive(Clone, Copy)]
enum Tick {
    /// A whole number of picoseconds.
    Picoseconds(u64),
    /// Hertz, where a tick is no whole number of picoseconds.
    Hertz(u64),
}

impl Soc {
    /// A machine in which all CPUs but none are off; see [`run`].
    pub fn new(machine: &Machine, seed: u64) -> Self {
        let platform = &machine.platform;
        let cpus: Vec<Cpu> = platform
            .topology
            .cpus
            .iter()
            .map(|cpu| Cpu {
                costs: machine.costs.cores[&cpu.core_type],
                cluster: cpu.cluster,
                l1_lines: platform.cores[&cpu.core_type].l1_data / platform.line,
                l2_lines: platform.topology.domains[cpu.domain].l2 / platform.line,
                caches_on: Cell::new(false),
                l1_dirty: Cell::new(0),
                calls: Cell::new(0),
                call_begins: Cell::default(),
                pending: Cell::default(),
                waiting: Cell::default(),
                event: Cell::new(false),
                turned_on: Cell::new(false),
                watched_by: Cell::new(None),
                state: Cell::new(CpuState::Off),
                state_since: Cell::new(0),
                state_time: Default::default(),
                call: Cell::new(None),
                result: Cell::new(None),
            })
            .collect();
        let clusters = cpus.iter().map(|cpu| usize::from(cpu.cluster) + 1).max().unwrap_or(0);
        let channels = platform.scp_channels;
        let frequency = platform.counter_frequency;
        let tick = match 1_000_000_000_000 % frequency {
            0 => Tick::Picoseconds(1_000_000_000_000 / frequency),
            _ => Tick::Hertz(frequency),
        };
        Self {
            scheduler: Scheduler::new(cpus.len() + channels + 1),
            domains_on: platform.topology.domains.iter().map(|_| Cell::new(false)).collect(),
            l2_flushes: (0..clusters).map(|_| Cell::new(0)).collect(),
            l2_dirty: (0..clusters).map(|_| Cell::new(0)).collect(),
            channels: (0..channels).map(|_| Channel::default()).collect(),
            channel_words: (0..channels).map(|_| cpus.iter().map(|_| BakeryWord::new()).collect()).collect(),
            channel_tickets: (0..channels).map(|_| Ticket::new()).collect(),
            flushing: RefCell::default(),
            order: DeclaredOrder::default(),
            timer: Cell::new(None),
            words: Default::default(),
            random: RefCell::new(SplitMix64::new(seed)),
            records: Cell::new(true),
            events: RefCell::default(),
            measured: RefCell::default(),
            iteration: Cell::new(0),
            failure: RefCell::default(),
            finished: Cell::new(false),
            stale_loads: Cell::new(0),
            platform_calls: Cell::new(0),
            tick,
            lock_holders: RefCell::default(),
            lock_waits: cpus.iter().map(|_| Cell::new(None)).collect(),
            cpus,
            machine: machine.clone(),
        }
    }

    // --- Small things that operations are made of ------------------------------------------------------------

    #[inline(always)]
    pub(crate) fn advance(&self, duration: Time) {
        self.scheduler.advance(duration);
    }

    #[inline(always)]
    pub(crate) fn this_cpu_index(&self) -> usize {
        self.scheduler.current()
    }

    pub(crate) fn this(&self) -> &Cpu {
        &self.cpus[self.scheduler.current()]
    }

    pub(crate) fn costs(&self) -> &Costs {
        &self.machine.costs
    }

    pub(crate) fn protocol(&self) -> ScpProtocol {
        self.machine.release.scp_protocol
    }

    pub(crate) fn memory_access(&self) -> Time {
        self.machine.costs.memory_access
    }

    pub(crate) fn cached_access(&self) -> Time {
        self.machine.platform.assumed.cached_access
    }

    pub(crate) fn caches_are_on(&self) -> bool {
        self.this().caches_on.get()
    }

    /// How often the L2 that `cpu` shares was flushed.
    pub(crate) fn l2_flushes(&self, cpu: u16) -> u32 {
        self.l2_flushes[usize::from(self.cpus[usize::from(cpu)].cluster)].get()
    }

    pub(crate) fn count_l2_flush(&self, cluster: u16) {
        let flushes = &self.l2_flushes[usize::from(cluster)];
        flushes.set(flushes.get() + 1);
    }

    /// A store has made a line of `cpu`'s L1 dirty.
    pub(crate) fn note_dirty(&self, cpu: u16) {
        let cpu = &self.cpus[usize::from(cpu)];
        cpu.l1_dirty.set((cpu.l1_dirty.get() + 1).min(cpu.l1_lines));
    }

    /// A line that `cpu` had made dirty is clean, or is another's.
    pub(crate) fn note_clean(&self, cpu: u16) {
        let cpu = &self.cpus[usize::from(cpu)];
        cpu.l1_dirty.set(cpu.l1_dirty.get().saturating_sub(1));
    }

    #[inline(always)]
    pub(crate) fn count_call(&self) {
        self.platform_calls.set(self.platform_calls.get() + 1);
        let this = self.this();
        this.calls.set(this.calls.get() + 1);
        this.call_begins.set([self.scheduler.now(), this.call_begins.get()[0]]);
    }

    /// How many calls a CPU has made.
    pub(crate) fn calls_of(&self, cpu: u16) -> u64 {
        self.cpus[usize::from(cpu)].calls.get()
    }

    /// When this CPU's call before the present one began.
    pub(crate) fn call_before(&self) -> Time {
        self.this().call_begins.get()[1]
    }

    pub(crate) fn time(&self) -> Time {
        self.scheduler.now()
    }

    pub(crate) fn note_stale_load(&self) {
        self.stale_loads.set(self.stale_loads.get() + 1);
    }

    /// The generic counter at its real resolution.
    pub(crate) fn ticks(&self) -> u64 {
        match self.tick {
            Tick::Picoseconds(tick) => self.scheduler.now() / tick,
            Tick::Hertz(frequency) => {
                (u128::from(self.scheduler.now()) * u128::from(frequency) / 1_000_000_000_000) as u64
            }
        }
    }

    pub(crate) fn channel_process(&self, number: usize) -> usize {
        self.cpus.len() + number
    }

    pub(crate) fn timer_process(&self) -> usize {
        self.cpus.len() + self.channels.len()
    }

    pub(crate) fn channel_lock(&self, number: usize) -> Lock<'_, Soc> {
        let id = psci::lock::PLATFORM_LOCK + number as u32;
        match self.machine.release.lock {
            LockKind::Bakery => Lock::bakery(id, &self.channel_words[number], CpuIndex(0)),
            LockKind::Ticket => Lock::ticket(id, &self.channel_tickets[number]),
        }
    }

    /// Waits as `what` until woken.
    /// Whether a procedure found something wrong.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    pub(crate) fn waiting(&self, what: Waiting) {
        let cpu = self.this();
        cpu.waiting.set(what);
        self.scheduler.wait(None);
        cpu.waiting.set(Waiting::Nothing);
    }

    pub(crate) fn enter_state(&self, cpu: usize, state: CpuState) {
        let cpu = &self.cpus[cpu];
        let time = &cpu.state_time[cpu.state.get() as usize];
        time.set(time.get() + self.scheduler.now() - cpu.state_since.get());
        cpu.state_since.set(self.scheduler.now());
        cpu.state.set(state);
    }

    /// Keeps track of who holds and who waits, for a deadlock's report.
    pub(crate) fn note_lock(&self, point: Point, id: u32) {
        use psci::points::psci::{LOCK_ACQUIRED, LOCK_RELEASED, LOCK_WAIT};
        let cpu = self.this_cpu_index();
        if point == LOCK_WAIT {
            self.lock_waits[cpu].set(Some(id));
        } else if point == LOCK_ACQUIRED {
            self.lock_waits[cpu].set(None);
            self.lock_holders.borrow_mut().insert(id, cpu);
        } else if point == LOCK_RELEASED {
            // The next holder may have noted itself between the release and this stamp.
            let mut holders = self.lock_holders.borrow_mut();
            if holders.get(&id) == Some(&cpu) {
                holders.remove(&id);
            }
        }
    }

    /// Name of a lock by its id.
    fn lock_name(&self, id: u32) -> String {
        match id.checked_sub(psci::lock::PLATFORM_LOCK) {
            Some(channel) => format!("the lock of SCP channel {channel}"),
            None if id >= psci::lock::CPU_LOCK => format!("CPU {}'s own lock", id - psci::lock::CPU_LOCK),
            None => {
                let domain = self.machine.platform.topology.domains.get(id as usize);
                format!("the lock of `{}`", domain.map_or("?", |domain| domain.name.as_str()))
            }
        }
    }

    fn describe(&self, process: usize) -> String {
        let Some(cpu) = self.cpus.get(process) else { return format!("process {process} waits") };
        let holder = |id: &u32| match self.lock_holders.borrow().get(id) {
            Some(holder) => format!("held by CPU {holder}"),
            None => "which nobody holds".to_owned(),
        };
        let held: Vec<_> = self
            .lock_holders
            .borrow()
            .iter()
            .filter(|&(_, &by)| by == process)
            .map(|(&id, _)| self.lock_name(id))
            .collect();
        let waits = match (cpu.waiting.get(), self.lock_waits[process].get()) {
            (_, Some(id)) => format!("waits for {}, {}", self.lock_name(id), holder(&id)),
            (Waiting::Event, None) => "waits for an event".to_owned(),
            (Waiting::Interrupt, None) => "waits for an interrupt".to_owned(),
            (Waiting::Power, None) if cpu.state.get() == CpuState::Suspended => {
                "sleeps and nothing will wake it".to_owned()
            }
            (Waiting::Power, None) => "waits in WFI for the SCP".to_owned(),
            (Waiting::Scp, None) => "waits for the SCP".to_owned(),
            (Waiting::Order, None) => {
                let next = self.order.next_to_send();
                let next = next.map_or_else(String::new, |cpu| format!(" until CPU {cpu} has it"));
                format!("keeps back from the SCP{next}, as the case declares")
            }
            (Waiting::Nothing, None) => "waits".to_owned(),
        };
        if held.is_empty() {
            format!("CPU {process} {waits}")
        } else {
            format!("CPU {process} {waits}; it holds {}", held.join(", "))
        }
    }

    // --- For the normal world ------------------------------------------------------------------------------

    fn begin_iteration(&self, iteration: u32) {
        self.iteration.set(iteration);
        self.order.begin();
    }
}

/// Runs a procedure on a machine that is cold.
///
/// # Errors
/// A power tree that the firmware refuses; a deadlock, with who waits for what and who holds it; whatever the procedure found wrong.
pub fn run(machine: &Machine, conditions: &Conditions) -> Result<RunOutcome, RunError> {
    let soc = Soc::new(machine, conditions.seed);
    soc.records.set(conditions.record);
    if conditions.case.mode == Mode::Parallel {
        soc.order.declare(&conditions.order, soc.cpus.len());
    }
    let tree = &machine.platform.topology;
    let domains: Vec<_> = tree
        .domains
        .iter()
        .map(|domain| DomainDesc { parent: domain.parent.map(|parent| parent as u16), level: domain.level })
        .collect();
    let cpus: Vec<_> = tree.cpus.iter().map(|cpu| CpuDesc { mpidr: cpu.mpidr(), parent: cpu.domain as u16 }).collect();
    let topology = Topology { domains: &domains, cpus: &cpus };
    let mut cpu_records: Vec<_> = cpus.iter().map(|_| CpuRecord::new(&soc)).collect();
    let mut domain_records: Vec<_> = domains.iter().map(|domain| DomainRecord::new(&soc, domain.level)).collect();
    let words: Vec<_> = (0..cpus.len() * usize::from(tree.top_level)).map(|_| BakeryWord::new()).collect();
    let system = SystemRecord::new();
    let storage = StorageRef { cpus: &mut cpu_records, domains: &mut domain_records, words: &words, system: &system };
    let psci = Psci::new(&soc, &topology, storage).map_err(RunError::Tree)?;

    let lead = machine.release.lead;
    let firmware = Firmware { soc: &soc, psci: &psci, conditions, lead };
    let main = |process, entry| firmware.run_frame(process, Entry::from_number(entry));
    let mut runner = match conditions.explore {
        Some(explore) => Runner::with_chooser(&soc.scheduler, &main, PatientChooser::new(explore)),
        None => Runner::new(&soc.scheduler, &main),
    };
    for number in 0..soc.channels.len() {
        soc.scheduler.set_daemon(soc.channel_process(number), true);
        runner.start(soc.channel_process(number), Entry::Service as u32);
    }
    soc.scheduler.set_daemon(soc.timer_process(), true);
    runner.start(soc.timer_process(), Entry::Service as u32);
    for cpu in 0..soc.cpus.len() {
        let entry = if cpu == lead { Entry::ColdBoot } else { Entry::Down };
        runner.start(cpu, entry as u32);
    }
    let result = runner.run();
    drop(runner);

    if let Some(failure) = soc.failure.take() {
        return Err(RunError::Procedure(failure));
    }
    let waiters = match result {
        Err(Deadlock { waiters, .. }) => waiters.into_iter().map(|waiter| soc.describe(waiter.process)).collect(),
        Ok(()) if soc.finished.get() => Vec::new(),
        Ok(()) => vec!["the procedure never finished".to_owned()],
    };
    if !waiters.is_empty() {
        return Err(RunError::Deadlock { time: soc.scheduler.now(), waiters });
    }
    for cpu in 0..soc.cpus.len() {
        soc.enter_state(cpu, soc.cpus[cpu].state.get());
    }
    Ok(RunOutcome {
        events: soc.events.take(),
        measured: soc.measured.take(),
        state_times: soc.cpus.iter().map(|cpu| cpu.state_time.each_ref().map(Cell::get)).collect(),
        platform_calls: soc.platform_calls.get(),
        stale_loads: soc.stale_loads.get(),
        end: soc.scheduler.now(),
    })
}

/// Chooses at random, but lets time pass only when nobody can go at the present one: a timer that could fire at any
/// moment would end every sleep before it began.
struct PatientChooser {
    random: RandomChooser,
    /// Draws whom to pass over, if anybody is.
    passes_over: Option<SplitMix64>,
    /// Who is passed over, and for how many more choices.
    passed_over: Option<(usize, u64)>,
}

/// How far ahead of the earliest process a choice may reach, in ps.
const PATIENCE: Time = 100 * engine::PS_PER_US;
/// One choice in this many begins to pass a process over.
const PASSES_OVER_EVERY: u64 = 64;
/// A process is passed over for fewer choices than this.
const LONGEST_PASS: u64 = 256;

impl PatientChooser {
    fn new(explore: Explore) -> Self {
        let (seed, passes_over) = match explore {
            Explore::Uniform(seed) => (seed, None),
            Explore::PassingOver(seed) => (seed, Some(SplitMix64::fork(seed, 1))),
        };
        Self { random: RandomChooser::new(seed), passes_over, passed_over: None }
    }

    /// The candidates without the one that is passed over, if any are left then.
    fn others(&mut self, candidates: &[engine::Candidate]) -> Vec<engine::Candidate> {
        let all = candidates.to_vec();
        let Some(random) = &mut self.passes_over else { return all };
        self.passed_over = match self.passed_over {
            Some((_, 0)) => None,
            Some((process, left)) => Some((process, left - 1)),
            None if random.below(PASSES_OVER_EVERY) == 0 => {
                let unlucky = candidates[random.below(candidates.len() as u64) as usize].process;
                Some((unlucky, random.below(LONGEST_PASS)))
            }
            None => None,
        };
        let Some((unlucky, _)) = self.passed_over else { return all };
        let others: Vec<_> = candidates.iter().copied().filter(|candidate| candidate.process != unlucky).collect();
        if others.is_empty() { all } else { others }
    }
}

impl Chooser for PatientChooser {
    fn choose(&mut self, candidates: &[engine::Candidate]) -> usize {
        let others = self.others(candidates);
        let earliest = others.iter().map(|candidate| candidate.time).min().unwrap_or(0);
        let near: Vec<_> = others.iter().copied().filter(|candidate| candidate.time <= earliest + PATIENCE).collect();
        let chosen = near[self.random.choose(&near).min(near.len() - 1)];
        candidates.iter().position(|candidate| *candidate == chosen).unwrap_or(0)
    }
}

/// The software of the machine: PSCI at EL3 and a procedure in the normal world.
struct Firmware<'a> {
    soc: &'a Soc,
    psci: &'a Psci<'a, Soc>,
    conditions: &'a Conditions,
    lead: usize,
}

impl Firmware<'_> {
    fn run_frame(&self, process: usize, entry: Entry) {
        let soc = self.soc;
        match entry {
            Entry::Service if process == soc.timer_process() => soc.run_timer(),
            Entry::Service => soc.run_channel(process - soc.cpus.len()),
            Entry::ColdBoot => {
                soc.cpus[process].caches_on.set(true);
                soc.domains_on[soc.machine.platform.topology.cpus[process].domain].set(true);
                soc.enter_state(process, CpuState::Running);
                self.psci.boot();
                self.procedure(true);
            }
            Entry::Smc => self.smc(process),
            Entry::Down => {
                let resumes = soc.cpus[process].state.get() == CpuState::Suspended;
                soc.run_powered_down();
                let _entry_point = self.psci.warm_boot();
                if resumes {
                    // The frame below is the normal world, whose suspend now returns.
                    soc.cpus[process].result.set(Some([0; 4]));
                } else {
                    self.procedure(false);
                }
            }
        }
    }

    fn smc(&self, cpu: usize) {
        let this = &self.soc.cpus[cpu];
        let Some(call) = this.call.take() else { return };
        self.soc.advance(this.costs.smc);
        match self.psci.handle_smc(call) {
            Outcome::Return(registers) => this.result.set(Some(registers)),
            Outcome::Enter(_) => unreachable!("the SCP completes every power-down that it takes"),
        }
    }

    fn procedure(&self, leads: bool) {
        let soc = self.soc;
        let world = SimWorld { soc, lead: self.lead };
        let result = if leads {
            (0..self.conditions.iterations).try_for_each(|iteration| {
                soc.begin_iteration(iteration);
                psci_cases::lead(&world, self.conditions.case)
            })
        } else {
            psci_cases::secondary(&world, self.conditions.case)
        };
        match result {
            Ok(()) => soc.finished.set(true),
            Err(failure) => {
                soc.failure.borrow_mut().get_or_insert(failure);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Document, Sources};
    use std::path::Path;

    #[test]
    fn a_deadlock_names_who_holds_and_who_waits() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../platforms");
        let open = |name: &str| Document::open(&root.join(name)).unwrap();
        let mut sources = Sources {
            platform: open("juno-r1.toml"),
            release: open("juno-r1/releases/juno-v2.12.toml"),
            costs: open("juno-r1/costs/juno-v2.12.toml"),
        };
        sources.set("scp.channels", "2").unwrap();
        let soc = Soc::new(&sources.machine().unwrap(), 1);
        let main = |cpu: usize, _| {
            soc.cpus[cpu].caches_on.set(true);
            soc.channel_lock(cpu).acquire(&soc, CpuIndex(cpu as u16));
            soc.advance(engine::PS_PER_US);
            soc.channel_lock(1 - cpu).acquire(&soc, CpuIndex(cpu as u16));
        };
        let mut runner = Runner::new(&soc.scheduler, &main);
        (0..2).for_each(|cpu| runner.start(cpu, 0));
        let deadlock = runner.run().unwrap_err();
        let told: Vec<_> = deadlock.waiters.iter().map(|waiter| soc.describe(waiter.process)).collect();
        assert_eq!(
            told,
            [
                "CPU 0 waits for the lock of SCP channel 1, held by CPU 1; it holds the lock of SCP channel 0",
                "CPU 1 waits for the lock of SCP channel 0, held by CPU 0; it holds the lock of SCP channel 1",
            ]
        );
    }
}
