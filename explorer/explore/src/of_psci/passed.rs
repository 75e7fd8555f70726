//! Calls in which the library passes on an answer of its platform, and what is right for each.

use super::layout::mpidr;
use super::ledger::DENIED;

/// The arguments of a call, and the right X0.
type Right = fn(&Asked) -> ([u64; 3], u64);

/// The calls, by their function ids.
pub const CALLS: [(u32, Right); 13] = [
    // The two modes of a suspend, and the extended format.
    (smc::PSCI_FEATURES, |_| ([smc::CPU_SUSPEND.into(), 0, 0], 3)),
    (smc::MIGRATE, |asked| {
        ([mpidr(asked.cpu), 0, 0], asked.migrated())
    }),
    (smc::MIGRATE_INFO_TYPE, |asked| {
        ([0; 3], if asked.home.is_some() { 0 } else { 2 })
    }),
    (smc::MIGRATE_INFO_UP_CPU, |asked| {
        ([0; 3], asked.home.map_or(NOT_SUPPORTED, mpidr))
    }),
    (smc::NODE_HW_STATE, |asked| {
        (
            [mpidr(asked.cpu), 0, 0],
            asked.offered([0, 2, INTERNAL_FAILURE]),
        )
    }),
    (smc::SYSTEM_RESET2, |asked| {
        (
            [0; 3],
            asked.offered([INTERNAL_FAILURE, DENIED, INTERNAL_FAILURE]),
        )
    }),
    (smc::SYSTEM_OFF2, |asked| {
        (
            [1, 0, 0],
            asked.offered([INTERNAL_FAILURE, DENIED, INTERNAL_FAILURE]),
        )
    }),
    (smc::MEM_PROTECT, |asked| {
        ([1, 0, 0], asked.offered([0, 1, INTERNAL_FAILURE]))
    }),
    (smc::MEM_PROTECT_CHECK_RANGE, |asked| {
        ([0, 4096, 0], asked.offered([0, DENIED, DENIED]))
    }),
    (smc::SMCCC_ARCH_FEATURES, |asked| {
        (
            [smc::SMCCC_ARCH_SOC_ID.into(), 0, 0],
            [NOT_SUPPORTED, 0, 1, 2][asked.answered],
        )
    }),
    (smc::SMCCC_ARCH_SOC_ID, |asked| {
        ([0; 3], [NOT_SUPPORTED, 1, 2, 3][asked.answered])
    }),
    (smc::STANDARD_SERVICE_UID, |asked| {
        ([0; 3], asked.answered as u64)
    }),
    (smc::PMF_VERSION, |asked| {
        (
            [0; 3],
            if asked.answered == 0 {
                0
            } else {
                NOT_SUPPORTED
            },
        )
    }),
];

/// The number of answers that the platform has, and the one that stands for a call that it does
/// not offer.
pub const ANSWERS: u32 = 4;
pub const NOT_OFFERED: u32 = ANSWERS - 1;

const NOT_SUPPORTED: u64 = -1i64 as u64;
const INTERNAL_FAILURE: u64 = -6i64 as u64;
const NOT_PRESENT: u64 = -7i64 as u64;

/// The name of a call.
pub fn name(function: u32) -> &'static str {
    smc::name(function).unwrap_or("a call")
}

/// All of them, for messages.
pub fn list() -> String {
    CALLS
        .map(|(function, _)| format!("{function:#x} ({})", name(function)))
        .join(", ")
}

/// What the platform says while a call lasts.
pub struct Asked {
    pub(crate) cpu: usize,
    /// The CPU on which the Trusted OS resides.
    pub(crate) home: Option<usize>,
    pub(crate) answered: usize,
}

impl Asked {
    /// One of X0's values, by the platform's answer, of a call that it may not offer.
    fn offered(&self, [plainest, second, third]: [u64; 3]) -> u64 {
        [plainest, second, third, NOT_SUPPORTED][self.answered]
    }

    fn migrated(&self) -> u64 {
        match self.home {
            None => NOT_SUPPORTED,
            Some(home) if home != self.cpu => NOT_PRESENT,
            Some(_) => [0, DENIED, INTERNAL_FAILURE, INTERNAL_FAILURE][self.answered],
        }
    }
}
