//! The governor of a power domain of CPUs, as genpd of Linux has it (`pm_domain_cpu_gov`, Linux
//! 6.12's `drivers/pmdomain/governor.c`).
//!
//! Where the operating system coordinates idle states, it is asked when the last CPU of the domain
//! enters its deepest state, and says whether the domain follows, and how deep.

use crate::rules::Release;
use core::fmt;

/// An idle state of a power domain. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DomainState {
    /// The time that entering it takes at worst.
    pub off_ns: u64,
    /// The time that leaving it takes at worst.
    pub on_ns: u64,
    /// The time that a stay must last to pay, after the entry.
    pub residency_ns: u64,
}

/// The facts that the governor of a power domain asks for.
pub struct DomainSituation {
    /// The time to the first event for which the timer hardware of any of its CPUs is programmed;
    /// not above 0 where that is past. In nanoseconds.
    pub idle_ns: i64,
    /// The least of the latency limits of its CPUs, and of that for wake-ups, in nanoseconds.
    pub latency_limit_ns: u64,
    /// True if an interrupt of another CPU is on its way to one of its CPUs.
    pub ipi_pending: bool,
}

/// A kind of governor of power domains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DomainKind {
    /// genpd's as in a release of Linux.
    Genpd(Release),
    /// A yardstick: a domain never follows its CPUs.
    Never,
    /// A yardstick: the deepest state, always.
    Deepest,
}

/// It heeds limits of latency. Debian's 5.10.223 does not, and 6.1.176 does; between them nobody
/// looked.
const LIMITS: Release = Release::new(6, 1);
/// It looks for interrupts that are on their way. Debian's 6.12.117 does not, and 7.2.13 does;
/// between them nobody looked.
const PEEKS: Release = Release::new(7, 2);

impl DomainKind {
    /// That of a current kernel.
    pub const CURRENT: Self = Self::Genpd(Release::new(7, 3));

    /// The kind of a name: genpd, genpd@6.1, never or always-deepest.
    pub fn find(name: &str) -> Option<Self> {
        match name {
            "genpd" => Some(Self::CURRENT),
            "never" => Some(Self::Never),
            "always-deepest" => Some(Self::Deepest),
            dated => Release::parse(dated.strip_prefix("genpd@")?).map(Self::Genpd),
        }
    }
}

impl fmt::Display for DomainKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Genpd(release) => write!(f, "genpd@{release}"),
            Self::Never => f.write_str("never"),
            Self::Deepest => f.write_str("always-deepest"),
        }
    }
}

/// The governor of one power domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainGovernor {
    kind: DomainKind,
    was_asked: bool,
}

impl DomainGovernor {
    /// A governor that was not asked yet.
    pub const fn new(kind: DomainKind) -> Self {
        Self {
            kind,
            was_asked: false,
        }
    }

    /// True if a state may be entered under a limit of latency, however long the domain sleeps.
    pub fn allows(&self, state: &DomainState, limit_ns: u64) -> bool {
        let is_allowed = match self.kind {
            DomainKind::Genpd(release) if release >= LIMITS => {
                limit_ns >= state.on_ns + state.off_ns
            }
            DomainKind::Genpd(_) | DomainKind::Deepest => true,
            DomainKind::Never => false,
        };
        is_allowed && state.residency_ns < crate::NEVER_NS
    }

    /// The state that the domain enters, by its number; `None` where it stays on.
    ///
    /// Linux keeps the state from which it begins to search in a variable that holds no more than 1
    /// (`bool cached_power_down_state_idx`, 5.10.223 to 7.3.4): after its first choice a domain
    /// enters none beyond its second state.
    pub fn select(&mut self, states: &[DomainState], situation: &DomainSituation) -> Option<usize> {
        let last = states.len().checked_sub(1)?;
        let release = match self.kind {
            DomainKind::Genpd(release) => release,
            DomainKind::Never => return None,
            DomainKind::Deepest => {
                return states.iter().rposition(|state| self.allows(state, 0));
            }
        };
        let first = if self.was_asked { last.min(1) } else { last };
        self.was_asked = true;
        let idle_ns = u64::try_from(situation.idle_ns)
            .ok()
            .filter(|idle_ns| *idle_ns > 0)?;
        let fits = |state: &DomainState| {
            self.allows(state, situation.latency_limit_ns)
                && idle_ns >= state.residency_ns + state.off_ns
        };
        let state = states[..=first].iter().rposition(fits)?;
        (release < PEEKS || !situation.ipi_pending).then_some(state)
    }
}
