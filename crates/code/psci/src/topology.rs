//! The shape of the power-domain tree, as the platform describes it.

use crate::cpu_index::CpuIndex;
use crate::platform::Platform;
use crate::settings::LockKind;
use crate::state::{CPU_LEVEL, LEVELS, Level, MAX_LEVEL};
use core::fmt;

/// A power domain above the CPUs: a cluster, a group of clusters, the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainDesc {
    /// Index of the domain that holds this one; `None` for the one at the top.
    pub parent: Option<u16>,
    /// Power level, 1 to [`MAX_LEVEL`].
    pub level: Level,
}

/// A CPU of the power-domain tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuDesc {
    /// Affinity fields of its `MPIDR_EL1`.
    pub mpidr: u64,
    /// Index of its domain at level 1.
    pub parent: u16,
}

/// The tree. All CPUs are at the same depth; the CPUs below any one domain have consecutive
/// numbers.
///
/// ```
/// use psci::{CpuDesc, DomainDesc, Topology};
///
/// // Two clusters of one CPU below one system.
/// let cluster = DomainDesc { parent: Some(2), level: 1 };
/// let topology = Topology {
///     domains: &[cluster, cluster, DomainDesc { parent: None, level: 2 }],
///     cpus: &[CpuDesc { mpidr: 0x000, parent: 0 }, CpuDesc { mpidr: 0x100, parent: 1 }],
/// };
/// assert_eq!(topology.top(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Topology<'t> {
    /// The domains, in any order.
    pub domains: &'t [DomainDesc],
    /// The CPUs, in the order of their [`CpuIndex`].
    pub cpus: &'t [CpuDesc],
}

/// Why [`crate::Psci::new`] refuses a platform.
///
/// ```
/// use psci::{ConfigError, CpuIndex};
///
/// let error = ConfigError::Mpidr { cpu: CpuIndex(3) };
/// assert_eq!(error.to_string(), "the platform does not find CPU 3 by its MPIDR");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no CPU, no domain, or more than 65535 of one.
    Size,
    /// A parent's index is outside the table of domains.
    NoSuchParent {
        /// Index that the table of domains lacks.
        parent: u16,
    },
    /// A domain's level is not one below its parent's, or not in 1 to [`MAX_LEVEL`].
    Level {
        /// Index of the domain.
        domain: u16,
    },
    /// A CPU's parent is not at level 1.
    CpuLevel {
        /// Number of the CPU.
        cpu: CpuIndex,
    },
    /// Not exactly one domain has no parent.
    Roots {
        /// Number of domains without a parent.
        found: usize,
    },
    /// A domain has no CPU below it.
    Empty {
        /// Index of the domain.
        domain: u16,
    },
    /// The CPUs below a domain are not numbered consecutively.
    NotConsecutive {
        /// Index of the domain.
        domain: u16,
    },
    /// [`Platform::cpu_by_mpidr`] does not find a CPU by the MPIDR that the topology gives it.
    Mpidr {
        /// Number of the CPU.
        cpu: CpuIndex,
    },
    /// The storage for CPUs, domains or bakery words does not have the size the topology needs.
    Storage,
    /// Ticket locks exclude nobody while caches are off: they need coherent power-down.
    TicketWithoutCoherency,
    /// [`Platform::off_state`] leaves the CPU itself running or in retention, or is set at a level
    /// above one that runs.
    OffState,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size => f.write_str("a tree needs 1 to 65535 CPUs and domains"),
            Self::NoSuchParent { parent } => {
                write!(f, "there is no domain {parent} to be a parent")
            }
            Self::Level { domain } => write!(
                f,
                "the level of domain {domain} is not one below its parent's"
            ),
            Self::CpuLevel { cpu } => write!(f, "the parent of {cpu:?} is not at level 1"),
            Self::Roots { found } => write!(f, "{found} domains have no parent: there must be one"),
            Self::Empty { domain } => write!(f, "domain {domain} has no CPU"),
            Self::NotConsecutive { domain } => {
                write!(f, "the CPUs of domain {domain} are not consecutive")
            }
            Self::Mpidr { cpu } => write!(f, "the platform does not find {cpu:?} by its MPIDR"),
            Self::Storage => f.write_str("the storage does not fit the topology"),
            Self::TicketWithoutCoherency => f.write_str("ticket locks need coherent power-down"),
            Self::OffState => {
                f.write_str("the off state does not power the CPU down, or skips a level")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

impl Topology<'_> {
    /// Level of the domain at the top: of a tree without a root, 0.
    pub fn top(&self) -> Level {
        self.domains
            .iter()
            .map(|d| d.level)
            .max()
            .unwrap_or(CPU_LEVEL)
    }

    /// Checks all that does not depend on storage.
    pub(crate) fn check<P: Platform>(&self, platform: &P) -> Result<(), ConfigError> {
        let small = |n: usize| n > 0 && n < usize::from(u16::MAX);
        if !small(self.cpus.len()) || !small(self.domains.len()) {
            return Err(ConfigError::Size);
        }
        // A parent one level up: chains end at MAX_LEVEL, so there can be no cycle.
        for (domain, desc) in (0u16..).zip(self.domains) {
            if desc.level == CPU_LEVEL || desc.level > MAX_LEVEL {
                return Err(ConfigError::Level { domain });
            }
            if let Some(parent) = desc.parent {
                let above = self
                    .domains
                    .get(usize::from(parent))
                    .ok_or(ConfigError::NoSuchParent { parent })?;
                if above.level != desc.level + 1 {
                    return Err(ConfigError::Level { domain });
                }
            }
        }
        let found = self.domains.iter().filter(|d| d.parent.is_none()).count();
        if found != 1 {
            return Err(ConfigError::Roots { found });
        }
        for (cpu, desc) in (0u16..).map(CpuIndex).zip(self.cpus) {
            let parent =
                self.domains
                    .get(usize::from(desc.parent))
                    .ok_or(ConfigError::NoSuchParent {
                        parent: desc.parent,
                    })?;
            if parent.level != 1 {
                return Err(ConfigError::CpuLevel { cpu });
            }
            if platform.cpu_by_mpidr(desc.mpidr) != Some(cpu) {
                return Err(ConfigError::Mpidr { cpu });
            }
        }
        if platform.lock_kind() == LockKind::Ticket && !platform.coherent_power_down() {
            return Err(ConfigError::TicketWithoutCoherency);
        }
        let off = platform.off_state();
        if !platform.is_power_down(CPU_LEVEL, off.at(CPU_LEVEL)) || !off.is_without_gaps() {
            return Err(ConfigError::OffState);
        }
        Ok(())
    }

    /// The domains above a CPU, lowest first.
    pub(crate) fn ancestors(&self, cpu: &CpuDesc) -> impl Iterator<Item = u16> {
        core::iter::successors(Some(cpu.parent), |&id| {
            self.domains.get(usize::from(id))?.parent
        })
        .take(LEVELS - 1)
    }
}
