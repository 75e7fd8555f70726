//! Calls in which the library passes on an answer of its platform, and what is right for each.

use super::board::Board;
use super::ledger::{DENIED, INVALID_PARAMETERS as WRONG};
use engine::SplitMix64;
use smc::*;

/// The calls: function id, two arguments, and X0 by the platform's answer.
pub const CALLS: [(u32, u64, u64, [u64; 4]); 15] = [
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
    (PMF_VERSION, 0, 0, [0, NONE, NONE, NONE]),
    // They return only where they do not work.
    (SYSTEM_OFF, 0, 0, [FAILS; 4]),
    (SYSTEM_RESET, 0, 0, [FAILS; 4]),
];

/// Calls at the edges of their arguments, with X0 where the platform has its plainest answer.
pub const EDGES: [(u32, u64, u64, u64); 16] = [
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
];

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

/// A call of a scenario, which was checked, on a CPU: the function, its arguments and the right X0,
/// with the CPU on which the Trusted OS resides, if it does. With LSE it must stay there.
pub fn passes(
    call: u32,
    cpu: usize,
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
        shape.argument(cpu)
    } else {
        first
    };
    (call, first, second, right)
}

/// True if there is such a call.
pub fn is_known(call: u32) -> bool {
    (call as usize) < EDGES.len() || CALLS.iter().any(|&(known, ..)| known == call)
}

/// Draws a call.
pub fn draw(random: &mut SplitMix64) -> u32 {
    let drawn = random.below((CALLS.len() + EDGES.len()) as u64) as usize;
    CALLS
        .get(drawn)
        .map_or_else(|| (drawn - CALLS.len()) as u32, |call| call.0)
}

/// The name of a call.
pub fn name(call: u32) -> &'static str {
    let function = EDGES.get(call as usize).map_or(call, |edge| edge.0);
    smc::name(function).unwrap_or("a call")
}
