//! The emulated machine.

/// Version of the interrupt controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gic {
    /// At most 8 CPUs.
    V2,
    /// Clusters of 16 CPUs.
    V3,
}

impl Gic {
    /// 2 or 3.
    pub const fn version(self) -> u8 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }
}

/// QEMU's `virt` machine with a secure world.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// 1 to 32; at most 8 with [`Gic::V2`].
    pub cpus: usize,
    /// Interrupt controller.
    pub gic: Gic,
    /// True if the CPUs have EL2.
    pub virtualization: bool,
    /// The CPU model, as QEMU names it.
    pub cpu: String,
    /// Memory of the normal world in MiB, at least 1024. It starts at [`Machine::MEMORY`].
    pub memory_mib: u32,
    /// Nanoseconds of machine time that an instruction takes, as a power of two; `None` for the
    /// host's time.
    pub icount: Option<u8>,
}

impl Machine {
    /// A machine with GICv3, the usual CPU model and a gigabyte of memory, without EL2, in the
    /// host's time.
    pub fn new(cpus: usize) -> Self {
        Self {
            cpus,
            gic: Gic::V3,
            virtualization: false,
            cpu: Self::CPU.to_owned(),
            memory_mib: Self::MEMORY_MIB,
            icount: None,
        }
    }

    /// The CPU model unless another one is asked for.
    pub const CPU: &'static str = "cortex-a57";
    /// Memory in MiB unless more is asked for.
    pub const MEMORY_MIB: u32 = 1024;
    /// Address of the memory's first byte.
    pub const MEMORY: u64 = 0x4000_0000;
    /// Frequency of the generic counter in Hz.
    pub const COUNTER_HZ: u64 = 62_500_000;

    /// Nanoseconds of a counter tick.
    pub const TICK_NS: u64 = 1_000_000_000 / Self::COUNTER_HZ;

    /// Instructions in a number of counter ticks; fractions only where a tick is not a whole number
    /// of them.
    pub fn instructions(&self, ticks: u64) -> f64 {
        let nanoseconds = (ticks * Self::TICK_NS) as f64;
        nanoseconds / (1u64 << self.icount.unwrap_or(0)) as f64
    }

    /// The first address behind the memory.
    pub fn memory_end(&self) -> u64 {
        Self::MEMORY + (u64::from(self.memory_mib) << 20)
    }

    /// Arguments of the emulator.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let virtualization = if self.virtualization {
            ",virtualization=on"
        } else {
            ""
        };
        let mut arguments = vec![
            "-M".to_owned(),
            format!(
                "virt,secure=on{virtualization},gic-version={}",
                self.gic.version()
            ),
            "-cpu".to_owned(),
            self.cpu.clone(),
            "-smp".to_owned(),
            self.cpus.to_string(),
        ];
        // No network: Debian's package has no boot ROM for it.
        let rest = "-nic none -display none -monitor none -serial stdio";
        arguments.extend(rest.split(' ').map(str::to_owned));
        arguments.extend(["-m".to_owned(), self.memory_mib.to_string()]);
        if let Some(shift) = self.icount {
            arguments.extend(["-icount".to_owned(), format!("shift={shift},sleep=off")]);
        }
        arguments
    }
}
