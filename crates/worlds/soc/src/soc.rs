//! The simulated machine: its state, and the small steps that its operations are made of.

use crate::config::{AssumedTimes, Machine, WorldCpu};
use crate::cpu::{Cpu, CpuState, Waiting};
use crate::declared_order::DeclaredOrder;
use crate::event::{Event, ProcedureStamps};
use crate::interrupt_source::Line;
use crate::mailbox::Channel;
use crate::meter::Meter;
use engine::{Scheduler, SplitMix64, Time};
use psci::lock::{BakeryWord, Lock, Ticket};
use psci::{CpuIndex, LockKind};
use psci_cases::{Failure, MANY_CPUS, Word};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A simulated SoC. It stands for the whole machine; an operation acts on the CPU whose process
/// runs.
pub struct Soc {
    pub(crate) machine: Machine,
    pub(crate) scheduler: Scheduler,
    pub(crate) cpus: Vec<Cpu>,
    /// The CPUs' affinity fields with their places, in order.
    pub(crate) by_mpidr: Vec<(u64, u16)>,
    /// Events sent so far.
    pub(crate) events_sent: Cell<u64>,
    /// The CPUs that wait for one: a bit for each.
    pub(crate) in_wfe: Vec<Cell<u64>>,
    /// The CPUs that sleep until a word of the normal world is as large as they say, by the word
    /// ([`Soc::sleep_until`]).
    pub(crate) sleepers: [RefCell<Vec<Sleeper>>; Word::COUNT],
    /// The CPUs that sleep until a word of the library's holds what they say
    /// ([`Soc::sleep_until_stored`]).
    pub(crate) word_sleepers: RefCell<Vec<WordSleeper>>,
    /// True if the normal world may coordinate idle states.
    pub(crate) os_initiated: Cell<bool>,
    /// True if a domain has power, by its place in the platform's list.
    pub(crate) domains_on: Vec<Cell<bool>>,
    /// Flushes of a cluster's L2 so far, by the cluster's label.
    l2_flushes: Vec<Cell<u32>>,
    /// Dirty lines of the cache that a cluster shares, by the cluster's label.
    pub(crate) l2_dirty: Vec<Cell<u64>>,
    /// The SCP's channels, and the locks of both kinds for them; the release says which kind is
    /// used.
    pub(crate) channels: Vec<Channel>,
    channel_words: Vec<Vec<BakeryWord<Soc>>>,
    channel_tickets: Vec<Ticket<Soc>>,
    /// CPUs that flush now.
    pub(crate) flushing: RefCell<Vec<usize>>,
    pub(crate) order: DeclaredOrder,
    /// The lines of the timers that fire whatever state the CPUs are in.
    pub(crate) timers: RefCell<Vec<Line>>,
    /// Energy, where somebody asked for it.
    pub(crate) meter: RefCell<Meter>,
    /// The words that the normal world's CPUs share.
    pub(crate) words: [Cell<u64>; Word::COUNT],
    /// The time, in ps, at which the console has printed what was asked for so far.
    pub(crate) console_free: Cell<Time>,
    pub(crate) random: RefCell<SplitMix64>,
    /// True if the declared spread of who arrives first is drawn.
    pub(crate) spreads: Cell<bool>,
    /// The number of iterations of which events are kept, from the first.
    pub(crate) records: Cell<u32>,
    pub(crate) events: RefCell<Vec<Event>>,
    pub(crate) measured: RefCell<Vec<ProcedureStamps>>,
    pub(crate) iteration: Cell<u32>,
    /// The first thing that a procedure found wrong.
    pub(crate) failure: RefCell<Option<Failure>>,
    pub(crate) finished: Cell<bool>,
    pub(crate) stale_loads: Cell<u64>,
    pub(crate) platform_calls: Cell<u64>,
    tick: Tick,
    /// Which CPU holds a lock, by the lock's id.
    pub(crate) lock_holders: RefCell<BTreeMap<u32, usize>>,
    /// Which lock a CPU waits for, by the CPU's number.
    pub(crate) lock_waits: Vec<Cell<Option<u32>>>,
}

/// A CPU that sleeps until a word of the normal world is as large as it says.
#[derive(Clone, Copy)]
pub(crate) struct Sleeper {
    pub(crate) cpu: usize,
    pub(crate) least: u64,
}

/// A CPU that sleeps until bits of a word of the library's are as it says.
pub(crate) struct WordSleeper {
    pub(crate) cpu: usize,
    /// Address of the word.
    pub(crate) word: usize,
    pub(crate) mask: u64,
    pub(crate) value: u64,
    /// True if the value was stored: the next event ends the sleep.
    pub(crate) stored: bool,
}

/// The generic counter's resolution.
#[derive(Clone, Copy)]
enum Tick {
    /// A whole number of picoseconds.
    Picoseconds(u64),
    /// Hertz, where a tick is no whole number of picoseconds.
    Hertz(u64),
}

/// A CPU that is off, with nothing in its caches.
fn cold(machine: &Machine, cpu: &WorldCpu) -> Cpu {
    let platform = &machine.platform;
    Cpu {
        costs: machine.costs.cores[&cpu.core_type],
        cluster: cpu.cluster,
        l1_lines: platform.cores[&cpu.core_type].l1_data / platform.line,
        l2_lines: platform.topology.domains[cpu.domain].l2 / platform.line,
        own_l2_lines: platform.cores[&cpu.core_type].l2 / platform.line,
        l3_lines: platform.topology.domains[cpu.domain].l3 / platform.line,
        ..Cpu::default()
    }
}

impl Soc {
    /// A cold machine: every CPU is off. [`crate::run()`] starts one. `seed` draws what the machine
    /// leaves to chance.
    pub fn new(machine: &Machine, seed: u64) -> Self {
        let platform = &machine.platform;
        let of_platform = &platform.topology.cpus;
        let cpus: Vec<Cpu> = of_platform.iter().map(|cpu| cold(machine, cpu)).collect();
        let mut by_mpidr: Vec<(u64, u16)> = (0u16..)
            .zip(of_platform)
            .map(|(place, cpu)| (cpu.mpidr(), place))
            .collect();
        by_mpidr.sort_unstable();
        let clusters = cpus
            .iter()
            .map(|cpu| usize::from(cpu.cluster) + 1)
            .max()
            .unwrap_or(0);
        let channels = platform.scp_channels;
        // A power unit for each CPU, where there is work for them.
        let units = usize::from(machine.needs_power_units()) * cpus.len();
        let frequency = platform.counter_frequency;
        let tick = match 1_000_000_000_000 % frequency {
            0 => Tick::Picoseconds(1_000_000_000_000 / frequency),
            _ => Tick::Hertz(frequency),
        };
        Self {
            scheduler: Scheduler::new(cpus.len() + channels + 1 + units),
            events_sent: Cell::new(0),
            sleepers: Default::default(),
            word_sleepers: RefCell::default(),
            os_initiated: Cell::new(false),
            in_wfe: vec![Cell::new(0); cpus.len().div_ceil(64)],
            domains_on: platform
                .topology
                .domains
                .iter()
                .map(|_| Cell::new(false))
                .collect(),
            l2_flushes: (0..clusters).map(|_| Cell::new(0)).collect(),
            l2_dirty: (0..clusters).map(|_| Cell::new(0)).collect(),
            channels: (0..channels).map(|_| Channel::default()).collect(),
            channel_words: (0..channels)
                .map(|_| cpus.iter().map(|_| BakeryWord::default()).collect())
                .collect(),
            channel_tickets: (0..channels).map(|_| Ticket::default()).collect(),
            flushing: RefCell::default(),
            order: DeclaredOrder::default(),
            timers: RefCell::default(),
            meter: RefCell::default(),
            words: Default::default(),
            console_free: Cell::new(0),
            random: RefCell::new(SplitMix64::new(seed)),
            spreads: Cell::new(false),
            records: Cell::new(u32::MAX),
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
            by_mpidr,
            machine: machine.clone(),
        }
    }

    /// This CPU is busy for `duration` ps, with interrupts off.
    #[inline(always)]
    pub fn advance(&self, duration: Time) {
        self.scheduler.advance(duration);
    }

    #[inline(always)]
    pub(crate) fn current_cpu_index(&self) -> usize {
        self.scheduler.current()
    }

    pub(crate) fn current_cpu(&self) -> &Cpu {
        &self.cpus[self.scheduler.current()]
    }

    /// A delay of the declared spread, up to what `most` picks of it; 0 where the run does not ask
    /// for the spread.
    pub(crate) fn spread(&self, most: impl Fn(&AssumedTimes) -> Time) -> Time {
        if self.spreads.get() {
            self.random
                .borrow_mut()
                .below(most(&self.machine.platform.assumed))
        } else {
            0
        }
    }

    pub(crate) fn memory_access(&self) -> Time {
        self.machine.costs.memory_access
    }

    pub(crate) fn cached_access(&self) -> Time {
        self.machine.platform.assumed.cached_access
    }

    pub(crate) fn caches_are_on(&self) -> bool {
        self.current_cpu().caches_on.get()
    }

    /// The number of times that the L2 that `cpu` shares was flushed.
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
        let this = self.current_cpu();
        this.calls.set(this.calls.get() + 1);
        this.call_begins
            .set([self.now(), this.call_begins.get()[0]]);
    }

    /// The calls and the time of a maintained load whose line is not dirty, in one operation: if
    /// nobody else goes meanwhile, or if there are many CPUs. Otherwise nothing happens.
    #[inline(always)]
    pub(crate) fn load_from_memory_at_once(&self) -> bool {
        let [maintenance, barrier] = [self.cached_access(), self.machine.platform.assumed.barrier];
        let begins = self.now();
        let time = maintenance + barrier + self.memory_access();
        if !self.scheduler.advance_alone(3, time) {
            if !self.has_many_cpus() {
                return false;
            }
            self.scheduler.advance(time);
        }
        self.platform_calls.set(self.platform_calls.get() + 3);
        let this = self.current_cpu();
        this.calls.set(this.calls.get() + 3);
        this.call_begins
            .set([begins + maintenance + barrier, begins + maintenance]);
        true
    }

    /// True if the CPUs are more than those with which details which no figure shows are left out
    /// (ADR 0020).
    #[inline(always)]
    pub(crate) fn has_many_cpus(&self) -> bool {
        self.cpus.len() > MANY_CPUS
    }

    /// The number of calls that a CPU has made.
    pub(crate) fn calls_of(&self, cpu: u16) -> u64 {
        self.cpus[usize::from(cpu)].calls.get()
    }

    /// When this CPU's call before the present one started.
    pub(crate) fn call_before(&self) -> Time {
        self.current_cpu().call_begins.get()[1]
    }

    pub(crate) fn note_stale_load(&self) {
        self.stale_loads.set(self.stale_loads.get() + 1);
    }

    /// The generic counter at its real resolution.
    pub(crate) fn ticks(&self) -> u64 {
        match self.tick {
            Tick::Picoseconds(tick) => self.now() / tick,
            Tick::Hertz(frequency) => {
                (u128::from(self.now()) * u128::from(frequency) / 1_000_000_000_000) as u64
            }
        }
    }

    pub(crate) fn channel_process(&self, number: usize) -> usize {
        self.cpus.len() + number
    }

    pub(crate) fn timer_process(&self) -> usize {
        self.cpus.len() + self.channels.len()
    }

    /// The process of a CPU's power unit. It runs only where firmware takes CPUs down without a
    /// message.
    pub(crate) fn unit_process(&self, cpu: usize) -> usize {
        self.timer_process() + 1 + cpu
    }

    pub(crate) fn channel_lock(&self, number: usize) -> Lock<'_, Soc> {
        let id = psci::lock::PLATFORM_LOCK + number as u32;
        match self.machine.release.lock {
            LockKind::Bakery => Lock::bakery(id, &self.channel_words[number], CpuIndex(0)),
            LockKind::Ticket => Lock::ticket(id, &self.channel_tickets[number]),
        }
    }

    /// True if a procedure found something wrong.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// Waits until another process wakes this CPU's; `what` says what for, to those who wake and to
    /// a deadlock's report.
    pub(crate) fn wait_for(&self, what: Waiting) {
        let cpu = self.current_cpu();
        cpu.waiting.set(what);
        self.scheduler.wait(None);
        cpu.waiting.set(Waiting::Nothing);
    }

    pub(crate) fn enter_state(&self, number: usize, state: CpuState) {
        let cpu = &self.cpus[number];
        let time = &cpu.state_time[cpu.state.get() as usize];
        time.set(time.get() + self.now() - cpu.state_since.get());
        cpu.state_since.set(self.now());
        cpu.state.set(state);
        let mut meter = self.meter.borrow_mut();
        if state == CpuState::Suspended && !meter.is_empty() {
            meter.is_down(self.now(), number);
        }
    }

    /// A CPU without power is to get it.
    pub(crate) fn note_waking(&self, cpu: usize) {
        let mut meter = self.meter.borrow_mut();
        if !meter.is_empty() {
            meter.comes_up(self.now(), cpu);
        }
    }

    /// Starts an iteration of the procedure.
    pub(crate) fn begin_iteration(&self, iteration: u32) {
        self.iteration.set(iteration);
        self.order.begin();
    }
}
