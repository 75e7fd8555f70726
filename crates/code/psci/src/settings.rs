//! The choices of a platform: locks, the order of messages, optional calls.

/// Lock by which CPUs exclude each other from a power domain's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Lamport's bakery: plain loads and stores with cache maintenance; works while some CPUs have
    /// their caches off.
    Bakery,
    /// Ticket lock on one atomic word: only where CPUs stay coherent during power-down.
    Ticket,
}

/// The order of the message to the power controller and of the release of the ancestors' locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MessageOrder {
    /// [`Platform::power_down`](crate::Platform::power_down) is called with the ancestors locked.
    #[default]
    InsideLocks,
    /// The locks are released first: shorter waits, at the price of a window in which a CPU can
    /// wake a domain that the message then turns off.
    OutsideLocks,
}

/// When PSCI_SET_SUSPEND_MODE may change to OS-initiated mode (PSCI DEN0022, 5.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SuspendModeChange {
    /// Whenever no other CPU is in CPU_SUSPEND. An operating system that another one started can
    /// then change the mode, as Linux after a kexec does.
    #[default]
    WhileNobodySleeps,
    /// To the letter of the specification: not once any CPU has called CPU_SUSPEND since the boot
    /// or the last change of mode.
    BeforeAnySuspend,
}

/// The calls that a platform may offer on top of those that the library does on its own.
///
/// PSCI_FEATURES and the calls themselves both ask this, so they cannot disagree.
///
/// ```
/// use psci::OptionalCalls;
///
/// let offered = OptionalCalls { os_initiated: true, ..OptionalCalls::NONE };
/// assert!(offered.os_initiated && !offered.mem_protect);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OptionalCalls {
    /// CPU_FREEZE: [`Platform::power_down`](crate::Platform::power_down) is told
    /// [`CompositeState::RUN`](crate::CompositeState::RUN) and
    /// [`PowerDown::Off`](crate::PowerDown::Off), and
    /// [`Platform::wait_for_power_down`](crate::Platform::wait_for_power_down) waits with the power
    /// on, for a CPU_ON alone, and goes the way of a reset then.
    pub cpu_freeze: bool,
    /// NODE_HW_STATE, by [`Platform::node_hw_state`](crate::Platform::node_hw_state).
    pub node_hw_state: bool,
    /// PSCI_SET_SUSPEND_MODE and with it the OS-initiated mode. Needs nothing but `last_at_level`
    /// in a [`SuspendRequest`](crate::SuspendRequest).
    pub os_initiated: bool,
    /// SYSTEM_RESET2, by [`Platform::system_reset2`](crate::Platform::system_reset2).
    pub system_reset2: bool,
    /// MEM_PROTECT, by [`Platform::mem_protect`](crate::Platform::mem_protect).
    pub mem_protect: bool,
    /// MEM_PROTECT_CHECK_RANGE, by
    /// [`Platform::mem_protect_check_range`](crate::Platform::mem_protect_check_range).
    pub mem_protect_check_range: bool,
    /// SYSTEM_OFF2, by [`Platform::hibernate`](crate::Platform::hibernate).
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
