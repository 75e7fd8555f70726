//! Idle states of a platform and what they cost: a file of `platforms/idle`.

use crate::quantity::{hertz, power};
use document::{Document, Result, readers, within};
use idle::{DomainState, State, States};
use serde::Deserialize;
use std::fmt;
use toml::Spanned;

/// The idle states of a platform.
#[derive(Clone, Debug)]
pub struct IdlePlatform {
    /// Name of the platform, as on the command line.
    pub name: String,
    /// One line about it.
    pub title: String,
    /// The powers; `None` where it has none.
    pub power: Option<Power>,
    /// Groups of CPUs that go to sleep together.
    pub domains: Vec<IdleDomain>,
    /// Power domains that the operating system switches (PSCI's OS-initiated mode).
    pub power_domains: Vec<PowerDomain>,
    /// The unit of the operating points' powers, where nobody says what idle states take.
    pub running_unit: Option<WattsPerUnit>,
    /// Powers of cores that depend on the clock of another domain.
    pub beside: Vec<Beside>,
    /// The file's text.
    pub text: String,
    /// The longest exit latency that is allowed; `None` where any is, as in a file.
    pub latency_limit: Option<LatencyLimit>,
}

/// What a core takes at a clock while CPUs of another domain run at one of theirs, as where both
/// share a supply.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// The domain of the core.
    pub domain: String,
    /// Its clock in Hz.
    #[serde(deserialize_with = "hertz")]
    pub clock: u64,
    /// The other domain.
    pub other: String,
    /// Clock of the other domain in Hz; the lowest holds while none of its CPUs runs as well.
    #[serde(deserialize_with = "hertz")]
    pub other_clock: u64,
    /// Power of the core, in units.
    #[serde(deserialize_with = "power")]
    pub core_power: u64,
}

impl Beside {
    fn read(document: &Document, read: Spanned<Self>, domains: &[IdleDomain]) -> Result<Self> {
        let place = read.span();
        let read = read.into_inner();
        let is_there = |name: &str| domains.iter().any(|domain| domain.name == name);
        if let Some(name) = [&read.domain, &read.other]
            .into_iter()
            .find(|name| !is_there(name))
        {
            let message = format!("there is no domain `{name}`");
            return Err(document.wrong(place, message, "name a [[domain]] of this file"));
        }
        Ok(read)
    }
}

/// A power domain that the operating system switches off with the last of its CPUs.
#[derive(Clone, Debug)]
pub struct PowerDomain {
    /// Its name.
    pub name: String,
    /// The numbers that Linux gives to its CPUs.
    pub cpus: Vec<u16>,
    /// Names of its states, from shallow to deep.
    pub state_names: Vec<String>,
    /// The states.
    pub states: Vec<DomainState>,
}

/// The longest exit latency that is allowed.
#[derive(Clone, Debug)]
pub struct LatencyLimit {
    /// The CPUs for which it holds; empty for all.
    pub cpus: Vec<u16>,
    /// The limit in nanoseconds.
    pub ns: u64,
}

/// The powers of a platform.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// The source.
    pub source: String,
    /// The assumption, if there is one.
    pub assumed: Option<String>,
    /// The number of watts that a unit is, where somebody said so.
    pub watts_per_unit: Option<WattsPerUnit>,
}

impl Power {
    /// True if somebody is named who says the powers, and not all of them are assumed.
    pub fn is_sourced(&self) -> bool {
        let is_one_of = |text: &str, words: &[&str]| {
            words
                .iter()
                .any(|word| text.trim().eq_ignore_ascii_case(word))
        };
        let nobody = [
            "",
            "none",
            "no source",
            "assumed",
            "invented",
            "made up",
            "unknown",
        ];
        !is_one_of(&self.source, &nobody)
            && !is_one_of(self.assumed.as_deref().unwrap_or(""), &["all"])
    }
}

/// The number of watts that a unit of power is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WattsPerUnit {
    /// Watts; above 0.
    #[serde(deserialize_with = "above_zero")]
    pub value: f64,
    /// The one who says so.
    pub source: String,
    /// How many times as much boards took at the wall.
    pub wall: Option<Wall>,
}

/// What a meter at the wall shows, as a multiple of what a model says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wall {
    /// The least multiple.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// The one who measured it.
    pub source: String,
}

impl fmt::Display for WattsPerUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A unit is {} W: {}.", self.value, self.source)?;
        match &self.wall {
            Some(Wall { low, high, source }) => {
                write!(
                    f,
                    " Boards took {low} to {high} times as much at the wall: {source}."
                )
            }
            None => Ok(()),
        }
    }
}

readers! {
    above_zero: f64 = |from| {
        let help = "watts per unit: it must be a number above 0";
        within(f64::deserialize(from)?, f64::MIN_POSITIVE..=f64::MAX, help)
    };

    /// An energy in units of power times microseconds, as units times nanoseconds.
    energy: u64 = |from| {
        let help = "units times us: the energy of a round trip is at most 10^15; take a greater unit";
        Ok(within(u64::deserialize(from)?, 0..=1_000_000_000_000_000, help)? * US)
    };
}

/// CPUs that go to sleep together.
#[derive(Clone, Debug)]
pub struct IdleDomain {
    /// Name of the domain.
    pub name: String,
    /// The numbers that Linux gives to its CPUs.
    pub cpus: Vec<u16>,
    /// Power of a core that runs, at the lowest operating point, in units.
    pub core_active: u64,
    /// The states, from shallow to deep.
    pub states: Vec<IdleStateCost>,
    /// The same as a governor sees them.
    pub table: States,
}

/// An idle state and what it costs. Energies are in units of power times nanoseconds.
#[derive(Clone, Debug)]
pub struct IdleStateCost {
    /// Name of the state.
    pub name: String,
    /// The time that entering it takes, in nanoseconds.
    pub entry_ns: u64,
    /// The time that leaving it takes, in nanoseconds.
    pub exit_ns: u64,
    /// Power of the core in it, in units.
    pub core_power: u64,
    /// Power of the domain while every CPU of it is in this state or a deeper one, in units.
    pub domain_power: u64,
    /// Energy of entering and leaving, for the core.
    pub core_round_trip: Range,
    /// The same for the domain, whenever it goes down.
    pub domain_round_trip: Range,
    /// True if it polls.
    pub polling: bool,
    /// True if the domain goes down with its last CPU in it.
    pub coupled: bool,
}

impl IdleStateCost {
    /// The time by which the work after a stay is delayed, in nanoseconds: the state is left, after
    /// an entry that has begun is finished.
    pub const fn delay_ns(&self, stay_ns: u64) -> u64 {
        self.exit_ns + self.entry_ns.saturating_sub(stay_ns)
    }
}

/// The range in which a figure lies, by the sources that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// The lowest.
    pub low: u64,
    /// The highest.
    pub high: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRead {
    name: String,
    title: String,
    power: Option<Power>,
    domain: Vec<Spanned<DomainRead>>,
    running_unit: Option<WattsPerUnit>,
    #[serde(default)]
    power_domain: Vec<Spanned<PowerDomainRead>>,
    #[serde(default)]
    beside: Vec<Spanned<Beside>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerDomainRead {
    name: String,
    cpus: Vec<u16>,
    state: Vec<PowerStateRead>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerStateRead {
    name: String,
    entry_us: u64,
    exit_us: u64,
    residency_us: u64,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainRead {
    name: String,
    cpus: Spanned<Vec<u16>>,
    #[serde(default, deserialize_with = "power")]
    core_active: u64,
    #[serde(default, rename = "domain_active", deserialize_with = "power")]
    _domain_active: u64,
    state: Vec<Spanned<StateRead>>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StateRead {
    name: String,
    entry_us: u64,
    /// The time that entering takes the last CPU of the domain: 0 where it takes no longer. It holds
    /// what the CPUs share; no model has them wait for it.
    #[serde(default)]
    last_entry_us: u64,
    exit_us: u64,
    residency_us: u64,
    #[serde(default, deserialize_with = "power")]
    core_power: u64,
    #[serde(default, deserialize_with = "power")]
    domain_power: u64,
    #[serde(default)]
    coupled: bool,
    #[serde(default)]
    polling: bool,
    #[serde(default)]
    stops_timer: bool,
    #[serde(default)]
    round_trip: Vec<RoundTripRead>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundTripRead {
    #[serde(rename = "core_unit_us", deserialize_with = "energy")]
    core: u64,
    #[serde(rename = "domain_unit_us", deserialize_with = "energy")]
    domain: u64,
    #[serde(rename = "source")]
    _source: String,
}

/// Keys of the machine in the same file, which `Platform` reads.
const OF_MACHINE: [&str; 9] = [
    "counter",
    "cores",
    "caches",
    "interconnect",
    "topology",
    "idle_state",
    "scp",
    "assumed",
    "borrows",
];
const US: u64 = 1_000;
/// Delays are counted by the microsecond, so that a latency beyond this would take memory for
/// nothing.
const MOST_LATENCY_US: u64 = 1_000_000;

/// The longest residency, in microseconds: sums of what is beyond it would not fit.
const MOST_RESIDENCY_US: u64 = 1_000_000_000;

impl IdlePlatform {
    /// The number of watts that a unit is, where somebody said so.
    pub fn watts_per_unit(&self) -> Option<&WattsPerUnit> {
        self.power.as_ref()?.watts_per_unit.as_ref()
    }

    /// Reads a platform's file, which may hold the machine as well.
    ///
    /// # Errors
    /// The file, the line, what is wrong and what would be right.
    pub fn read(document: &Document) -> Result<Self> {
        let read: FileRead = document.read_without(&OF_MACHINE)?;
        if read.domain.is_empty() {
            return Err(
                document.wrong_as_a_whole("there is no [[domain]]", "a platform has at least one")
            );
        }
        let mut seen: Vec<u16> = Vec::new();
        let mut domains: Vec<IdleDomain> = Vec::new();
        for domain in read.domain {
            let place = domain.get_ref().cpus.span();
            for cpu in domain.get_ref().cpus.get_ref() {
                if seen.contains(cpu) {
                    return Err(document.wrong(
                        place,
                        format!("CPU {cpu} is in two domains"),
                        "each CPU is in one",
                    ));
                }
                seen.push(*cpu);
            }
            let place = domain.span();
            let domain = IdleDomain::read(document, domain)?;
            if domains
                .first()
                .is_some_and(|first| first.states.len() != domain.states.len())
            {
                return Err(document.wrong(
                    place,
                    format!(
                        "`{}` and `{}` have different numbers of states",
                        domains[0].name, domain.name
                    ),
                    "give each domain the same number: a table has one column per state",
                ));
            }
            domains.push(domain);
        }
        if seen.is_empty() {
            return Err(
                document.wrong_as_a_whole("the domains have no CPU", "give one `cpus = [0]`")
            );
        }
        let beside = read.beside.into_iter();
        let beside = beside.map(|row| Beside::read(document, row, &domains));
        let beside = beside.collect::<Result<_>>()?;
        let power_domains = read
            .power_domain
            .into_iter()
            .map(|domain| PowerDomain::read(document, domain, &seen));
        let power_domains = power_domains.collect::<Result<_, _>>()?;
        let FileRead {
            name,
            title,
            power,
            running_unit,
            ..
        } = read;
        Ok(Self {
            name,
            title,
            power,
            domains,
            power_domains,
            running_unit,
            beside,
            text: document.text().to_owned(),
            latency_limit: None,
        })
    }

    /// The longest exit latency that is allowed on a CPU, in nanoseconds.
    pub fn latency_limit_ns(&self, cpu: u16) -> u64 {
        self.latency_limit
            .as_ref()
            .filter(|limit| limit.cpus.is_empty() || limit.cpus.contains(&cpu))
            .map_or(idle::NO_LIMIT_NS, |limit| limit.ns)
    }

    /// CPUs that the platform has.
    pub fn cpus(&self) -> u16 {
        self.domains
            .iter()
            .map(|domain| domain.cpus.len() as u16)
            .sum()
    }

    /// The domain of a CPU of a trace, and which one of that kind: where a trace has more CPUs than
    /// the platform, they are laid out as on a second platform of the kind.
    pub fn place(&self, cpu: u16) -> (usize, u16) {
        let domain_of = |cpu: u16| {
            self.domains
                .iter()
                .position(|domain| domain.cpus.contains(&cpu))
        };
        if let Some(domain) = domain_of(cpu) {
            return (domain, 0);
        }
        let mut cpus: Vec<u16> = self
            .domains
            .iter()
            .flat_map(|domain| domain.cpus.iter().copied())
            .collect();
        cpus.sort_unstable();
        let (at, copy) = (usize::from(cpu) % cpus.len(), usize::from(cpu) / cpus.len());
        // Where the platform's numbers have gaps, a CPU in one is of a further platform as well.
        let has_gaps = cpus
            .last()
            .is_some_and(|last| usize::from(*last) >= cpus.len());
        (
            domain_of(cpus[at]).unwrap_or(0),
            (copy + usize::from(has_gaps)) as u16,
        )
    }

    /// Names of the states, from shallow to deep.
    pub fn state_names(&self) -> impl Iterator<Item = &str> {
        self.domains[0]
            .states
            .iter()
            .map(|state| state.name.as_str())
    }
}

impl PowerDomain {
    /// Reads one of a platform that has these CPUs.
    fn read(document: &Document, read: Spanned<PowerDomainRead>, known: &[u16]) -> Result<Self> {
        let place = read.span();
        let PowerDomainRead {
            name, cpus, state, ..
        } = read.into_inner();
        let wrong = |what: &str, help: &str| {
            Err(document.wrong(
                place.clone(),
                format!("power domain `{name}`: {what}"),
                help,
            ))
        };
        if cpus.is_empty() || cpus.iter().any(|cpu| !known.contains(cpu)) {
            return wrong(
                "it has no CPU, or one that no [[domain]] has",
                "name the CPUs below it by their numbers",
            );
        }
        if state.is_empty()
            || state.iter().any(|of| {
                of.entry_us.max(of.exit_us) > MOST_LATENCY_US || of.residency_us > MOST_RESIDENCY_US
            })
        {
            return wrong(
                "it has no state, or one of more than 1 s to enter or to leave, or with a residency above 1000 s",
                "give it [[power_domain.state]]; times are in us",
            );
        }
        let states = state
            .iter()
            .map(|state| DomainState {
                off_ns: state.entry_us * US,
                on_ns: state.exit_us * US,
                residency_ns: state.residency_us * US,
            })
            .collect();
        Ok(Self {
            name,
            cpus,
            states,
            state_names: state.into_iter().map(|state| state.name).collect(),
        })
    }
}

impl IdleDomain {
    fn read(document: &Document, read: Spanned<DomainRead>) -> Result<Self> {
        let domain_place = read.span();
        let read = read.into_inner();
        let mut table = Vec::new();
        let mut states = Vec::new();
        for state in &read.state {
            let place = state.span();
            let state = state.get_ref();
            let range = |energy: fn(&RoundTripRead) -> u64| Range {
                low: state.round_trip.iter().map(energy).min().unwrap_or(0),
                high: state.round_trip.iter().map(energy).max().unwrap_or(0),
            };
            let domain_round_trip = range(|trip| trip.domain);
            let wrong = |what: &str, help| {
                let what = format!("domain `{}`, state `{}`: {what}", read.name, state.name);
                Err(document.wrong(place.clone(), what, help))
            };
            if state.entry_us.max(state.exit_us).max(state.last_entry_us) > MOST_LATENCY_US {
                let what = "entering or leaving takes longer than 1 s";
                return wrong(what, "times are in us");
            }
            if state.residency_us > MOST_RESIDENCY_US {
                return wrong("its residency is above 1000 s", "times are in us");
            }
            if !state.coupled && domain_round_trip.high.max(state.last_entry_us) > 0 {
                return wrong(
                    "the domain does not go down in it",
                    "only a state with coupled = true has `last_entry_us` or `domain_unit_us` above 0",
                );
            }
            table.push(State {
                polling: state.polling,
                stops_timer: state.stops_timer,
                ..State::new(
                    (state.entry_us + state.exit_us) * US,
                    state.residency_us * US,
                )
            });
            states.push(IdleStateCost {
                name: state.name.clone(),
                entry_ns: state.entry_us * US,
                exit_ns: state.exit_us * US,
                core_power: state.core_power,
                domain_power: state.domain_power,
                core_round_trip: range(|trip| trip.core),
                domain_round_trip,
                polling: state.polling,
                coupled: state.coupled,
            });
        }
        let table = States::new(&table).map_err(|error| {
            document.wrong(
                domain_place,
                format!("domain `{}`: {error}", read.name),
                "see platforms/idle/tc2.toml",
            )
        })?;
        let cpus = read.cpus.into_inner();
        Ok(Self {
            name: read.name,
            cpus,
            core_active: read.core_active,
            states,
            table,
        })
    }
}

impl Range {
    /// The figure at a part of the way from low to high, in parts of 1024.
    pub fn part(self, part: u64) -> u128 {
        u128::from(self.low) + u128::from(self.high - self.low) * u128::from(part) / 1024
    }
}
