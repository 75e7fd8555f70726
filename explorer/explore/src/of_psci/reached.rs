//! The reach of runs of the PSCI library: calls by outcome, and states that were granted.

use self::Call::*;
use super::ledger::States;
use interleavings::subject::Counter;

/// A call, as it is counted.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    On,
    Off,
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

/// Outcomes: X0 by its name, and what else a call may come to.
const SUCCESS: &str = "SUCCESS";
const RESUMED: &str = "resumed after a power-down";
const EARLY: &str = "left early, for an interrupt";
const ABANDONED: &str = "abandoned, or kept its contents";
const DENIED: &str = "DENIED";
const VETOED: &str = "DENIED by the platform";
const INVALID: &str = "INVALID_PARAMETERS";
const ALREADY_ON: &str = "ALREADY_ON";
const ON_PENDING: &str = "ON_PENDING";
const FAILURE: &str = "INTERNAL_FAILURE";
const ADDRESS: &str = "INVALID_ADDRESS";
const UNSUPPORTED: &str = "NOT_SUPPORTED";
const TURNED_ON: &str = "turned on again";
const IS_ON: &str = "ON";
const IS_OFF: &str = "OFF";
const IS_PENDING: &str = "ON_PENDING";
const NONE: &str = "0";
const SOME: &str = "more than 0";
const OTHER: &str = "something else";

impl Call {
    /// All, in their order: each with its name, its weight in a draw where nothing is known yet,
    /// and the outcomes that it may come to.
    pub(crate) const ALL: [(Self, &str, u64, &[&str]); 11] = [
        (
            On,
            "CPU_ON",
            72,
            &[SUCCESS, ALREADY_ON, ON_PENDING, FAILURE, ADDRESS],
        ),
        (Off, "CPU_OFF", 48, &[TURNED_ON, DENIED, VETOED]),
        (
            Suspend,
            "CPU_SUSPEND",
            88,
            &[RESUMED, ABANDONED, EARLY, DENIED, VETOED, INVALID, ADDRESS],
        ),
        (Affinity, "AFFINITY_INFO", 32, &[IS_ON, IS_OFF, IS_PENDING]),
        (
            ClusterAffinity,
            "AFFINITY_INFO of a cluster",
            8,
            &[IS_ON, IS_OFF, IS_PENDING],
        ),
        (
            Other,
            "calls that the platform answers",
            8,
            &[NONE, SOME, DENIED, FAILURE, UNSUPPORTED],
        ),
        (Mode, "PSCI_SET_SUSPEND_MODE", 12, &[SUCCESS, DENIED]),
        (
            DefaultSuspend,
            "CPU_DEFAULT_SUSPEND",
            12,
            &[RESUMED, ABANDONED, EARLY, VETOED, ADDRESS, UNSUPPORTED],
        ),
        (
            SystemSuspend,
            "SYSTEM_SUSPEND",
            6,
            &[
                RESUMED,
                ABANDONED,
                EARLY,
                DENIED,
                VETOED,
                ADDRESS,
                UNSUPPORTED,
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

/// The name of an actor, who loads or stores.
pub fn name_of_actor(actor: u16) -> String {
    let who = Call::ALL
        .get(usize::from(actor / 2))
        .map_or("the warm boot", |(_, name, ..)| name);
    format!(
        "{} of {who}",
        if actor % 2 == 1 {
            "the store"
        } else {
            "the load"
        }
    )
}

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
        (Off, None) => TURNED_ON,
        (_, None) => RESUMED,
        (Affinity | ClusterAffinity, Some(0)) => IS_ON,
        (Affinity | ClusterAffinity, Some(1)) => IS_OFF,
        (Affinity | ClusterAffinity, Some(2)) => IS_PENDING,
        (Count | Residency | Other, Some(0)) => NONE,
        (Count | Residency | Other, Some(1..)) => SOME,
        (Suspend | DefaultSuspend | SystemSuspend, Some(0)) if early => EARLY,
        (Suspend | DefaultSuspend | SystemSuspend, Some(0)) => ABANDONED,
        (_, Some(0)) => SUCCESS,
        (_, Some(-3)) if vetoed => VETOED,
        (_, Some(-3)) => DENIED,
        (_, Some(-2)) => INVALID,
        (_, Some(-4)) => ALREADY_ON,
        (_, Some(-5)) => ON_PENDING,
        (_, Some(-6)) => FAILURE,
        (_, Some(-9)) => ADDRESS,
        (_, Some(-1)) => UNSUPPORTED,
        _ => OTHER,
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
