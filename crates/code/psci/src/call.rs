//! A call as it comes in, and what becomes of it.

use crate::error::Error;
use crate::transition::PowerUp;

/// An SMC, as the exception vector took it.
///
/// ```
/// use psci::{Call, id};
///
/// // CPU_ON of the CPU with MPIDR 0x101, which starts at 0x6000_0000 with 7 in X0.
/// let call = Call {
///     function: id::CPU_ON | id::SMC64,
///     args: [0x101, 0x6000_0000, 7],
///     entered: 0,
/// };
/// assert_eq!(id::name(call.function), Some("CPU_ON"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Function id, from W0.
    pub function: u32,
    /// Arguments, from X1 to X3.
    pub args: [u64; 3],
    /// The counter when the exception was taken: the ENTER_PSCI stamp.
    pub entered: u64,
}

/// Byte order of data in the normal world: the EE bit of `SCTLR_EL1` or `SCTLR_EL2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Endianness {
    /// Little-endian: EE is 0.
    #[default]
    Little,
    /// Big-endian: EE is 1.
    Big,
}

/// Address at which a CPU enters the normal world, with its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Address of the first instruction.
    pub pc: u64,
    /// Argument, which the CPU finds in X0 or R0.
    pub context_id: u64,
    /// The state that the CPU comes from. After [`PowerUp::On`] the firmware sets the system
    /// registers as for a CPU's first entry; after [`PowerUp::Resume`] they have been restored.
    pub after: PowerUp,
    /// Byte order, which the CPU inherits from the caller of CPU_ON or of the suspend (PSCI
    /// DEN0022, 6.4: the initial state of a CPU).
    pub endianness: Endianness,
}

/// The next step of the SMC vector.
///
/// ```
/// use psci::{Error, Outcome};
///
/// fn describe(outcome: Outcome) -> String {
///     match outcome {
///         Outcome::Return([x0, ..]) => format!("returns {}", x0 as i64),
///         Outcome::Enter(entry) => format!("starts at {:#x}", entry.pc),
///     }
/// }
/// let denied = Outcome::Return([Error::Denied.code() as i64 as u64, 0, 0, 0]);
/// assert_eq!(describe(denied), "returns -3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Returns to the caller with X0 to X3.
    Return([u64; 4]),
    /// Enters the normal world as after a warm boot: a CPU_OFF was abandoned when another CPU had
    /// already turned this one on again.
    Enter(EntryPoint),
}

impl Outcome {
    #[inline(always)]
    pub(crate) const fn value(x0: u64) -> Self {
        Self::Return([x0, 0, 0, 0])
    }

    #[inline(always)]
    pub(crate) const fn error(error: Error) -> Self {
        Self::value(error.register())
    }
}
