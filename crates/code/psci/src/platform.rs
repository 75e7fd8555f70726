//! What the library asks of the machine under it.

use core::fmt;

/// Dense number of a CPU, from 0; the order is the platform's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CpuIndex(pub u16);

impl CpuIndex {
    /// The number as an index into tables of CPUs.
    #[inline(always)]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for CpuIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPU {}", self.0)
    }
}

/// A value that fits a machine word and can live in a [`SharedCell`].
pub trait Scalar: Copy + 'static {
    /// The value as a word.
    fn to_word(self) -> u64;
    /// The value of a word made by [`Scalar::to_word`].
    fn from_word(word: u64) -> Self;
}

macro_rules! scalar {
    ($($int:ty),+) => {$(
        impl Scalar for $int {
            #[inline(always)]
            fn to_word(self) -> u64 { self as u64 }
            #[inline(always)]
            fn from_word(word: u64) -> Self { word as $int }
        }
    )+};
}
scalar!(u8, u16, u32, u64);

impl Scalar for bool {
    #[inline(always)]
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        word != 0
    }
}

/// One word of memory that several CPUs touch, possibly while their caches are off.
///
/// An access is whatever the calling CPU's state makes of it: cached while its data cache is on, straight
/// to memory while it is off. The cells do no maintenance by themselves: that is what the types of
/// [`crate::shared`] add.
///
/// Loads acquire and stores release, as on `LDAR`/`STLR`.
pub trait SharedCell<T: Scalar, P: ?Sized> {
    /// A cell that holds `value`, visible to every CPU.
    fn new(value: T) -> Self;
    /// Reads the cell.
    fn load(&self, platform: &P) -> T;
    /// Writes the cell.
    fn store(&self, platform: &P, value: T);
    /// Adds `value`, wrapping, in one step and returns the value before. Only for CPUs that are coherent (caches on).
    fn fetch_add(&self, platform: &P, value: T) -> T;
    /// Cleans the cell's line to memory (`DC CVAC`), so that a CPU with its caches off reads it.
    fn clean(&self, platform: &P);
    /// Cleans and invalidates the cell's line (`DC CIVAC`), so that the next load reads memory.
    fn clean_invalidate(&self, platform: &P);
}

/// A power level: 0 for a CPU, 1 for its parent domain, up to [`crate::MAX_LEVEL`].
pub type Level = u8;

/// Power level number of the CPUs themselves.
pub const CPU_LEVEL: Level = 0;

/// The state of one power domain, as the platform numbers its states.
///
/// 0 is running; the platform's own numbers grow with the depth of the state. Which of them are retention and
/// which power-down is said by [`Platform::is_power_down`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LocalState(pub u8);

impl LocalState {
    /// The domain runs.
    pub const RUN: Self = Self(0);
}

impl Scalar for LocalState {
    #[inline(always)]
    fn to_word(self) -> u64 {
        u64::from(self.0)
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Self(word as u8)
    }
}

/// Number of power levels that a tree may have, CPUs included (PSCI DEN0022, 4.1: levels 0 to 3).
pub const LEVELS: usize = 4;

/// A local state for each power level, lowest first: what one CPU asks for, or what coordination made of it.
// A word, so that it is copied and looked at as one.
#[repr(align(4))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct CompositeState {
    /// State of the CPU (0) and of its ancestors (1..). Levels that the tree lacks are [`LocalState::RUN`].
    pub levels: [LocalState; LEVELS],
}

impl CompositeState {
    /// Everything runs.
    pub const RUN: Self = Self { levels: [LocalState::RUN; LEVELS] };

    /// The state at `level`; [`LocalState::RUN`] at a level that no tree has.
    #[inline(always)]
    pub fn at(&self, level: Level) -> LocalState {
        self.levels.get(usize::from(level)).copied().unwrap_or(LocalState::RUN)
    }

    /// Sets the state at `level`; does nothing at a level that no tree has.
    #[inline(always)]
    pub fn set(&mut self, level: Level, state: LocalState) {
        if let Some(slot) = self.levels.get_mut(usize::from(level)) {
            *slot = state;
        }
    }

    /// The highest level that does not run; 0 when none does.
    #[inline(always)]
    pub fn highest(&self) -> Level {
        // A byte a level: the highest that is set, without a loop. The lowest bit makes 0 of "all run".
        let packed = u32::from_le_bytes(self.levels.map(|state| state.0));
        ((packed | 1).ilog2() / u8::BITS) as Level
    }
}

/// What decoding a `power_state` yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The state asked for at every level.
    pub state: CompositeState,
    /// Highest level at which the caller says its CPU is the last to go down; used in OS-initiated mode only
    /// (PSCI DEN0022, 4.2.3.2).
    pub last_at_level: Level,
}

/// Why a CPU powers down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerDown {
    /// CPU_OFF: the CPU stays down until a CPU_ON.
    Off,
    /// CPU_SUSPEND or SYSTEM_SUSPEND: an interrupt wakes the CPU.
    Suspend,
}

/// What a CPU comes back from when it passes the warm boot path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerUp {
    /// It was off and CPU_ON turned it on.
    On,
    /// It was suspended and an interrupt woke it.
    Resume,
}

/// How CPUs exclude each other from a power domain's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Lamport's bakery: plain loads and stores with cache maintenance; works while some CPUs have their caches off.
    Bakery,
    /// Ticket lock on one atomic word: only where CPUs stay coherent during power-down.
    Ticket,
}

/// Whether the power controller is told while the ancestor locks are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MessageOrder {
    /// [`Platform::power_down`] is called with the ancestors locked.
    #[default]
    InsideLocks,
    /// The locks are released first: shorter waits, at the price of a window in which a CPU can wake
    /// a domain that the message then turns off.
    OutsideLocks,
}

/// Which layout the `power_state` argument has (PSCI DEN0022, 5.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PowerStateFormat {
    /// StateID in bits 15:0, StateType in bit 16, PowerLevel in bits 25:24.
    #[default]
    Original,
    /// StateID in bits 27:0, StateType in bit 30.
    Extended,
}

/// The calls that a platform may offer on top of those that the library does on its own.
///
/// PSCI_FEATURES and the calls themselves both ask this, so they cannot disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OptionalCalls {
    /// CPU_FREEZE, by [`Platform::cpu_freeze`].
    pub cpu_freeze: bool,
    /// NODE_HW_STATE, by [`Platform::node_hw_state`].
    pub node_hw_state: bool,
    /// PSCI_SET_SUSPEND_MODE and with it the OS-initiated mode. Needs nothing but `last_at_level` in a [`Request`].
    pub os_initiated: bool,
    /// SYSTEM_RESET2, by [`Platform::system_reset2`].
    pub system_reset2: bool,
    /// MEM_PROTECT, by [`Platform::mem_protect`].
    pub mem_protect: bool,
    /// MEM_PROTECT_CHECK_RANGE, by [`Platform::mem_protect_check_range`].
    pub mem_protect_check_range: bool,
    /// SYSTEM_OFF2, by [`Platform::hibernate`].
    pub system_off2: bool,
}

impl OptionalCalls {
    /// No optional call.
    pub const NONE: Self = Self {
        cpu_freeze: false,
        node_hw_state: false,
        os_initiated: false,
        system_reset2: false,
        mem_protect: false,
        mem_protect_check_range: false,
        system_off2: false,
    };
}

/// What NODE_HW_STATE says of a power domain (PSCI DEN0022, 5.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HwState {
    /// HW_ON.
    On = 0,
    /// HW_OFF.
    Off = 1,
    /// HW_STANDBY.
    Standby = 2,
}

/// Whether a Trusted OS ties itself to one CPU (PSCI DEN0022, 5.9: MIGRATE_INFO_TYPE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TrustedOs {
    /// A uniprocessor Trusted OS that [`Platform::migrate`] can move; it lives on this CPU now.
    Migratable(CpuIndex),
    /// A uniprocessor Trusted OS that stays on this CPU, which therefore cannot be turned off.
    Fixed(CpuIndex),
    /// None, or one that any CPU can run.
    #[default]
    Absent,
}

/// Number of [`LocalState`]s a power domain keeps statistics of.
pub const STAT_SLOTS: usize = 4;

/// The machine under the library.
///
/// # What a port must say
/// All methods without a default. The rest have the answer that fits most machines: optional calls are not
/// offered, coordination takes the shallowest request, any entry point will do.
///
/// One value stands for the whole machine and is shared by all CPUs; a method acts on the CPU that calls it.
/// Every method but the cheap queries (`this_cpu`, `cpu_by_mpidr`, `is_power_down` and the settings) is an *operation*: it takes time, and other
/// CPUs may run meanwhile.
///
/// No value with a `Drop` that matters may live across an operation: a CPU that powers down
/// loses its stack, as hardware does.
pub trait Platform: points::Sink + Sized {
    /// One word shared between CPUs.
    type Shared<T: Scalar>: SharedCell<T, Self>;

    // --- Who and how: cheap queries -------------------------------------------------------------

    /// The CPU that executes the call.
    fn this_cpu(&self) -> CpuIndex;

    /// The CPU with these affinity fields (`MPIDR_EL1` masked to Aff3..Aff0), if there is one.
    fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex>;

    /// Frequency of [`points::Sink::now`] in Hz, as in `CNTFRQ_EL0`.
    fn counter_frequency(&self) -> u64;

    /// Whether caches stay coherent while a CPU powers down (hardware-assisted coherency): then the
    /// library neither flushes by set/way nor maintains single lines.
    fn coherent_power_down(&self) -> bool {
        false
    }

    /// The lock of the power domains.
    fn lock_kind(&self) -> LockKind {
        if self.coherent_power_down() { LockKind::Ticket } else { LockKind::Bakery }
    }

    /// When the power controller is told.
    fn message_order(&self) -> MessageOrder {
        MessageOrder::InsideLocks
    }

    /// Whether `state` of a domain at `level` loses its contents (power-down) rather than keeping them (retention).
    fn is_power_down(&self, level: Level, state: LocalState) -> bool;

    /// What the original or extended `power_state` argument of CPU_SUSPEND asks for. The library has already checked
    /// the bits that [`Platform::power_state_format`] reserves; [`crate::PowerState`] takes the fields apart.
    ///
    /// # Errors
    /// No such state: the call returns the error, by the specification [`crate::Error::InvalidParameters`].
    fn decode_power_state(&self, power_state: u32) -> Result<Request, crate::Error>;

    /// What a CPU that is off asks for at every level: the CPU's state after CPU_OFF, and the deepest state
    /// that each ancestor may take when all CPUs below it are off. A level that CPU_OFF never takes down is
    /// [`LocalState::RUN`], and so is every level above it.
    fn off_state(&self) -> CompositeState;

    /// Layout of `power_state`.
    fn power_state_format(&self) -> PowerStateFormat {
        PowerStateFormat::Original
    }

    /// The state that a domain at `level` takes when the CPUs below it ask for `requests` (one of them is the caller;
    /// CPUs that are off ask for [`Platform::off_state`]). By default the shallowest: the lowest number.
    #[inline]
    fn coordinate(&self, level: Level, requests: impl Iterator<Item = LocalState>) -> LocalState {
        let _ = level;
        let mut shallowest = LocalState(u8::MAX);
        for request in requests {
            shallowest = shallowest.min(request);
            if shallowest == LocalState::RUN {
                break;
            }
        }
        shallowest
    }

    /// Whether the normal world may be entered at `address`; if not, the call returns INVALID_ADDRESS.
    fn is_valid_entry_point(&self, address: u64) -> bool {
        let _ = address;
        true
    }

    /// The platform's veto, asked before anything has changed: a CPU_OFF or CPU_SUSPEND that it refuses returns DENIED.
    fn power_down_allowed(&self, request: &CompositeState, why: PowerDown) -> bool {
        let _ = (request, why);
        true
    }

    /// The state of SYSTEM_SUSPEND; `None` if the call is not offered.
    fn system_suspend_state(&self) -> Option<CompositeState> {
        None
    }

    /// The state of CPU_DEFAULT_SUSPEND; `None` if the call is not offered.
    fn default_suspend_state(&self) -> Option<CompositeState> {
        None
    }

    /// Which optional calls there are.
    fn optional_calls(&self) -> OptionalCalls {
        OptionalCalls::NONE
    }

    /// The Trusted OS, if there is one that ties itself to a CPU.
    fn trusted_os(&self) -> TrustedOs {
        TrustedOs::Absent
    }

    /// Which of a domain's [`STAT_SLOTS`] statistics counts `state`; `None` if nobody counts it. By default state 1
    /// is counted in slot 0, and so on.
    fn stat_slot(&self, level: Level, state: LocalState) -> Option<usize> {
        let _ = level;
        usize::from(state.0).checked_sub(1).filter(|&slot| slot < STAT_SLOTS)
    }

    /// The answer of SMCCC_ARCH_FEATURES to a function that the library does not know: 0 or more if implemented (SMCCC
    /// DEN0028, 7.3), -1 if not.
    fn smccc_arch_feature(&self, function: u32) -> i32 {
        let _ = function;
        -1
    }

    // --- Shared memory and events --------------------------------------------------------------------

    /// Completes all stores and cache maintenance of this CPU before anything after it (`DSB SY`).
    fn barrier(&self);

    /// Waits for an event or returns at once; may return for no reason (`WFE`).
    fn wait_for_event(&self);

    /// Completes stores, then wakes every CPU in [`Platform::wait_for_event`] (`DSB`, `SEV`).
    fn send_event(&self);

    // --- The CPU's own hardware ----------------------------------------------------------------------

    /// Saves the system registers that the normal world expects to find again after a power-down.
    fn save_context(&self);

    /// Puts back what [`Platform::save_context`] saved.
    fn restore_context(&self);

    /// Whether an interrupt that would wake this CPU is pending.
    fn interrupt_pending(&self) -> bool;

    /// Turns this CPU's interrupt controller interface off, so that no interrupt reaches a CPU that powers down.
    fn interrupts_off(&self);

    /// Turns this CPU's interrupt controller interface back on, after a resume or an abandoned power-down.
    fn interrupts_on(&self);

    /// Sets up this CPU's part of the interrupt controller from nothing, after a CPU_ON (on GICv3, the redistributor too).
    fn interrupts_init(&self);

    /// Turns the data cache off, cleans and invalidates every cache up to `level` by set/way and leaves coherency.
    /// From here on this CPU's accesses go to memory.
    fn flush_caches(&self, level: Level);

    /// Joins coherency and turns the data cache on.
    fn caches_on(&self);

    /// Brings EL3 to the point where code can run on this CPU after a reset: system registers, MMU on, data cache
    /// still off unless [`Platform::coherent_power_down`].
    fn warm_reset(&self);

    // --- Power ---------------------------------------------------------------------------------------

    /// Prepares the levels in `state` for power-down (interconnect ports closed) and tells the power controller. The
    /// CPU goes down at its next [`Platform::wait_for_power_down`].
    fn power_down(&self, state: &CompositeState, why: PowerDown);

    /// The terminal WFI. Normally the CPU is next seen in the warm boot path; if the power controller refuses,
    /// or an interrupt came first, this returns: an abandoned power-down.
    fn wait_for_power_down(&self);

    /// Undoes [`Platform::power_down`] after an abandoned power-down.
    fn power_down_abandoned(&self, state: &CompositeState);

    /// Waits in a standby or retention state until an interrupt is pending (`WFI`, contents kept).
    fn standby(&self, state: &CompositeState);

    /// Asks the power controller to turn on a CPU that is off; it will pass the warm boot path.
    ///
    /// No lock of a power domain is held: this may come while the last CPU of the target's domain is on its
    /// way down with it. Which of the two the power controller heard first decides; in either case the target
    /// finds the domain's state as it was written, and opens it again.
    ///
    /// # Errors
    /// The power controller refuses: nothing changed.
    fn power_on(&self, target: CpuIndex) -> Result<(), crate::Error>;

    /// The CPU is back from `state`; opens again what [`Platform::power_down`] closed at the levels that lost
    /// power. Called with the ancestors locked and the data cache off.
    fn powered_up(&self, state: &CompositeState, why: PowerUp);

    // --- The whole system and optional calls: all have a default -------------------------------------

    /// Turns the system off. Returning means that it did not work: the caller sees INTERNAL_FAILURE.
    fn system_off(&self) {}

    /// Resets the system. Returning means that it did not work: the caller sees INTERNAL_FAILURE.
    fn system_reset(&self) {}

    /// SYSTEM_RESET2: a reset of the given type, 0 for the architecture's warm reset or a vendor's with bit 31 set.
    fn system_reset2(&self, reset_type: u32, cookie: u64) -> crate::Error {
        let _ = (reset_type, cookie);
        crate::Error::NotSupported
    }

    /// SYSTEM_OFF2 with HIBERNATE_OFF: off, but in a state from which a saved image can be resumed.
    fn hibernate(&self) -> crate::Error {
        crate::Error::NotSupported
    }

    /// MEM_PROTECT: turns overwriting memory at reset on or off, and returns whether it was on.
    ///
    /// # Errors
    /// What the call returns instead.
    fn mem_protect(&self, enable: bool) -> Result<bool, crate::Error> {
        let _ = enable;
        Err(crate::Error::NotSupported)
    }

    /// MEM_PROTECT_CHECK_RANGE: whether the range, not empty and not wrapping, is protected by MEM_PROTECT.
    fn mem_protect_check_range(&self, base: u64, length: u64) -> bool {
        let _ = (base, length);
        false
    }

    /// NODE_HW_STATE: what the power controller says of the domain of `cpu` at `level`.
    ///
    /// # Errors
    /// What the call returns instead.
    fn node_hw_state(&self, cpu: CpuIndex, level: Level) -> Result<HwState, crate::Error> {
        let _ = (cpu, level);
        Err(crate::Error::NotSupported)
    }

    /// CPU_FREEZE: puts the CPU into a low-power state that no interrupt ends. Returning means it could not.
    fn cpu_freeze(&self) -> crate::Error {
        crate::Error::NotSupported
    }

    /// MIGRATE: moves the Trusted OS to `target`.
    ///
    /// # Errors
    /// What the call returns instead.
    fn migrate(&self, target: CpuIndex) -> Result<(), crate::Error> {
        let _ = target;
        Err(crate::Error::NotSupported)
    }
}
