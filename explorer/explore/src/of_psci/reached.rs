//! The reach of runs of the PSCI library: calls by outcome, and states that were granted.

use self::Call::*;
use super::ledger::States;
use interleavings::subject::Counter;

/// A call, as it is counted.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    On,
    Off,
    Freeze,
    Suspend,
    Affinity,
    ClusterAffinity,
    Other,
    Mode,
    DefaultSuspend,
    SystemSuspend,
    Count,
    Residency,
}

/// Outcomes: what a call may come to beside the codes of X0.
const RESUMED: &str = "resumed after a power-down";
const EARLY: &str = "left early, for an interrupt";
const ABANDONED: &str = "abandoned, or kept its contents";
const VETOED: &str = "DENIED by the platform";
const TURNED_ON: &str = "turned on again";
const NONE: &str = "0";
const SOME: &str = "more than 0";
const OTHER: &str = "something else";
const AFFINITIES: [&str; 3] = ["ON", "OFF", "ON_PENDING"];
/// X0 by the negative of its code.
const CODES: [&str; 10] = [
    "SUCCESS",
    "NOT_SUPPORTED",
    "INVALID_PARAMETERS",
    "DENIED",
    "ALREADY_ON",
    "ON_PENDING",
    "INTERNAL_FAILURE",
    "NOT_PRESENT",
    "DISABLED",
    "INVALID_ADDRESS",
];

impl Call {
    /// All, in their order: each with its name, its weight in a draw where nothing is known yet,
    /// and the outcomes that it may come to.
    pub(crate) const ALL: [(Self, &str, u64, &[&str]); 12] = [
        (
            On,
            "CPU_ON",
            72,
            &[
                "SUCCESS",
                "ALREADY_ON",
                "ON_PENDING",
                "INTERNAL_FAILURE",
                "INVALID_ADDRESS",
            ],
        ),
        (Off, "CPU_OFF", 48, &[TURNED_ON, "DENIED", VETOED]),
        (
            Freeze,
            "CPU_FREEZE",
            6,
            &[TURNED_ON, "DENIED", VETOED, "NOT_SUPPORTED"],
        ),
        (
            Suspend,
            "CPU_SUSPEND",
            88,
            &[
                RESUMED,
                ABANDONED,
                EARLY,
                "DENIED",
                VETOED,
                "INVALID_PARAMETERS",
                "INVALID_ADDRESS",
            ],
        ),
        (Affinity, "AFFINITY_INFO", 32, &AFFINITIES),
        (
            ClusterAffinity,
            "AFFINITY_INFO of a cluster",
            8,
            &AFFINITIES,
        ),
        (
            Other,
            "calls that the platform answers",
            8,
            &[NONE, SOME, "DENIED", "INTERNAL_FAILURE", "NOT_SUPPORTED"],
        ),
        (Mode, "PSCI_SET_SUSPEND_MODE", 12, &["SUCCESS", "DENIED"]),
        (
            DefaultSuspend,
            "CPU_DEFAULT_SUSPEND",
            12,
            &[
                RESUMED,
                ABANDONED,
                EARLY,
                VETOED,
                "INVALID_ADDRESS",
                "NOT_SUPPORTED",
            ],
        ),
        (
            SystemSuspend,
            "SYSTEM_SUSPEND",
            6,
            &[
                RESUMED,
                ABANDONED,
                EARLY,
                "DENIED",
                VETOED,
                "INVALID_ADDRESS",
                "NOT_SUPPORTED",
            ],
        ),
        (Count, "PSCI_STAT_COUNT", 8, &[NONE, SOME]),
        (Residency, "PSCI_STAT_RESIDENCY", 4, &[NONE, SOME]),
    ];

    const fn outcomes(self) -> &'static [&'static str] {
        Self::ALL[self as usize].3
    }

    /// Index of the call's first outcome among the counts.
    fn first(self) -> usize {
        Self::ALL
            .iter()
            .take(self as usize)
            .map(|(.., outcomes)| outcomes.len() + 1)
            .sum()
    }
}

/// Outcomes of calls, with one for something else each; then states of CPUs, clusters and the
/// system, by who coordinates.
const OUTCOMES: usize = {
    let (mut sum, mut number) = (0, 0);
    while number < Call::ALL.len() {
        sum += Call::ALL[number].3.len() + 1;
        number += 1;
    }
    sum
};

/// The states that a CPU may ask for, and that are counted as they are granted; and their names.
pub const STATES: [States; 6] = [
    [1, 0, 0],
    [2, 0, 0],
    [1, 1, 0],
    [2, 1, 0],
    [2, 2, 0],
    [2, 2, 1],
];
const GRANTED: [&str; STATES.len()] = ["1.0.0", "2.0.0", "1.1.0", "2.1.0", "2.2.0", "2.2.1"];

const COORDINATORS: [&str; 2] = ["the platform coordinates", "the OS coordinates"];

/// The actors on words: calls, by their number in `Call::ALL`, and a CPU that boots.
pub const WARM_BOOT: u16 = Call::ALL.len() as u16;

/// The number of actors.
pub const ACTORS: u16 = 2 * (WARM_BOOT + 1);

/// The number of things that are counted.
pub const COUNTED: usize = OUTCOMES + COORDINATORS.len() * GRANTED.len();

/// All that is counted.
pub fn counted() -> Vec<Counter> {
    let mut all = Vec::with_capacity(COUNTED);
    for (_, of, _, outcomes) in Call::ALL {
        let outcomes = outcomes.iter().chain(&[OTHER]);
        all.extend(outcomes.map(|what| Counter {
            group: "calls by outcome",
            of,
            what,
        }));
    }
    for of in COORDINATORS {
        let group = "states granted to a CPU, its cluster and the system";
        all.extend(GRANTED.map(|what| Counter { group, of, what }));
    }
    all
}

/// Index of a call's outcome among the counts.
pub fn outcome(call: Call, x0: Option<u64>, vetoed: bool, early: bool) -> usize {
    let what = match (call, x0.map(|x0| x0 as i64)) {
        (Off | Freeze, None) => TURNED_ON,
        (_, None) => RESUMED,
        (Affinity | ClusterAffinity, Some(x0 @ 0..3)) => AFFINITIES[x0 as usize],
        (Count | Residency | Other, Some(0)) => NONE,
        (Count | Residency | Other, Some(1..)) => SOME,
        (Suspend | DefaultSuspend | SystemSuspend, Some(0)) if early => EARLY,
        (Suspend | DefaultSuspend | SystemSuspend, Some(0)) => ABANDONED,
        (_, Some(-3)) if vetoed => VETOED,
        (_, Some(x0)) => CODES.get(x0.wrapping_neg() as usize).unwrap_or(&OTHER),
    };
    let outcomes = call.outcomes();
    call.first()
        + outcomes
            .iter()
            .position(|other| *other == what)
            .unwrap_or(outcomes.len())
}

/// Index of granted states among the counts; `None` for others.
pub fn states(granted: &States, by_os: bool) -> Option<usize> {
    let at = STATES.iter().position(|states| states == granted)?;
    Some(OUTCOMES + usize::from(by_os) * GRANTED.len() + at)
}
