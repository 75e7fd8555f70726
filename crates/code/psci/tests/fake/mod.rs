//! A fake machine, asymmetric on purpose:
//!
//! ```text
//! level 3                  0 (system)
//! level 2         1                      2
//! level 1     3       4                  5 (has retention)
//! CPUs        0      1 2               3 4 5
//! ```
//!
//! States: a CPU's 1 is retention, 2 off. A cluster's 2 is off; cluster 5 also has 1, retention. At level 2, 1 is retention, 2 and 3
//! are off, and CPU_OFF asks for 3. Level 3 goes down (state 1) in SYSTEM_SUSPEND only.
//!
//! `power_state`, both formats: a nibble of the StateID for the state of each of the levels 0 to 2, then one for the level at which
//! the caller is the last.
//!
//! Memory is modelled with what makes caches dangerous: see [`Cell`].
#![allow(dead_code, clippy::disallowed_types)]

use std::any::Any;
use std::cell::Cell as StdCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use psci::lock::BakeryWord;
use psci::{
    Call, CompositeState, CpuDesc, CpuIndex, CpuRecord, DomainDesc, DomainRecord, EntryPoint, Error, HwState, Level,
    LocalState, MessageOrder, OptionalCalls, Outcome, Platform, PowerDown, PowerState, PowerStateFormat, PowerUp, Psci,
    Scalar, SharedCell, StorageRef, SuspendRequest, SystemRecord, Topology, TrustedOs,
};

pub const CPUS: usize = 6;
pub const TICKS_PER_US: u64 = 50;

pub const DOMAINS: [DomainDesc; 6] = [
    DomainDesc { parent: None, level: 3 },
    DomainDesc { parent: Some(0), level: 2 },
    DomainDesc { parent: Some(0), level: 2 },
    DomainDesc { parent: Some(1), level: 1 },
    DomainDesc { parent: Some(1), level: 1 },
    DomainDesc { parent: Some(2), level: 1 },
];

pub const CPU_TABLE: [CpuDesc; CPUS] = [
    CpuDesc { mpidr: 0x0_0000, parent: 3 },
    CpuDesc { mpidr: 0x0_0100, parent: 4 },
    CpuDesc { mpidr: 0x0_0101, parent: 4 },
    CpuDesc { mpidr: 0x1_0000, parent: 5 },
    CpuDesc { mpidr: 0x1_0001, parent: 5 },
    CpuDesc { mpidr: 0x1_0002, parent: 5 },
];

pub const TOPOLOGY: Topology<'static> = Topology { domains: &DOMAINS, cpus: &CPU_TABLE };

pub fn mpidr(cpu: u16) -> u64 {
    CPU_TABLE[usize::from(cpu)].mpidr
}

pub fn state(levels: [u8; 4]) -> CompositeState {
    CompositeState { levels: levels.map(LocalState) }
}

/// A word in memory, and the line that the caches which are on may hold of it.
///
/// The caches are taken as one that never evicts on its own and survives every flush by set/way, which is what a system
/// cache looks like to a CPU with its own caches off: the least helpful cache that the architecture allows. Where code
/// relies on luck, the cell panics:
/// * a load with caches off while the line is dirty: it reads what is no longer true;
/// * a store with caches off while the line is dirty: the line's eviction would undo it;
/// * a load with caches on that hits a line older than memory.
pub struct Cell<T> {
    line: Mutex<Line>,
    _value: std::marker::PhantomData<fn() -> T>,
}

struct Line {
    memory: u64,
    cached: Option<u64>,
    dirty: bool,
}

impl<T> Cell<T> {
    fn hazard(fake: &Fake, line: &Line, what: &str) {
        if fake.strict.load(SeqCst) {
            panic!("{what}: memory {:#x}, cache {:x?}, {:?}", line.memory, line.cached, fake.this_cpu());
        }
    }
}

impl<T: Scalar> SharedCell<T, Fake> for Cell<T> {
    fn new(value: T) -> Self {
        // Made by the boot CPU, with its cache on.
        let line = Line { memory: u64::MAX, cached: Some(value.to_word()), dirty: true };
        Self { line: Mutex::new(line), _value: std::marker::PhantomData }
    }

    fn load(&self, fake: &Fake) -> T {
        if !fake.strict.load(SeqCst) {
            std::thread::yield_now(); // threads spin on cells, and there may be few processors
        }
        let mut line = self.line.lock().unwrap();
        if !fake.cache_is_on() {
            if line.dirty {
                Self::hazard(fake, &line, "load past a dirty line");
            }
            return T::from_word(line.memory);
        }
        if let Some(cached) = line.cached {
            if !line.dirty && cached != line.memory {
                Self::hazard(fake, &line, "load of a stale line");
            }
            return T::from_word(cached);
        }
        line.cached = Some(line.memory);
        T::from_word(line.memory)
    }

    fn store(&self, fake: &Fake, value: T) {
        let mut line = self.line.lock().unwrap();
        if fake.cache_is_on() {
            line.cached = Some(value.to_word());
            line.dirty = true;
        } else {
            if line.dirty {
                Self::hazard(fake, &line, "store past a dirty line");
            }
            line.memory = value.to_word();
        }
    }

    fn fetch_add(&self, fake: &Fake, value: T) -> T {
        assert!(fake.cache_is_on(), "an atomic on a CPU that is not coherent");
        let mut line = self.line.lock().unwrap();
        let before = line.cached.unwrap_or(line.memory);
        line.cached = Some(T::from_word(before.wrapping_add(value.to_word())).to_word());
        line.dirty = true;
        T::from_word(before)
    }

    fn clean(&self, fake: &Fake) {
        self.maintain(fake, false);
    }

    fn clean_invalidate(&self, fake: &Fake) {
        self.maintain(fake, true);
    }
}

impl<T> Cell<T> {
    /// In one step, as a line's maintenance is: a store of another CPU comes before it or after it.
    fn maintain(&self, fake: &Fake, invalidate: bool) {
        assert!(!fake.options.coherent, "maintenance on a coherent machine");
        if !fake.cache_is_on() {
            return; // out of coherency, it does not reach what other CPUs' caches hold
        }
        let mut line = self.line.lock().unwrap();
        if line.dirty {
            line.memory = line.cached.unwrap();
            line.dirty = false;
        }
        if invalidate {
            line.cached = None;
        }
    }
}

/// What kind of machine.
#[derive(Clone, Copy)]
pub struct Options {
    pub coherent: bool,
    pub order: MessageOrder,
    pub format: PowerStateFormat,
    pub optional: OptionalCalls,
    pub system_suspend: bool,
    pub default_suspend: bool,
    pub trusted_os: TrustedOs,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            coherent: false,
            order: MessageOrder::InsideLocks,
            format: PowerStateFormat::Original,
            optional: OptionalCalls { os_initiated: true, ..OptionalCalls::NONE },
            system_suspend: true,
            default_suspend: false,
            trusted_os: TrustedOs::Absent,
        }
    }
}

/// What other CPUs do while one is in its next WFI.
type AtWfi = Box<dyn FnOnce() + Send>;

pub struct Fake {
    pub options: Options,
    pub strict: AtomicBool,
    now: AtomicU64,
    caches: [AtomicBool; CPUS],
    interrupts: [AtomicBool; CPUS],
    saved: [AtomicBool; CPUS],
    pub interrupt: [AtomicBool; CPUS],
    /// The power controller refuses the next power-downs.
    pub refuse: AtomicBool,
    pub at_wfi: Mutex<Option<AtWfi>>,
    pub in_standby: Mutex<Option<AtWfi>>,
    pub power_on_error: Mutex<Option<Error>>,
    pub veto: AtomicBool,
    /// What was done, in order: operations, and the points that were stamped.
    pub log: Mutex<Vec<String>>,
}

thread_local! {
    static CPU: StdCell<u16> = const { StdCell::new(0) };
}

/// What unwinds a CPU that loses its stack.
struct PoweredDown;

/// How a piece of a CPU's life ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ran<T> {
    Returned(T),
    PoweredDown,
}

impl<T: std::fmt::Debug> Ran<T> {
    pub fn returned(self) -> T {
        match self {
            Ran::Returned(value) => value,
            Ran::PoweredDown => panic!("the CPU powered down"),
        }
    }

    pub fn powered_down(self) {
        assert!(matches!(self, Ran::PoweredDown), "the CPU did not power down: {self:?}");
    }
}

impl Fake {
    fn cache_is_on(&self) -> bool {
        self.caches[self.this_cpu().get()].load(SeqCst)
    }

    /// The caches of a CPU, for tests of locks.
    pub fn set_cache(&self, cpu: u16, on: bool) {
        self.caches[usize::from(cpu)].store(on, SeqCst);
    }

    fn meanwhile(&self, action: &Mutex<Option<AtWfi>>) {
        let action = action.lock().unwrap().take();
        if let Some(action) = action {
            let cpu = CPU.get();
            action();
            CPU.set(cpu);
        }
    }

    fn note(&self, what: impl Into<String>) {
        self.log.lock().unwrap().push(what.into());
    }

    fn switch(&self, what: &[AtomicBool; CPUS], name: &str, on: bool) {
        let was = what[self.this_cpu().get()].swap(on, SeqCst);
        assert_ne!(was, on, "{name} already {}", if on { "on" } else { "off" });
        self.note(format!("{name} {}", if on { "on" } else { "off" }));
    }
}

impl points::Sink for Fake {
    fn now(&self) -> u64 {
        self.now.fetch_add(10, SeqCst)
    }

    fn capture(&self, point: points::Point, argument: u32, _ticks: u64) {
        self.note(format!("{} {argument:#x}", point.name()));
    }
}

impl Platform for Fake {
    type Shared<T: Scalar> = Cell<T>;

    fn this_cpu(&self) -> CpuIndex {
        CpuIndex(CPU.get())
    }

    fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex> {
        CPU_TABLE.iter().position(|cpu| cpu.mpidr == mpidr).map(|cpu| CpuIndex(cpu as u16))
    }

    fn counter_frequency(&self) -> u64 {
        TICKS_PER_US * 1_000_000
    }

    fn coherent_power_down(&self) -> bool {
        self.options.coherent
    }

    fn message_order(&self) -> MessageOrder {
        self.options.order
    }

    fn is_power_down(&self, level: Level, state: LocalState) -> bool {
        state.0 >= if level == 3 { 1 } else { 2 }
    }

    fn decode_power_state(&self, raw: u32) -> Result<SuspendRequest, Error> {
        let fields = PowerState::parse(self.options.format, raw).ok_or(Error::InvalidParameters)?;
        let nibble = |n: u32| (fields.state_id >> (4 * n) & 0xf) as u8;
        let state = state([nibble(0), nibble(1), nibble(2), 0]);
        let retains = self.this_cpu().get() >= 3;
        let known = matches!(nibble(0), 1 | 2)
            && (matches!(nibble(1), 0 | 2) || nibble(1) == 1 && retains)
            && nibble(2) <= 3
            && fields.state_id >> 16 == 0;
        if !known || fields.level.is_some_and(|level| level != state.highest()) {
            return Err(Error::InvalidParameters);
        }
        Ok(SuspendRequest { state, last_at_level: nibble(3) })
    }

    fn off_state(&self) -> CompositeState {
        state([2, 2, 3, 0])
    }

    fn power_state_format(&self) -> PowerStateFormat {
        self.options.format
    }

    fn is_valid_entry_point(&self, address: u64) -> bool {
        address >= 0x6000_0000
    }

    fn power_down_allowed(&self, _: &CompositeState, _: PowerDown) -> bool {
        !self.veto.load(SeqCst)
    }

    fn system_suspend_state(&self) -> Option<CompositeState> {
        self.options.system_suspend.then_some(state([2, 2, 3, 1]))
    }

    fn default_suspend_state(&self) -> Option<CompositeState> {
        self.options.default_suspend.then_some(state([2, 0, 0, 0]))
    }

    fn optional_calls(&self) -> OptionalCalls {
        self.options.optional
    }

    fn trusted_os(&self) -> TrustedOs {
        self.options.trusted_os
    }

    fn node_hw_state(&self, _: CpuIndex, _: Level) -> Result<HwState, Error> {
        Ok(HwState::Standby)
    }

    fn mem_protect(&self, _: bool) -> Result<bool, Error> {
        Ok(true)
    }

    fn mem_protect_check_range(&self, base: u64, length: u64) -> bool {
        // Panics where the library lets a range through that wraps.
        assert!(base + (length - 1) >= base);
        base == 0x8000_0000
    }

    fn system_reset2(&self, _: u32, _: u64) -> Error {
        Error::InternalFailure
    }

    fn hibernate(&self) -> Error {
        Error::InternalFailure
    }

    fn cpu_freeze(&self) -> Error {
        Error::InternalFailure
    }

    fn migrate(&self, _: CpuIndex) -> Result<(), Error> {
        Ok(())
    }

    fn barrier(&self) {}

    fn wait_for_event(&self) {
        std::thread::yield_now();
    }

    fn send_event(&self) {}

    fn save_context(&self) {
        assert!(self.cache_is_on());
        self.switch(&self.saved, "context", true);
    }

    fn restore_context(&self) {
        assert!(self.cache_is_on());
        self.switch(&self.saved, "context", false);
    }

    fn interrupt_pending(&self) -> bool {
        self.interrupt[self.this_cpu().get()].load(SeqCst)
    }

    fn interrupts_off(&self) {
        self.switch(&self.interrupts, "interrupts", false);
    }

    fn interrupts_on(&self) {
        self.switch(&self.interrupts, "interrupts", true);
    }

    fn interrupts_init(&self) {
        self.interrupts[self.this_cpu().get()].store(false, SeqCst);
        self.note("interrupts init");
        self.interrupts_on();
    }

    fn flush_caches(&self, level: Level) {
        self.switch(&self.caches, "caches", false);
        self.note(format!("flushed {level}"));
    }

    fn caches_on(&self) {
        self.switch(&self.caches, "caches", true);
    }

    fn warm_reset(&self) {
        self.caches[self.this_cpu().get()].store(self.options.coherent, SeqCst);
        self.note("reset");
    }

    fn power_down(&self, state: &CompositeState, why: PowerDown) {
        self.note(format!("power_down {:?} {why:?}", state.levels.map(|s| s.0)));
    }

    fn wait_for_power_down(&self) {
        self.note("wfi");
        self.meanwhile(&self.at_wfi);
        if !self.refuse.load(SeqCst) {
            resume_unwind(Box::new(PoweredDown));
        }
    }

    fn power_down_abandoned(&self, state: &CompositeState) {
        self.saved[self.this_cpu().get()].store(false, SeqCst); // the registers are still there
        self.note(format!("abandoned {:?}", state.levels.map(|s| s.0)));
    }

    fn standby(&self, state: &CompositeState) {
        self.now.fetch_add(1000 * TICKS_PER_US, SeqCst);
        self.note(format!("standby {:?}", state.levels.map(|s| s.0)));
        self.meanwhile(&self.in_standby);
    }

    fn power_on(&self, target: CpuIndex) -> Result<(), Error> {
        self.note(format!("power_on {}", target.0));
        self.power_on_error.lock().unwrap().map_or(Ok(()), Err)
    }

    fn powered_up(&self, state: &CompositeState, why: PowerUp) {
        assert_eq!(self.cache_is_on(), self.options.coherent);
        self.note(format!("powered_up {:?} {why:?}", state.levels.map(|s| s.0)));
    }
}

/// The library on a fake machine, CPU 0 booted.
pub struct Rig {
    pub fake: &'static Fake,
    pub psci: Psci<'static, Fake>,
}

pub fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

pub fn fake(options: Options) -> &'static Fake {
    let no = || [const { AtomicBool::new(false) }; CPUS];
    let fake = leak(Fake {
        options,
        strict: AtomicBool::new(true),
        now: AtomicU64::new(1000),
        caches: no(),
        interrupts: no(),
        saved: no(),
        interrupt: no(),
        refuse: AtomicBool::new(false),
        at_wfi: Mutex::new(None),
        in_standby: Mutex::new(None),
        power_on_error: Mutex::new(None),
        veto: AtomicBool::new(false),
        log: Mutex::new(Vec::new()),
    });
    if options.coherent {
        fake.caches.iter().for_each(|cache| cache.store(true, SeqCst));
    }
    fake.set_cache(0, true);
    fake.interrupts[0].store(true, SeqCst);
    fake
}

/// Storage as a simulator allocates it.
pub fn storage(fake: &'static Fake, topology: &Topology<'_>) -> StorageRef<'static, Fake> {
    let words = topology.cpus.len() * usize::from(topology.top());
    StorageRef {
        cpus: leak(topology.cpus.iter().map(|_| CpuRecord::new(fake)).collect::<Vec<_>>()),
        domains: leak(topology.domains.iter().map(|d| DomainRecord::new(fake, d.level)).collect::<Vec<_>>()),
        words: leak((0..words).map(|_| BakeryWord::new()).collect::<Vec<_>>()),
        system: leak(SystemRecord::new()),
    }
}

/// Entry point of CPU_ON in tests.
pub const ON: (u64, u64) = (0x6000_0000, 0x1234);
/// Entry point of CPU_SUSPEND in tests.
pub const RESUME: (u64, u64) = (0x7000_0000, 0x5678);

pub const SUCCESS: u64 = 0;

pub fn code(error: Error) -> u64 {
    i64::from(error.code()) as u64
}

impl Rig {
    pub fn new(options: Options) -> Self {
        let fake = fake(options);
        let psci = Psci::new(fake, &TOPOLOGY, storage(fake, &TOPOLOGY)).unwrap();
        let rig = Self { fake, psci };
        rig.on(0, || rig.psci.boot()).returned();
        rig.forget();
        rig
    }

    /// A machine of which CPUs 0 to `running` - 1 are on.
    pub fn running(options: Options, running: u16) -> Self {
        let rig = Self::new(options);
        for cpu in 1..running {
            rig.turn_on(cpu);
        }
        rig.forget();
        rig
    }

    /// Runs `body` on a CPU.
    pub fn on<T>(&self, cpu: u16, body: impl FnOnce() -> T) -> Ran<T> {
        CPU.set(cpu);
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(value) => Ran::Returned(value),
            Err(payload) if (*payload).is::<PoweredDown>() => Ran::PoweredDown,
            Err(payload) => resume_unwind(payload as Box<dyn Any + Send>),
        }
    }

    pub fn smc(&self, cpu: u16, function: u32, args: [u64; 3]) -> Ran<Outcome> {
        let entered = points::Sink::now(self.fake);
        self.on(cpu, || self.psci.handle_smc(Call { function, args, entered }))
    }

    /// A call that returns, and what.
    pub fn call(&self, cpu: u16, function: u32, args: [u64; 3]) -> u64 {
        match self.smc(cpu, function, args).returned() {
            Outcome::Return([x0, ..]) => x0,
            Outcome::Enter(entry) => panic!("entered {entry:?}"),
        }
    }

    pub fn cpu_on(&self, caller: u16, target: u16, entry: (u64, u64)) -> u64 {
        self.call(caller, psci::id::CPU_ON | psci::id::SMC64, [mpidr(target), entry.0, entry.1])
    }

    pub fn turn_on(&self, cpu: u16) {
        assert_eq!(self.cpu_on(0, cpu, ON), SUCCESS);
        assert_eq!(self.wake(cpu).after, PowerUp::On);
    }

    /// The warm boot of a CPU.
    pub fn wake(&self, cpu: u16) -> EntryPoint {
        self.fake.set_cache(cpu, self.fake.options.coherent);
        self.on(cpu, || self.psci.warm_boot()).returned()
    }

    pub fn suspend(&self, cpu: u16, levels: [u8; 3]) -> Ran<Outcome> {
        self.suspend_as_last(cpu, levels, 0)
    }

    pub fn suspend_as_last(&self, cpu: u16, levels: [u8; 3], last_at: u8) -> Ran<Outcome> {
        let raw = self.power_state(levels, last_at);
        self.smc(cpu, psci::id::CPU_SUSPEND | psci::id::SMC64, [u64::from(raw), RESUME.0, RESUME.1])
    }

    /// The `power_state` for states of the levels 0 to 2.
    pub fn power_state(&self, levels: [u8; 3], last_at: u8) -> u32 {
        let [cpu, cluster, group] = levels.map(u32::from);
        let id = cpu | cluster << 4 | group << 8 | u32::from(last_at) << 12;
        let down = u32::from(cpu >= 2);
        match self.fake.options.format {
            PowerStateFormat::Extended => id | down << 30,
            PowerStateFormat::Original => {
                id | down << 16 | u32::from(state([levels[0], levels[1], levels[2], 0]).highest()) << 24
            }
        }
    }

    pub fn off(&self, cpu: u16) -> Ran<Outcome> {
        self.smc(cpu, psci::id::CPU_OFF, [0; 3])
    }

    pub fn affinity(&self, cpu: u16) -> u64 {
        self.affinity_by(0, cpu)
    }

    /// AFFINITY_INFO by the CPU itself, whose caches the fake machine takes as on for the moment; for tests that
    /// do not know which CPU runs.
    pub fn affinity_of(&self, cpu: u16) -> u64 {
        let was = self.fake.caches[usize::from(cpu)].swap(true, SeqCst);
        let state = self.affinity_by(cpu, cpu);
        self.fake.caches[usize::from(cpu)].store(was, SeqCst);
        state
    }

    pub fn affinity_by(&self, caller: u16, cpu: u16) -> u64 {
        self.call(caller, psci::id::AFFINITY_INFO, [mpidr(cpu), 0, 0])
    }

    /// A time stamp, read by CPU 0 with cache maintenance.
    pub fn time_stamp(&self, cpu: u16, id: u64) -> u64 {
        let args = [0x4100_0400 | id, mpidr(cpu), 1];
        match self.smc(0, psci::id::PMF_GET_TIMESTAMP | psci::id::SMC64, args).returned() {
            Outcome::Return([0, ticks, ..]) => ticks,
            other => panic!("{other:?}"),
        }
    }

    /// The state to which the last power_down message brought the machine.
    pub fn message(&self) -> String {
        let log = self.fake.log.lock().unwrap();
        log.iter().rev().find(|line| line.starts_with("power_down")).cloned().unwrap_or_default()
    }

    pub fn last(&self, prefix: &str) -> String {
        let log = self.fake.log.lock().unwrap();
        log.iter().rev().find(|line| line.starts_with(prefix)).cloned().unwrap_or_default()
    }

    pub fn log(&self) -> Vec<String> {
        self.fake.log.lock().unwrap().clone()
    }

    pub fn forget(&self) {
        self.fake.log.lock().unwrap().clear();
    }
}

pub fn returned(x0: u64) -> Ran<Outcome> {
    Ran::Returned(Outcome::Return([x0, 0, 0, 0]))
}
