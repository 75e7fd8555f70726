//! The kinds of worlds.

/// The kinds of worlds.
#[derive(Clone, Copy, PartialEq)]
pub enum World {
    /// Simulated hardware.
    Sim,
    /// This machine.
    Host,
    /// Real firmware on an emulated machine.
    Qemu,
}

impl World {
    /// The world's name on the command line and in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Host => "host",
            Self::Qemu => "qemu",
        }
    }
    /// Names of the programs and files that an experiment in this world needs on the machine.
    pub const fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Sim | Self::Host => &[],
            Self::Qemu => &[
                "qemu-system-aarch64",
                "a checkout of Stopwatt, from which the firmware is built, and Rust",
            ],
        }
    }
}
