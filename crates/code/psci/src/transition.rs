//! Why a CPU goes down, and what it comes back from.

/// Why a CPU powers down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerDown {
    /// CPU_OFF: the CPU stays down until a CPU_ON.
    Off,
    /// CPU_SUSPEND or SYSTEM_SUSPEND: an interrupt wakes the CPU.
    Suspend,
}

/// The call or reset that a CPU comes back from when it passes the warm boot path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerUp {
    /// The CPU was off and CPU_ON turned it on.
    On,
    /// The CPU was suspended and an interrupt woke it.
    Resume,
}
