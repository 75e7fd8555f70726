//! Calls in which the library passes on an answer of its platform, and what is right for each.

use super::layout::mpidr;
use super::ledger::DENIED;

/// The calls, by their function ids.
pub(crate) const CALLS: [u32; 13] = [
    smc::PSCI_FEATURES,
    smc::MIGRATE,
    smc::MIGRATE_INFO_TYPE,
    smc::MIGRATE_INFO_UP_CPU,
    smc::NODE_HW_STATE,
    smc::SYSTEM_RESET2,
    smc::SYSTEM_OFF2,
    smc::MEM_PROTECT,
    smc::MEM_PROTECT_CHECK_RANGE,
    smc::SMCCC_ARCH_FEATURES,
    smc::SMCCC_ARCH_SOC_ID,
    smc::STANDARD_SERVICE_UID,
    smc::PMF_VERSION,
];

/// The number of answers that the platform has, and the one that stands for a call that it does
/// not offer.
pub(crate) const ANSWERS: u32 = 4;
pub(crate) const NOT_OFFERED: u32 = ANSWERS - 1;

const NOT_SUPPORTED: u64 = -1i64 as u64;
const INTERNAL_FAILURE: u64 = -6i64 as u64;
const NOT_PRESENT: u64 = -7i64 as u64;

/// The name of a call.
pub(crate) fn name(function: u32) -> &'static str {
    smc::name(function).unwrap_or("a call")
}

/// All of them, for messages.
pub(crate) fn list() -> String {
    CALLS.map(|function| format!("{function:#x} ({})", name(function))).join(", ")
}

/// What the platform says while a call lasts.
pub(crate) struct Asked {
    pub(crate) cpu: usize,
    pub(crate) resident: Option<u8>,
    pub(crate) answered: u32,
}

impl Asked {
    /// The arguments of a call, and the right X0.
    pub(crate) fn right(&self, function: u32) -> ([u64; 3], u64) {
        let own = mpidr(self.cpu);
        let answered = u64::from(self.answered);
        let error = if answered == 1 { DENIED } else { INTERNAL_FAILURE };
        let offered = |x0| if self.answered == NOT_OFFERED { NOT_SUPPORTED } else { x0 };
        let home = self.resident.map(usize::from);
        match function {
            // The two modes of a suspend, and the extended format.
            smc::PSCI_FEATURES => ([smc::CPU_SUSPEND.into(), 0, 0], 3),
            smc::MIGRATE => {
                let of_home = |home| if home != self.cpu { NOT_PRESENT } else { u64::min(answered, 1) * error };
                ([own, 0, 0], home.map_or(NOT_SUPPORTED, of_home))
            }
            smc::MIGRATE_INFO_TYPE => ([0; 3], if home.is_some() { 0 } else { 2 }),
            smc::MIGRATE_INFO_UP_CPU => ([0; 3], home.map_or(NOT_SUPPORTED, mpidr)),
            smc::NODE_HW_STATE => ([own, 0, 0], offered([0, 2, INTERNAL_FAILURE][self.answered.min(2) as usize])),
            smc::SYSTEM_RESET2 => ([0; 3], offered(error)),
            smc::SYSTEM_OFF2 => ([1, 0, 0], offered(error)),
            smc::MEM_PROTECT => ([1, 0, 0], offered(if answered < 2 { answered } else { INTERNAL_FAILURE })),
            smc::MEM_PROTECT_CHECK_RANGE => ([0, 4096, 0], offered(if answered == 0 { 0 } else { DENIED })),
            smc::SMCCC_ARCH_FEATURES => ([smc::SMCCC_ARCH_SOC_ID.into(), 0, 0], answered.wrapping_sub(1)),
            smc::SMCCC_ARCH_SOC_ID => ([0; 3], if answered == 0 { NOT_SUPPORTED } else { answered }),
            smc::STANDARD_SERVICE_UID => ([0; 3], answered),
            _ => ([0; 3], if answered == 0 { 0 } else { NOT_SUPPORTED }),
        }
    }
}
