//! Calls in which the library passes on an answer of its platform, and what is right for each.

use super::board::Board;
use super::ledger::{DENIED, INVALID_PARAMETERS as WRONG};
use engine::SplitMix64;
use smc::*;

/// The calls: function id, two arguments, and X0 by the platform's answer.
pub const CALLS: [(u32, u64, u64, [u64; 4]); 16] = [
    // The two modes of a suspend, and the extended format.
    (PSCI_FEATURES, CPU_SUSPEND as u64, 0, [3; 4]),
    (MIGRATE, OWN, 0, [0, DENIED, FAILS, FAILS]),
    (MIGRATE_INFO_TYPE, 0, 0, [2; 4]),
    (MIGRATE_INFO_UP_CPU, 0, 0, [NONE; 4]),
    (NODE_HW_STATE, OWN, 2, [0, 2, FAILS, NONE]),
    (SYSTEM_RESET2, 1 << 31, 7, [FAILS, DENIED, FAILS, NONE]),
    (SYSTEM_OFF2, 1, 0, [FAILS, DENIED, FAILS, NONE]),
    (MEM_PROTECT, 0, 0, [0, 1, FAILS, NONE]),
    (MEM_PROTECT_CHECK_RANGE, 1, 4096, [0, DENIED, DENIED, NONE]),
    (
        SMCCC_ARCH_FEATURES,
        SMCCC_ARCH_SOC_ID as u64,
        0,
        [NONE, 0, 1, 2],
    ),
    (SMCCC_ARCH_SOC_ID, 0, 0, [NONE, 1, 2, 3]),
    (STANDARD_SERVICE_UID, 0, 0, [0, 1, 2, 3]),
    (STANDARD_SERVICE_REVISION, 0, 0, [4, 5, 6, 7]),
    (PMF_VERSION, 0, 0, [0, NONE, NONE, NONE]),
    // They return only if they do not work. They ignore their arguments; the first one says which
    // call the platform must hear of.
    (SYSTEM_OFF, SYSTEM_OFF as u64, 0, [FAILS; 4]),
    (SYSTEM_RESET, SYSTEM_RESET as u64, 0, [FAILS; 4]),
];

/// Calls at the edges of their arguments, with X0 where the platform has its plainest answer.
pub const EDGES: [(u32, u64, u64, u64); 27] = [
    (AFFINITY_INFO | SMC64, 0, 3, WRONG),
    (AFFINITY_INFO | SMC64, NOWHERE, 1, WRONG),
    (CPU_ON | SMC64, NOWHERE, 0, WRONG),
    (PSCI_SET_SUSPEND_MODE, 2, 0, WRONG),
    (MEM_PROTECT, 1, 0, 0),
    (MEM_PROTECT, 2, 0, WRONG),
    (MEM_PROTECT_CHECK_RANGE | SMC64, u64::MAX, 1, 0),
    (MEM_PROTECT_CHECK_RANGE | SMC64, u64::MAX, 2, DENIED),
    (MEM_PROTECT_CHECK_RANGE, 0, 0, DENIED),
    (SYSTEM_RESET2, 1, 0, WRONG),
    (SYSTEM_OFF2, 2, 0, WRONG),
    (SYSTEM_OFF2, 1, 7, WRONG),
    (NODE_HW_STATE, 0, 3, WRONG),
    // The type of a state does not fit it, or a bit is set that has no meaning.
    (CPU_SUSPEND, 1 << 30 | 1, 0, WRONG),
    (CPU_SUSPEND, 2, 0, WRONG),
    (CPU_SUSPEND, 1 << 31 | 1, 0, WRONG),
    // Which calls exist, and in which form.
    (PSCI_VERSION, 0, 0, 0x1_0003),
    (PSCI_VERSION | SMC64, 0, 0, NONE),
    (SMCCC_VERSION, 0, 0, 0x1_0002),
    (PSCI_FEATURES, SMCCC_VERSION as u64, 0, 0),
    (PSCI_FEATURES, SYSTEM_OFF2 as u64, 0, 1),
    (PSCI_FEATURES, (CPU_OFF | SMC64) as u64, 0, NONE),
    // The caller is on. An upper half counts in the 64-bit form.
    (AFFINITY_INFO | SMC64, 0, 2, 0),
    (CPU_ON | SMC64, 1 << 32, 0, WRONG),
    (SYSTEM_RESET2 | SMC64, 0, 7 << 32, FAILS),
    (SYSTEM_OFF2, 0, 0, FAILS),
    (PSCI_STAT_COUNT, NOWHERE, 1, 0),
];

/// The call that reads the first of six time stamps by PMF; the others follow.
pub const STAMPS: u32 = 64;

/// The number of answers that the platform has, and the one that stands for a call that it does
/// not offer.
pub const ANSWERS: u32 = 4;
pub const NOT_OFFERED: u32 = ANSWERS - 1;

/// NOT_SUPPORTED, INTERNAL_FAILURE and NOT_PRESENT.
const NONE: u64 = -1i64 as u64;
const FAILS: u64 = -6i64 as u64;
const NOT_PRESENT: u64 = -7i64 as u64;

/// The CPU that calls, and one that there is not.
const OWN: u64 = u64::MAX;
const NOWHERE: u64 = 0xff_0000;

/// A call of a scenario, which was checked, on a CPU: the function, its arguments, of which one may
/// name a CPU, and the right X0, with the CPU on which the Trusted OS resides, if it does. With LSE
/// it must stay there.
pub fn passes(
    call: u32,
    cpu: usize,
    named: usize,
    home: Option<usize>,
    board: &Board,
    answered: usize,
) -> (u32, u64, u64, u64) {
    let (fixed, shape) = (board.options.lse, board.shape);
    if let Some(&edge) = EDGES.get(call as usize) {
        return edge;
    }
    let found = CALLS.into_iter().find(|&(known, ..)| known == call);
    let (_, first, second, answers) = found.unwrap_or(CALLS[0]);
    let right = match (call, home) {
        (MIGRATE_INFO_TYPE, Some(_)) => fixed.into(),
        (MIGRATE_INFO_UP_CPU, Some(home)) => shape.mpidr(home),
        (MIGRATE, None) => NONE,
        (MIGRATE, Some(_)) if fixed => DENIED,
        (MIGRATE, Some(home)) if home != cpu => NOT_PRESENT,
        _ => answers[answered],
    };
    let first = if first == OWN {
        shape.argument(named)
    } else {
        first
    };
    (call, first, second, right)
}

/// True if there is such a call.
pub fn is_known(call: u32) -> bool {
    (call as usize) < EDGES.len()
        || (STAMPS..STAMPS + 6).contains(&call)
        || CALLS.iter().any(|&(known, ..)| known == call)
}

/// Draws a call.
pub fn draw(random: &mut SplitMix64) -> u32 {
    let all = CALLS
        .iter()
        .map(|call| call.0)
        .chain(0..EDGES.len() as u32)
        .chain(STAMPS..STAMPS + 6);
    all.clone()
        .nth(random.below(all.count() as u64) as usize)
        .unwrap_or_default()
}

/// The name of a call.
pub fn name(call: u32) -> &'static str {
    let function = match call {
        STAMPS..0x8000_0000 => PMF_GET_TIMESTAMP,
        _ => EDGES.get(call as usize).map_or(call, |edge| edge.0),
    };
    smc::name(function).unwrap_or("a call")
}
