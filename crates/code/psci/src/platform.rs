//! The interface of the machine under the library.

use crate::call::Endianness;
use crate::cell::{Scalar, SharedCell};
use crate::cpu_index::CpuIndex;
use crate::error::Error;
use crate::identity::{Identity, Service};
use crate::power_state::PowerStateFormat;
use crate::settings::{LockKind, MessageOrder, OptionalCalls, SuspendModeChange};
use crate::state::{CompositeState, HwState, Level, LocalState};
use crate::suspend_request::SuspendRequest;
use crate::transition::{PowerDown, PowerUp};
use crate::trusted_os::TrustedOs;

/// Number of [`LocalState`]s a power domain keeps statistics of.
pub const STAT_SLOTS: usize = 4;

/// The machine under the library.
///
/// # What a port must say
/// All methods without a default. The rest have the answer that fits most machines: optional calls
/// are not offered, coordination takes the shallowest request, any entry point will do.
///
/// One value stands for the whole machine and is shared by all CPUs; a method acts on the CPU that
/// calls it. Every method but the cheap queries (`this_cpu`, `cpu_by_mpidr`, `is_power_down` and
/// the settings) is an *operation*: it takes time, and other CPUs may run meanwhile.
///
/// No value with a `Drop` that matters may live across an operation: a CPU that powers down
/// loses its stack, as hardware does.
pub trait Platform: points::Sink + Sized {
    /// One word shared between CPUs.
    type Shared<T: Scalar>: SharedCell<T, Self>;

    // --- The CPUs and their states: cheap queries -----------------------------------------------

    /// The CPU that executes the call.
    fn this_cpu(&self) -> CpuIndex;

    /// The CPU with these affinity fields (`MPIDR_EL1` masked to Aff3..Aff0), if there is one.
    fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex>;

    /// Frequency of [`points::Sink::now`] in Hz, as in `CNTFRQ_EL0`.
    fn counter_frequency(&self) -> u64;

    /// True if caches stay coherent while a CPU powers down (hardware-assisted coherency): then the
    /// library neither flushes by set/way nor maintains single lines.
    fn coherent_power_down(&self) -> bool {
        false
    }

    /// The kind of lock that guards a power domain's state.
    fn lock_kind(&self) -> LockKind {
        if self.coherent_power_down() {
            LockKind::Ticket
        } else {
            LockKind::Bakery
        }
    }

    /// The order of the message to the power controller and of the release of the locks.
    fn message_order(&self) -> MessageOrder {
        MessageOrder::InsideLocks
    }

    /// True if `state` of a domain at `level` loses its contents (power-down) rather than keeping
    /// them (retention).
    fn is_power_down(&self, level: Level, state: LocalState) -> bool;

    /// The request in the original or extended `power_state` argument of CPU_SUSPEND. The library
    /// has already checked the bits that [`Platform::power_state_format`] reserves;
    /// [`PowerState`](crate::PowerState) takes the fields apart.
    ///
    /// # Errors
    /// No such state: the call returns the error, by the specification
    /// [`Error::InvalidParameters`].
    fn decode_power_state(&self, power_state: u32) -> Result<SuspendRequest, Error>;

    /// The request of a CPU that is off at every level: the CPU's state after CPU_OFF, and the
    /// deepest state that each ancestor may take when all CPUs below it are off. A level that
    /// CPU_OFF never takes down is [`LocalState::RUN`], and so is every level above it.
    fn off_state(&self) -> CompositeState;

    /// Layout of `power_state`.
    fn power_state_format(&self) -> PowerStateFormat {
        PowerStateFormat::Original
    }

    /// The state that a domain at `level` takes when the CPUs below it ask for `requests` (one of
    /// them is the caller; CPUs that are off ask for [`Platform::off_state`]). By default the
    /// shallowest: the lowest number.
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

    /// True if the normal world may be entered at `address`; if not, the call returns
    /// INVALID_ADDRESS.
    fn is_valid_entry_point(&self, address: u64) -> bool {
        let _ = address;
        true
    }

    /// The platform's veto, asked before anything has changed: a CPU_OFF or CPU_SUSPEND that it
    /// refuses returns DENIED.
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

    /// The optional calls that the platform offers.
    fn optional_calls(&self) -> OptionalCalls {
        OptionalCalls::NONE
    }

    /// When the mode may be changed to OS-initiated; asked where [`OptionalCalls::os_initiated`].
    fn suspend_mode_change(&self) -> SuspendModeChange {
        SuspendModeChange::WhileNobodySleeps
    }

    /// Byte order of the normal world's data on this CPU, which a CPU that it turns on, or its own
    /// way back from a suspend, inherits: the EE bit of `SCTLR` at the highest exception level that
    /// the normal world has. `None`, the default, says that the machine's normal world is always
    /// little-endian, and nothing is kept.
    fn caller_endianness(&self) -> Option<Endianness> {
        None
    }

    /// The Trusted OS, if there is one that ties itself to a CPU.
    fn trusted_os(&self) -> TrustedOs {
        TrustedOs::Absent
    }

    /// Which of a domain's [`STAT_SLOTS`] statistics counts `state`; `None` if nobody counts it. By
    /// default state 1 is counted in slot 0, and so on.
    fn stat_slot(&self, level: Level, state: LocalState) -> Option<usize> {
        let _ = level;
        usize::from(state.0)
            .checked_sub(1)
            .filter(|&slot| slot < STAT_SLOTS)
    }

    /// The answer of SMCCC_ARCH_FEATURES to a function that the library does not know: 0 or more if
    /// implemented (SMCCC DEN0028, 7.3), -1 if not.
    fn smccc_arch_feature(&self, function: u32) -> i32 {
        let _ = function;
        -1
    }

    /// A call of the Arm architecture service other than SMCCC_VERSION and SMCCC_ARCH_FEATURES,
    /// such as SMCCC_ARCH_WORKAROUND_1, or with bit 30 of `function` a call in its 64-bit form: X0
    /// to X3, or `None` for NOT_SUPPORTED.
    fn smccc_arch_call(&self, function: u32, args: [u64; 3]) -> Option<[u64; 4]> {
        let _ = (function, args);
        None
    }

    /// The identity that a service answers with. Firmware that adds calls of its own to a service
    /// gives it an identity of its own.
    fn service_identity(&self, service: Service) -> Identity {
        service.identity()
    }

    // --- Shared memory and events
    // --------------------------------------------------------------------

    /// Completes all stores and cache maintenance of this CPU before anything after it (`DSB SY`).
    fn barrier(&self);

    /// Waits for an event or returns at once; may return for no reason (`WFE`).
    fn wait_for_event(&self);

    /// Completes stores, then wakes every CPU in [`Platform::wait_for_event`] (`DSB`, `SEV`).
    fn send_event(&self);

    // --- The CPU's own hardware
    // ----------------------------------------------------------------------

    /// Saves the system registers that the normal world expects to find again after a power-down.
    fn save_context(&self);

    /// Puts back what [`Platform::save_context`] saved.
    fn restore_context(&self);

    /// True if an interrupt that would wake this CPU is pending.
    fn interrupt_pending(&self) -> bool;

    /// Turns this CPU's interrupt controller interface off, so that no interrupt reaches a CPU that
    /// powers down.
    fn interrupts_off(&self);

    /// Turns this CPU's interrupt controller interface back on, after a resume or an abandoned
    /// power-down.
    fn interrupts_on(&self);

    /// Sets up this CPU's part of the interrupt controller from nothing, after a CPU_ON (on GICv3,
    /// the redistributor too).
    fn interrupts_init(&self);

    /// Turns the data cache off, cleans and invalidates every cache up to `level` by set/way and
    /// leaves coherency. From here on this CPU's accesses go to memory.
    fn flush_caches(&self, level: Level);

    /// Requests a flush by hardware, where caches stay coherent while a CPU powers down and
    /// [`Platform::flush_caches`] is not called: tells the core, by its power control register,
    /// that its next WFI is a power-down up to `level`, in which hardware flushes what loses power.
    /// By default nothing.
    fn request_hardware_flush(&self, level: Level) {
        let _ = level;
    }

    /// Joins coherency and turns the data cache on.
    fn caches_on(&self);

    /// Brings EL3 to the point where code can run on this CPU after a reset: system registers, MMU
    /// on, data cache still off unless [`Platform::coherent_power_down`].
    fn warm_reset(&self);

    // --- Power
    // ---------------------------------------------------------------------------------------

    /// Prepares the levels in `state` for power-down (interconnect ports closed) and tells the
    /// power controller. The CPU goes down at its next [`Platform::wait_for_power_down`].
    fn power_down(&self, state: &CompositeState, why: PowerDown);

    /// The terminal WFI; completes this CPU's stores first (`DSB`, `WFI`). Normally the CPU is next
    /// seen in the warm boot path; if the power controller refuses, or an interrupt came first,
    /// this returns: an abandoned power-down.
    fn wait_for_power_down(&self);

    /// Undoes [`Platform::power_down`] after an abandoned power-down. As [`Platform::powered_up`],
    /// called with the ancestors locked and the data cache off.
    fn power_down_abandoned(&self, state: &CompositeState);

    /// Waits in a standby or retention state until an interrupt is pending (`WFI`, contents kept).
    fn standby(&self, state: &CompositeState);

    /// Asks the power controller to turn on a CPU that is off; it will pass the warm boot path.
    ///
    /// No lock of a power domain is held: this may come while the last CPU of the target's domain
    /// is on its way down with it. Which of the two the power controller heard first decides; in
    /// either case the target finds the domain's state as it was written, and opens it again.
    ///
    /// # Errors
    /// The power controller refuses: nothing changed.
    fn power_on(&self, target: CpuIndex) -> Result<(), Error>;

    /// The CPU is back from `state`; opens again what [`Platform::power_down`] closed at the levels
    /// that lost power. Called with the ancestors locked and the data cache off.
    fn powered_up(&self, state: &CompositeState, why: PowerUp);

    // --- The whole system and optional calls: all have a default
    // -------------------------------------

    /// Turns the system off. Returning means that it did not work: the caller sees
    /// INTERNAL_FAILURE.
    fn system_off(&self) {}

    /// Resets the system. Returning means that it did not work: the caller sees INTERNAL_FAILURE.
    fn system_reset(&self) {}

    /// SYSTEM_RESET2: a reset of the given type, 0 for the architecture's warm reset or a vendor's
    /// with bit 31 set.
    fn system_reset2(&self, reset_type: u32, cookie: u64) -> Error {
        let _ = (reset_type, cookie);
        Error::NotSupported
    }

    /// SYSTEM_OFF2 with HIBERNATE_OFF: off, but in a state from which a saved image can be resumed.
    fn hibernate(&self) -> Error {
        Error::NotSupported
    }

    /// MEM_PROTECT: turns overwriting memory at reset on or off, and returns whether it was on.
    ///
    /// # Errors
    /// The error that the call returns.
    fn mem_protect(&self, enable: bool) -> Result<bool, Error> {
        let _ = enable;
        Err(Error::NotSupported)
    }

    /// MEM_PROTECT_CHECK_RANGE: whether the range, not empty and not wrapping, is protected by
    /// MEM_PROTECT.
    fn mem_protect_check_range(&self, base: u64, length: u64) -> bool {
        let _ = (base, length);
        false
    }

    /// NODE_HW_STATE: what the power controller says of the domain of `cpu` at `level`.
    ///
    /// # Errors
    /// The error that the call returns.
    fn node_hw_state(&self, cpu: CpuIndex, level: Level) -> Result<HwState, Error> {
        let _ = (cpu, level);
        Err(Error::NotSupported)
    }

    /// True if the caller may read time stamps, by PMF's calls; another gets NOT_SUPPORTED.
    fn may_read_stamps(&self) -> bool {
        true
    }

    /// MIGRATE: moves the Trusted OS to `target`.
    ///
    /// # Errors
    /// The error that the call returns.
    fn migrate(&self, target: CpuIndex) -> Result<(), Error> {
        let _ = target;
        Err(Error::NotSupported)
    }
}
