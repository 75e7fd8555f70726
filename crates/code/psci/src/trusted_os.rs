//! The Trusted OS, as far as it ties itself to a CPU.

use crate::cpu_index::CpuIndex;

/// The kind of Trusted OS, as MIGRATE_INFO_TYPE reports it (PSCI DEN0022, 5.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TrustedOs {
    /// A uniprocessor Trusted OS that [`Platform::migrate`](crate::Platform::migrate) can move; it
    /// lives on this CPU now.
    Migratable(CpuIndex),
    /// A uniprocessor Trusted OS that stays on this CPU, which therefore cannot be turned off.
    Fixed(CpuIndex),
    /// No Trusted OS, or one that any CPU can run.
    #[default]
    Absent,
}
