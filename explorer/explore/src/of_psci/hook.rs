//! The platform hooks of a port.

/// A platform hook; its number is its place in [`NAMES`].
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub enum Hook {
    /// CPU 0 boots, before the library does; in coherency.
    SetUp,
    /// CPU_ON: the argument is the target's MPIDR.
    On,
    /// A CPU goes off, with these states of its levels.
    Off,
    /// A CPU goes down to sleep.
    Suspend,
    /// A CPU comes up after a CPU_ON.
    OnFinish,
    /// A CPU comes up from its sleep, or does not go down.
    SuspendFinish,
    /// The states of a `power_state`, which is the argument.
    Validate,
    /// The state of a domain whose level is the argument, by what its CPUs ask for.
    TargetState,
    /// The states of SYSTEM_SUSPEND.
    SystemState,
}

/// The names of the hooks in C, by their numbers.
const NAMES: [&str; 9] = [
    "setup",
    "pwr_domain_on",
    "pwr_domain_off",
    "pwr_domain_suspend",
    "pwr_domain_on_finish",
    "pwr_domain_suspend_finish",
    "validate_power_state",
    "get_target_pwr_state",
    "get_sys_suspend_power_state",
];

impl Hook {
    /// The number of hooks.
    pub const NUMBER: usize = NAMES.len();

    /// The name in C of the hook of a number.
    pub const fn name_of(number: usize) -> &'static str {
        NAMES[number % NAMES.len()]
    }
}
