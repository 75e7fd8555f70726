//! The platform hooks of a port.

interleavings::worded! {
    /// A platform hook.
    #[derive(Clone, Copy, PartialEq)]
    enum Hook;
    /// The name in C.
    fn name;

    /// CPU 0 boots, before the library does; in coherency.
    SetUp = "setup",
    /// CPU_ON: the argument is the target's MPIDR.
    On = "pwr_domain_on",
    /// A CPU goes off, with these states of its levels.
    Off = "pwr_domain_off",
    /// A CPU goes down to sleep.
    Suspend = "pwr_domain_suspend",
    /// A CPU comes up after a CPU_ON.
    OnFinish = "pwr_domain_on_finish",
    /// A CPU comes up from its sleep, or does not go down.
    SuspendFinish = "pwr_domain_suspend_finish",
    /// The states of a `power_state`, which is the argument.
    Validate = "validate_power_state",
    /// The state of a domain whose level is the argument, by what its CPUs ask for.
    TargetState = "get_target_pwr_state",
    /// The states of SYSTEM_SUSPEND.
    SystemState = "get_sys_suspend_power_state",
}
