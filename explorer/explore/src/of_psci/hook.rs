//! The platform hooks of a port.

interleavings::worded! {
    /// A platform hook, in the order of the header.
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
    /// A CPU is about to leave coherency for its sleep.
    SuspendEarly = "pwr_domain_suspend_pwrdown_early",
    /// A CPU that was turned on is in coherency.
    OnFinishLate = "pwr_domain_on_finish_late",
    /// A CPU that goes down is about to wait for it, with no domain locked.
    PowerDown = "pwr_domain_pwr_down",
    /// A CPU wants to go off, and has not begun.
    OffEarly = "pwr_domain_off_early",
    /// A CPU alone waits in the state that is the argument.
    Standby = "cpu_standby",
    /// Whether the normal world may be entered at the address that is the argument.
    EntryPoint = "validate_ns_entrypoint",
    /// The system goes off; it does not return.
    SystemOff = "system_off",
    /// The system is reset; it does not return.
    SystemReset = "system_reset",
    /// A reset of a type: whether the type is a vendor's, the type and the cookie. An error returns.
    SystemReset2 = "system_reset2",
    /// The index in statistics of a state of a level.
    StateIndex = "get_pwr_lvl_state_idx",
    /// As `Validate`, for the CPU of an MPIDR.
    Translate = "translate_power_state_by_mpidr",
    /// What the power controller says of the CPU of an MPIDR, up to a level.
    HwState = "get_node_hw_state",
    /// Whether memory from an address on, of a length, can be protected.
    ProtectCheck = "mem_protect_chk",
    /// Whether memory is protected goes to an address.
    ReadProtect = "read_mem_protect",
    /// Memory is protected, or not any more.
    WriteProtect = "write_mem_protect",
    /// A CPU wants to suspend, and has not begun.
    MaySuspend = "pwr_domain_validate_suspend",
}
