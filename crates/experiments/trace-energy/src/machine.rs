//! The machine that a trace is from: what each CPU and each domain takes, as ranges.

use soc::OperatingPoint;
use soc::config::{Beside, IdleDomain, IdlePlatform, Platform};

/// The least and the most that a number may be.
pub type Range = [u64; 2];

/// A machine.
pub struct Machine {
    /// The domains, in the order of the platform's idle states.
    pub domains: Vec<Domain>,
}

/// CPUs that share a clock and go to sleep together. Powers are in units of the platform's table.
pub struct Domain {
    /// Name of the domain.
    pub name: String,
    /// The numbers that Linux gives to its CPUs.
    pub cpus: Vec<u16>,
    /// Operating points by rising clock.
    pub points: Vec<OperatingPoint>,
    /// Idle states, from shallow to deep.
    pub states: Vec<State>,
    /// Powers of a core that depend on the clock of another domain, which stands by its number.
    pub beside: Vec<(usize, Beside)>,
}

/// An idle state: powers of a core and of what its domain shares, and what a round trip into it
/// takes, in units times nanoseconds.
pub struct State {
    /// Name of the state.
    pub name: String,
    /// Power of a core in it.
    pub core: Range,
    /// Power of what the domain shares while every CPU is in this state or a deeper one.
    pub shared: Range,
    /// Energy of a round trip, of the core.
    pub core_trip: Range,
    /// The same of what the domain shares.
    pub shared_trip: Range,
}

/// What a core takes and gets done at a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// Power of a core.
    pub core: Range,
    /// Power of what its domain shares.
    pub shared: Range,
    /// Work per time.
    pub capacity: Range,
}

impl Machine {
    /// The machine of a platform. Where nobody says what idle states take, it is between nothing
    /// and what running at the lowest operating point takes.
    ///
    /// # Errors
    /// The domain without operating points.
    pub fn new(platform: &Platform, idle: &IdlePlatform) -> Result<Self, String> {
        let domain = |domain: &IdleDomain| {
            let mut of = platform.topology.domains.iter();
            let of = of.find(|of| of.name == domain.name && !of.operating_points.is_empty());
            let points = of
                .ok_or_else(|| domain.name.clone())?
                .operating_points
                .clone();
            let range = |of: soc::config::Range| [of.low, of.high];
            let least = idle.power.is_none().then_some(&points[0]);
            let power = |power: u64, unknown: Option<u32>| {
                unknown.map_or([power; 2], |most| [0, most.into()])
            };
            let states = domain.states.iter().map(|state| State {
                name: state.name.clone(),
                core: power(state.core_power, least.map(|point| point.core_power)),
                shared: power(state.domain_power, least.map(|point| point.domain_power)),
                core_trip: range(state.core_round_trip),
                shared_trip: range(state.domain_round_trip),
            });
            let rows = idle.beside.iter().filter(|row| row.domain == domain.name);
            let number = |row: &Beside| idle.domains.iter().position(|of| of.name == row.other);
            let beside = rows.filter_map(|row| Some((number(row)?, row.clone())));
            Ok(Domain {
                beside: beside.collect(),
                name: domain.name.clone(),
                cpus: domain.cpus.clone(),
                states: states.collect(),
                points,
            })
        };
        let domains = idle.domains.iter().map(domain);
        Ok(Self {
            domains: domains.collect::<Result<_, String>>()?,
        })
    }
}

/// The range that holds some ranges.
pub fn hull(ranges: impl IntoIterator<Item = Range>) -> Range {
    let grown = |[low, high]: Range, [least, most]: Range| [low.min(least), high.max(most)];
    ranges.into_iter().reduce(grown).unwrap_or_default()
}

impl Domain {
    /// What a running core takes at a clock in kHz: between two operating points it lies between
    /// theirs. It may be at any of them where the clock is not known, or is not in the table.
    pub fn running(&self, khz: Option<u32>) -> Running {
        let hz = khz.map_or(0, |khz| u64::from(khz) * 1_000);
        let at = self.points.partition_point(|point| point.clock < hz);
        let points = match (at.checked_sub(1), self.points.get(at)) {
            (_, Some(point)) if point.clock == hz => &self.points[at..=at],
            (Some(below), Some(_)) => &self.points[below..=at],
            _ => &self.points[..],
        };
        let of = |figure: fn(&OperatingPoint) -> u32| {
            hull(points.iter().map(|point| [figure(point).into(); 2]))
        };
        Running {
            core: of(|point| point.core_power),
            shared: of(|point| point.domain_power),
            capacity: of(|point| point.capacity),
        }
    }

    /// The same while another domain, by its number, runs at a clock in kHz: that at which its cores
    /// take most, if several run. `None` while none does.
    pub fn running_beside(&self, khz: Option<u32>, other: Option<(usize, Option<u32>)>) -> Running {
        let running = self.running(khz);
        let is_at = |hz: u64, khz: Option<u32>| khz.is_none_or(|khz| hz == u64::from(khz) * 1_000);
        let least = self.beside.iter().map(|(_, row)| row.other_clock).min();
        let rows = self.beside.iter().filter(|(number, row)| {
            is_at(row.clock, khz)
                && match other {
                    Some((other, khz)) => *number == other && is_at(row.other_clock, khz),
                    None => Some(row.other_clock) == least,
                }
        });
        let powers = rows.map(|(_, row)| [row.core_power; 2]);
        let unknown = khz.is_none().then_some(running.core);
        match hull(powers.chain(unknown)) {
            [0, 0] => running,
            core => Running { core, ..running },
        }
    }

    /// What is taken in a state of this number; in any where the machine has no such state.
    pub fn idle(&self, state: Option<u8>, of: fn(&State) -> Range) -> Range {
        match state.and_then(|state| self.states.get(usize::from(state))) {
            Some(state) => of(state),
            None => hull(self.states.iter().map(of)),
        }
    }
}
