//! The frames of a process.

/// The entry of a frame of a CPU's process.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Entry {
    /// The CPU that the machine starts with.
    ColdBoot,
    /// EL3, called by the normal world below.
    Smc,
    /// A CPU without power, then EL3 from the reset vector on.
    Down,
    /// An SCP channel, the timer or a power unit.
    Service,
}

impl Entry {
    /// The entry whose number the engine hands back.
    pub fn from_number(number: u32) -> Self {
        [Self::ColdBoot, Self::Smc, Self::Down, Self::Service][number as usize & 3]
    }
}
