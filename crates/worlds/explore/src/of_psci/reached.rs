//! The reach of runs of the PSCI library: calls by outcome, and states that were granted.

use super::ledger::States;
use interleavings::subject::Counter;

/// A call, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub(crate) const ALL: [Self; 11] = [
        Self::On,
        Self::Off,
        Self::Suspend,
        Self::Affinity,
        Self::ClusterAffinity,
        Self::Other,
        Self::Mode,
        Self::DefaultSuspend,
        Self::SystemSuspend,
        Self::Count,
        Self::Residency,
    ];

    /// Weight of the call in a draw where nothing is known yet.
    pub(crate) const fn weight(self) -> u64 {
        match self {
            Self::On => 72,
            Self::Off => 48,
            Self::Suspend => 88,
            Self::Affinity => 32,
            Self::ClusterAffinity => 8,
            Self::Other => 8,
            Self::Mode => 12,
            Self::DefaultSuspend => 12,
            Self::SystemSuspend => 6,
            Self::Count => 8,
            Self::Residency => 4,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::On => "CPU_ON",
            Self::Off => "CPU_OFF",
            Self::Suspend => "CPU_SUSPEND",
            Self::Affinity => "AFFINITY_INFO",
            Self::ClusterAffinity => "AFFINITY_INFO of a cluster",
            Self::Other => "calls that the platform answers",
            Self::Mode => "PSCI_SET_SUSPEND_MODE",
            Self::DefaultSuspend => "CPU_DEFAULT_SUSPEND",
            Self::SystemSuspend => "SYSTEM_SUSPEND",
            Self::Count => "PSCI_STAT_COUNT",
            Self::Residency => "PSCI_STAT_RESIDENCY",
        }
    }

    /// The outcomes that it may come to.
    const fn outcomes(self) -> &'static [&'static str] {
        match self {
            Self::On => &[SUCCESS, ALREADY_ON, ON_PENDING, FAILURE, ADDRESS],
            Self::Off => &[TURNED_ON, DENIED, VETOED],
            Self::Suspend => &[RESUMED, ABANDONED, EARLY, DENIED, VETOED, INVALID, ADDRESS],
            Self::DefaultSuspend => &[RESUMED, ABANDONED, EARLY, VETOED, ADDRESS, UNSUPPORTED],
            Self::SystemSuspend => &[RESUMED, ABANDONED, EARLY, DENIED, VETOED, ADDRESS, UNSUPPORTED],
            Self::Affinity | Self::ClusterAffinity => &[IS_ON, IS_OFF, IS_PENDING],
            Self::Mode => &[SUCCESS, DENIED],
            Self::Count | Self::Residency => &[NONE, SOME],
            Self::Other => &[NONE, SOME, DENIED, FAILURE, UNSUPPORTED],
        }
    }

    /// Index of the call's first outcome among the counts.
    fn first(self) -> usize {
        Self::ALL.iter().take_while(|call| **call != self).map(|call| call.outcomes().len() + 1).sum()
    }
}

/// Outcomes of calls, with one for something else each; then states of CPUs, clusters and the
/// system, by who coordinates.
const OUTCOMES: usize = {
    let (mut sum, mut number) = (0, 0);
    while number < Call::ALL.len() {
        sum += Call::ALL[number].outcomes().len() + 1;
        number += 1;
    }
    sum
};

/// The states that are counted, as they are granted.
const GRANTED: [(States, &str); 6] = [
    ([1, 0, 0], "1.0.0"),
    ([2, 0, 0], "2.0.0"),
    ([1, 1, 0], "1.1.0"),
    ([2, 1, 0], "2.1.0"),
    ([2, 2, 0], "2.2.0"),
    ([2, 2, 1], "2.2.1"),
];

const COORDINATORS: [&str; 2] = ["the platform coordinates", "the OS coordinates"];

/// The actors on words: calls, by their number in `Call::ALL`, and a CPU that boots.
pub(crate) const WARM_BOOT: u16 = Call::ALL.len() as u16;

/// The name of an actor, who loads or stores.
pub(crate) fn name_of_actor(actor: u16) -> String {
    let who = Call::ALL.get(usize::from(actor / 2)).map_or("the warm boot", |call| call.name());
    format!("{} of {who}", if actor % 2 == 1 { "the store" } else { "the load" })
}

/// The number of actors.
pub(crate) const ACTORS: u16 = 2 * (WARM_BOOT + 1);

/// The number of things that are counted.
pub(crate) const COUNTED: usize = OUTCOMES + COORDINATORS.len() * GRANTED.len();

/// All that is counted.
pub(crate) fn counted() -> Vec<Counter> {
    let mut all = Vec::with_capacity(COUNTED);
    for call in Call::ALL {
        let of = call.name();
        let outcomes = call.outcomes().iter().chain(&[OTHER]);
        all.extend(outcomes.map(|what| Counter { group: "calls by outcome", of, what }));
    }
    for of in COORDINATORS {
        all.extend(GRANTED.map(|(_, what)| Counter {
            group: "states granted to a CPU, its cluster and the system",
            of,
            what,
        }));
    }
    all
}

/// Index of a call's outcome among the counts.
pub(crate) fn outcome(call: Call, x0: Option<u64>, vetoed: bool, early: bool) -> usize {
    let what = match (call, x0.map(|x0| x0 as i64)) {
        (Call::Off, None) => TURNED_ON,
        (_, None) => RESUMED,
        (Call::Affinity | Call::ClusterAffinity, Some(0)) => IS_ON,
        (Call::Affinity | Call::ClusterAffinity, Some(1)) => IS_OFF,
        (Call::Affinity | Call::ClusterAffinity, Some(2)) => IS_PENDING,
        (Call::Count | Call::Residency | Call::Other, Some(0)) => NONE,
        (Call::Count | Call::Residency | Call::Other, Some(1..)) => SOME,
        (Call::Suspend | Call::DefaultSuspend | Call::SystemSuspend, Some(0)) => {
            if early {
                EARLY
            } else {
                ABANDONED
            }
        }
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
    call.first() + outcomes.iter().position(|other| *other == what).unwrap_or(outcomes.len())
}

/// Index of granted states among the counts; `None` for others.
pub(crate) fn states(granted: &States, by_os: bool) -> Option<usize> {
    let at = GRANTED.iter().position(|(states, _)| states == granted)?;
    Some(OUTCOMES + usize::from(by_os) * GRANTED.len() + at)
}

/// The number of times that the rarest outcome of a call was reached.
pub(crate) fn rarest_outcome(call: Call, counts: &[u64]) -> u64 {
    let first = call.first();
    counts[first..first + call.outcomes().len()].iter().copied().min().unwrap_or(0)
}

/// The number of times that states were granted, by whoever coordinates less.
pub(crate) fn granted(asked: States, counts: &[u64]) -> u64 {
    let of = |by_os| states(&asked, by_os).map_or(0, |at| counts[at]);
    of(false).min(of(true))
}
