//! Calls in which the library passes on an answer of its platform, and what is right for each.

use super::ledger::DENIED;

/// The calls, by their function ids: their arguments, and X0 by the platform's answer, where no
/// Trusted OS resides.
pub const CALLS: [(u32, [u64; 2], [u64; ANSWERS as usize]); 15] = [
    // The two modes of a suspend, and the extended format.
    (smc::PSCI_FEATURES, [smc::CPU_SUSPEND as u64, 0], [3; 4]),
    (smc::MIGRATE, [CALLER, 0], [NOT_SUPPORTED; 4]),
    (smc::MIGRATE_INFO_TYPE, [0; 2], [2; 4]),
    (smc::MIGRATE_INFO_UP_CPU, [0; 2], [NOT_SUPPORTED; 4]),
    (
        smc::NODE_HW_STATE,
        [CALLER, 0],
        [0, 2, INTERNAL_FAILURE, NOT_SUPPORTED],
    ),
    (smc::SYSTEM_RESET2, [0; 2], FAILS),
    (smc::SYSTEM_OFF2, [1, 0], FAILS),
    (
        smc::MEM_PROTECT,
        [1, 0],
        [0, 1, INTERNAL_FAILURE, NOT_SUPPORTED],
    ),
    (
        smc::MEM_PROTECT_CHECK_RANGE,
        [0, 4096],
        [0, DENIED, DENIED, NOT_SUPPORTED],
    ),
    (
        smc::SMCCC_ARCH_FEATURES,
        [smc::SMCCC_ARCH_SOC_ID as u64, 0],
        [NOT_SUPPORTED, 0, 1, 2],
    ),
    (smc::SMCCC_ARCH_SOC_ID, [0; 2], [NOT_SUPPORTED, 1, 2, 3]),
    (smc::STANDARD_SERVICE_UID, [0; 2], [0, 1, 2, 3]),
    (
        smc::PMF_VERSION,
        [0; 2],
        [0, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED],
    ),
    // They return only where they do not work.
    (smc::SYSTEM_OFF, [0; 2], [INTERNAL_FAILURE; 4]),
    (smc::SYSTEM_RESET, [0; 2], [INTERNAL_FAILURE; 4]),
];

/// The number of answers that the platform has, and the one that stands for a call that it does
/// not offer.
pub const ANSWERS: u32 = 4;
pub const NOT_OFFERED: u32 = ANSWERS - 1;

const NOT_SUPPORTED: u64 = -1i64 as u64;
const INTERNAL_FAILURE: u64 = -6i64 as u64;
const NOT_PRESENT: u64 = -7i64 as u64;
const FAILS: [u64; 4] = [INTERNAL_FAILURE, DENIED, INTERNAL_FAILURE, NOT_SUPPORTED];

/// Stands for the MPIDR of the CPU that calls.
const CALLER: u64 = u64::MAX;

/// The name of a call.
pub fn name(function: u32) -> &'static str {
    smc::name(function).unwrap_or("a call")
}

/// All of them, for messages.
pub fn list() -> String {
    CALLS
        .map(|(function, ..)| format!("{function:#x} ({})", name(function)))
        .join(", ")
}

/// The arguments of a call of a CPU, and the right X0; `home` is the CPU on which the Trusted OS
/// resides. CPUs are MPIDRs.
pub fn asked(function: u32, caller: u64, home: Option<u64>, answered: usize) -> ([u64; 3], u64) {
    let Some(&(_, [first, second], answers)) = CALLS.iter().find(|call| call.0 == function) else {
        unreachable!("a scenario is checked")
    };
    let right = match (function, home) {
        (smc::MIGRATE, Some(home)) if home != caller => NOT_PRESENT,
        (smc::MIGRATE, Some(_)) => [0, DENIED, INTERNAL_FAILURE, INTERNAL_FAILURE][answered],
        (smc::MIGRATE_INFO_TYPE, Some(_)) => 0,
        (smc::MIGRATE_INFO_UP_CPU, Some(home)) => home,
        _ => answers[answered],
    };
    let first = if first == CALLER { caller } else { first };
    ([first, second, 0], right)
}
