//! The machine as the kernel knows it: domains of CPUs, their operating points and idle states, and
//! what those cost.

use idle::{DomainGovernor, DomainKind, DomainState, States};
use soc::OperatingPoint;
use soc::config::{IdleDomain, IdlePlatform, Machine, PowerDomain};
use soc::meter::{DomainPower, IdlePower};
use std::ops::Range;

/// A machine. What is not published is a field that may be set otherwise.
#[derive(Clone, Debug)]
pub struct Hardware {
    /// The simulated machine below.
    pub machine: Machine,
    /// The domains, in the order of their CPUs.
    pub domains: Vec<Domain>,
    /// Power domains that the kernel switches, the smallest first, where the firmware is called.
    pub power_domains: Vec<SwitchedDomain>,
    /// The number of units of power in a milliwatt, in which Linux keeps its energy model; 1 where
    /// nobody said how many watts a unit is, or where a unit is more.
    pub milliwatt: u32,
}

/// CPUs that share a frequency and go down together.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Name of the domain.
    pub name: String,
    /// CPUs of the domain.
    pub cpus: Range<usize>,
    /// Operating points by rising capacity.
    pub points: Vec<OperatingPoint>,
    /// Idle states, from shallow to deep.
    pub states: Vec<IdleState>,
    /// The same as a governor sees them.
    pub table: States,
}

/// An idle state.
#[derive(Clone, Debug)]
pub struct IdleState {
    /// Name of the idle state.
    pub name: String,
    /// The time that entering takes where no firmware is called, in ps.
    pub entry: u64,
    /// The time that leaving takes where no firmware is called, in ps.
    pub exit: u64,
    /// Powers, and energy of a round trip.
    pub power: IdlePower,
    /// The state of the platform file that CPU_SUSPEND is asked for; `None` where a WFI does.
    pub suspend: Option<&'static str>,
}

/// A power domain that the kernel switches.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchedDomain {
    /// Name of the domain.
    pub name: String,
    /// Names of its states, from shallow to deep, with how often each was entered.
    pub entered: Vec<(String, u64)>,
    pub(crate) cpus: Vec<usize>,
    pub(crate) states: Vec<DomainState>,
    pub(crate) governor: DomainGovernor,
    /// The state that it is in; `None` while it is on.
    pub(crate) state: Option<usize>,
}

impl SwitchedDomain {
    /// The power domains of a platform, the smallest first.
    fn all(idle: &IdlePlatform) -> Vec<Self> {
        let new = |domain: &PowerDomain| Self {
            name: domain.name.clone(),
            entered: domain
                .state_names
                .iter()
                .map(|name| (name.clone(), 0))
                .collect(),
            cpus: domain.cpus.iter().map(|cpu| usize::from(*cpu)).collect(),
            states: domain.states.clone(),
            governor: DomainGovernor::new(DomainKind::CURRENT),
            state: None,
        };
        let mut all: Vec<Self> = idle.power_domains.iter().map(new).collect();
        all.sort_by_key(|domain| domain.cpus.len());
        all
    }

    /// True if it is in its deepest state.
    pub(crate) fn is_in_deepest(&self) -> bool {
        self.state
            .is_some_and(|state| state + 1 == self.states.len())
    }
}

/// The idle states of a domain with some CPUs.
///
/// # Errors
/// Another domain has some of the CPUs, there are no operating points, or no idle states.
fn idle_domain<'i>(
    machine: &Machine,
    idle: &'i IdlePlatform,
    number: usize,
    cpus: &std::ops::Range<usize>,
) -> Result<&'i IdleDomain, String> {
    let topology = &machine.platform.topology;
    let name = &machine.platform.name;
    let domain = &topology.domains[number];
    if topology.cpus[cpus.clone()]
        .iter()
        .any(|cpu| cpu.domain != number)
    {
        return Err(format!(
            "{name}: the CPUs of domain `{}` are not numbered consecutively; list one domain's CPUs before the next's",
            domain.name
        ));
    }
    if domain.operating_points.is_empty() {
        return Err(format!(
            "{name}: domain `{}` has no operating points; give it an `operating_point` table with clock, capacity, core_power and domain_power",
            domain.name
        ));
    }
    let has_these = |of: &&IdleDomain| {
        let numbers = of.cpus.iter().map(|&cpu| usize::from(cpu));
        // Linux may number a domain's CPUs apart, as on Juno: 0 and 3 to 5.
        let is_own = idle.name == *name && of.name == domain.name;
        numbers.eq(cpus.clone()) || (is_own && of.cpus.len() == cpus.len())
    };
    idle.domains.iter().find(has_these).ok_or_else(|| {
        format!(
            "idle states of {}: there is no domain of CPUs {cpus:?}, which {name} has as `{}`",
            idle.name, domain.name
        )
    })
}

/// The idle states of a domain, at a part of their range.
fn states(idle: &IdleDomain, part: u64) -> Vec<IdleState> {
    idle.states
        .iter()
        .enumerate()
        .map(|(depth, state)| IdleState {
            name: state.name.clone(),
            entry: state.entry_ns * 1_000,
            exit: state.exit_ns * 1_000,
            power: IdlePower {
                core: state.core_power,
                domain: state.domain_power,
                core_round_trip: state.core_round_trip.part(part) * 1_000,
                domain_round_trip: state.domain_round_trip.part(part) * 1_000,
            },
            suspend: match (depth, state.coupled) {
                (0, _) => None,
                (_, true) => Some("deepest"),
                (_, false) => Some("level0"),
            },
        })
        .collect()
}

impl Hardware {
    /// A machine whose idle states cost what `idle` says. `part` says how much a round trip costs
    /// within its range, from 0 (lowest) to 1024.
    ///
    /// # Errors
    /// The two do not describe the same CPUs, or there are no operating points.
    pub fn new(machine: &Machine, idle: &IdlePlatform, part: u64) -> Result<Self, String> {
        let topology = &machine.platform.topology;
        let name = &machine.platform.name;
        if topology.cpus.len() > 64 {
            return Err(format!(
                "{name} has {} CPUs; the kernel has at most 64",
                topology.cpus.len()
            ));
        }
        let mut domains = Vec::new();
        let mut first = 0;
        for (number, domain) in topology.domains.iter().enumerate() {
            let count = topology
                .cpus
                .iter()
                .filter(|cpu| cpu.domain == number)
                .count();
            if count == 0 {
                continue;
            }
            let cpus = first..first + count;
            first = cpus.end;
            let idle_domain = idle_domain(machine, idle, number, &cpus)?;
            let states = states(idle_domain, part);
            domains.push(Domain {
                name: domain.name.clone(),
                cpus,
                points: domain.operating_points.clone(),
                states,
                table: idle_domain.table,
            });
        }
        let milliwatt = idle
            .watts_per_unit()
            .map_or(1.0, |watts| 0.001 / watts.value)
            .round()
            .clamp(1.0, f64::from(u32::MAX)) as u32;
        Ok(Self {
            machine: machine.clone(),
            domains,
            power_domains: SwitchedDomain::all(idle),
            milliwatt,
        })
    }

    /// Makes the power that does not hang on work, that of clusters and of idle states, a part of
    /// what it was, in percent.
    pub fn scale_still(&mut self, percent: u64) {
        let scale = |power: u64| power.saturating_mul(percent) / 100;
        for domain in &mut self.domains {
            for point in &mut domain.points {
                point.domain_power =
                    u32::try_from(scale(point.domain_power.into())).unwrap_or(u32::MAX);
            }
            for IdlePower { core, domain, .. } in
                domain.states.iter_mut().map(|state| &mut state.power)
            {
                (*core, *domain) = (scale(*core), scale(*domain));
            }
        }
    }

    /// Number of CPUs.
    pub fn cpus(&self) -> usize {
        self.domains.iter().map(|domain| domain.cpus.len()).sum()
    }

    /// The most idle states that a domain has.
    pub fn states(&self) -> usize {
        self.domains
            .iter()
            .map(|domain| domain.states.len())
            .max()
            .unwrap_or(0)
    }

    /// The energy model that a policy of placement can know: what each core gets done, and its
    /// power, in whole milliwatts where the size of a unit is known, as in Linux. The domains'
    /// shared power is not in it.
    ///
    /// # Errors
    /// Clocks or capacities of 0, or capacities that do not rise.
    pub fn energy_model(&self) -> Result<placement::Model, String> {
        let cpus: Vec<Vec<usize>> = self
            .domains
            .iter()
            .map(|domain| domain.cpus.clone().collect())
            .collect();
        let milliwatts = |power: u32| power / self.milliwatt.max(1);
        let points: Vec<Vec<_>> = self
            .domains
            .iter()
            .map(|domain| {
                domain
                    .points
                    .iter()
                    .map(|point| (point.clock, point.capacity, milliwatts(point.core_power)))
                    .collect()
            })
            .collect();
        let domains: Vec<_> = cpus
            .iter()
            .zip(&points)
            .map(|(cpus, points)| (&cpus[..], &points[..]))
            .collect();
        placement::Model::new(&domains)
    }

    /// The powers that the meter is told, with each domain at one of its operating points.
    pub(crate) fn power(&self, points: &[usize]) -> Vec<DomainPower> {
        let of = |(domain, &point): (&Domain, &usize)| DomainPower {
            cpus: domain.cpus.len(),
            core_running: u64::from(domain.points[point].core_power),
            domain_running: u64::from(domain.points[point].domain_power),
            idle: domain.states.iter().map(|state| state.power).collect(),
        };
        self.domains.iter().zip(points).map(of).collect()
    }
}
