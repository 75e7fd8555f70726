//! What a replay costs, at each point of the range of what a round trip costs: exact sums of integers, in units of power times nanoseconds.
//!
//! Only idle time is counted: a core's power in the state that it is in, and the power of a domain while all of its CPUs are idle, in the
//! shallowest of their states. While a CPU of a domain runs, the domain's power is that of running, whatever the governor.

use crate::platform::{POINTS, Platform, StateCost};
use crate::replay::{Delays, Replayed};
use crate::trace::Traced;
use idle::{Accounting, MAX_STATES, Usage};
use rayon::prelude::*;

/// A time in which all CPUs of a domain are idle.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// How long it lasts, in nanoseconds.
    ns: u64,
    /// The domain of the platform.
    domain: u16,
    /// CPUs of the domain that the trace has.
    cpus: u16,
    /// Where in `Segments::covers` the CPUs and their intervals begin.
    first: u32,
}

/// All times in which all CPUs of a domain are idle. They depend on the trace alone.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    all: Vec<Segment>,
    /// CPU and number of the interval, for each CPU of each segment.
    covers: Vec<(u16, u32)>,
}

impl Segments {
    /// The segments of a trace. A CPU without idle intervals counts as not there.
    pub fn of(platform: &Platform, traced: &Traced) -> Self {
        let mut groups: Vec<((usize, u16), Vec<u16>)> = Vec::new();
        for cpu in (0..traced.cpus.len() as u16).filter(|&cpu| !traced.cpus[usize::from(cpu)].is_empty()) {
            let place = platform.place(cpu);
            match groups.iter_mut().find(|(known, _)| *known == place) {
                Some((_, cpus)) => cpus.push(cpu),
                None => groups.push((place, vec![cpu])),
            }
        }
        let mut segments = Self::default();
        for ((domain, _), cpus) in groups {
            segments.add(domain, &cpus, traced);
        }
        segments
    }

    fn add(&mut self, domain: usize, cpus: &[u16], traced: &Traced) {
        let mut at = vec![0; cpus.len()];
        let of = |number: usize, at: &[usize]| traced.cpus[usize::from(cpus[number])].get(at[number]);
        loop {
            let (mut from, mut to) = (0, u64::MAX);
            for number in 0..cpus.len() {
                let Some(sleep) = of(number, &at) else { return };
                (from, to) = (from.max(sleep.enter_ns), to.min(sleep.exit_ns));
            }
            if from < to {
                let first = self.covers.len() as u32;
                self.all.push(Segment { ns: to - from, domain: domain as u16, cpus: cpus.len() as u16, first });
                self.covers.extend(cpus.iter().zip(&at).map(|(cpu, at)| (*cpu, *at as u32)));
            }
            for number in 0..cpus.len() {
                while of(number, &at).is_some_and(|sleep| sleep.exit_ns <= to) {
                    at[number] += 1;
                }
            }
        }
    }

    fn covers(&self, segment: &Segment) -> &[(u16, u32)] {
        &self.covers[segment.first as usize..][..usize::from(segment.cpus)]
    }
}

/// Energy at each of [`POINTS`].
pub type Energies = [u128; POINTS.len()];

/// The energy of a replay.
pub fn energy(platform: &Platform, segments: &Segments, replayed: &Replayed) -> Energies {
    let mut base = replayed.core_energy + replayed.read_energy;
    let mut downs = vec![[0_u64; MAX_STATES]; platform.domains.len()];
    for segment in &segments.all {
        let chosen = |&(cpu, at): &(u16, u32)| replayed.chosen[usize::from(cpu)][at as usize];
        let level = usize::from(segments.covers(segment).iter().map(chosen).min().unwrap_or(0));
        base += u128::from(platform.domains[usize::from(segment.domain)].states[level].domain_power)
            * u128::from(segment.ns);
        downs[usize::from(segment.domain)][level] += 1;
    }
    std::array::from_fn(|point| {
        let mut sum = base;
        for (at, domain) in platform.domains.iter().enumerate() {
            for (state, cost) in domain.states.iter().enumerate() {
                sum += cost.core_round_trip.part(POINTS[point]) * u128::from(replayed.entries[at][state]);
                sum += cost.domain_round_trip.part(POINTS[point]) * u128::from(downs[at][state]);
            }
        }
        sum
    })
}

/// What could have been done at best, by someone who knows the trace.
///
/// Each interval takes the state that is cheapest for the core, and each segment the one that is cheapest for the domain. Where the two
/// exclude each other no real choice reaches the sum: it is a lower bound for every governor, and says so.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// Energy at each point.
    pub energy: Energies,
    /// For each point the sums over all CPUs, by state.
    pub states: Vec<Vec<Usage>>,
    /// At the middle point: for each interval of each CPU the cheapest state.
    pub chosen: Vec<Vec<u8>>,
    /// Whether a domain's cheapest state is ever deeper than the cores', so that the energy is a bound and no choice.
    pub is_bound: bool,
    /// The lowest and highest delay in microseconds over the points: half of the intervals are not delayed more, and 99 of 100.
    pub delay_us: [[u64; 2]; 2],
}

/// The middle point of the range.
pub const MIDDLE: usize = POINTS.len() / 2;

impl Oracle {
    /// The best for a trace.
    pub fn of(platform: &Platform, segments: &Segments, traced: &Traced) -> Self {
        let points: Vec<Point> =
            (0..POINTS.len()).into_par_iter().map(|point| Point::of(platform, segments, traced, point)).collect();
        let ends = |which: usize| {
            let delays = || points.iter().map(|point| point.delay_us[which]);
            [delays().min().unwrap_or(0), delays().max().unwrap_or(0)]
        };
        let mut oracle = Self {
            energy: std::array::from_fn(|point| points[point].energy),
            states: Vec::with_capacity(POINTS.len()),
            chosen: Vec::new(),
            is_bound: points.iter().any(|point| point.is_bound),
            delay_us: [ends(0), ends(1)],
        };
        for (number, point) in points.into_iter().enumerate() {
            oracle.states.push(point.states);
            if number == MIDDLE {
                oracle.chosen = point.chosen;
            }
        }
        oracle
    }
}

/// Power and round trip of each state, at one point.
struct Costs(Vec<(u128, u128)>);

impl Costs {
    /// What a stay of so many nanoseconds costs in a state.
    #[inline]
    fn of(&self, state: usize, ns: u64) -> u128 {
        let (power, round_trip) = self.0[state];
        power * u128::from(ns) + round_trip
    }

    /// The cheapest state for a stay; the shallowest of several.
    #[inline]
    fn cheapest(&self, ns: u64) -> usize {
        let mut cheapest = (0, u128::MAX);
        for state in 0..self.0.len() {
            let cost = self.of(state, ns);
            if cost < cheapest.1 {
                cheapest = (state, cost);
            }
        }
        cheapest.0
    }
}

/// What could have been done at best at one point.
struct Point {
    energy: u128,
    states: Vec<Usage>,
    chosen: Vec<Vec<u8>>,
    is_bound: bool,
    /// 50 % and 99 %.
    delay_us: [u64; 2],
}

impl Point {
    fn of(platform: &Platform, segments: &Segments, traced: &Traced, point: usize) -> Self {
        let (mut energy, of_domains) = domains(platform, segments, traced, point);
        let mut is_bound = false;
        let mut states = vec![Usage::default(); platform.domains[0].states.len()];
        let mut delays = Delays::default();
        let mut chosen = Vec::with_capacity(traced.cpus.len());
        for (cpu, sleeps) in traced.cpus.iter().enumerate() {
            let domain = &platform.domains[platform.place(cpu as u16).0];
            let costs = Costs(
                domain
                    .states
                    .iter()
                    .map(|state| (u128::from(state.core_power), state.core_round_trip.part(POINTS[point])))
                    .collect(),
            );
            let mut accounting = Accounting::default();
            let mut of_cpu = Vec::with_capacity(sleeps.len());
            for (at, sleep) in sleeps.iter().enumerate() {
                let ns = sleep.interval_ns();
                let cheapest = match platform.power {
                    Some(_) => costs.cheapest(ns),
                    // Without powers the deepest state that pays by its residency stands in for the cheapest.
                    None => domain.table.all().iter().rposition(|s| s.target_residency_ns <= ns).unwrap_or(0),
                };
                energy += costs.of(cheapest, ns);
                let wanted = usize::from(of_domains[cpu][at]);
                let as_cheap = wanted > cheapest && costs.of(wanted, ns) == costs.of(cheapest, ns);
                let state = if as_cheap { wanted } else { cheapest };
                is_bound |= wanted > state;
                accounting.leave(&domain.table, state, ns);
                delays.count(&domain.states[state], ns);
                of_cpu.push(state as u8);
            }
            for (state, sum) in states.iter_mut().enumerate() {
                let usage = accounting.usage(state);
                sum.entered += usage.entered;
                sum.time_ns += usage.time_ns;
                sum.above += usage.above;
                sum.below += usage.below;
            }
            chosen.push(of_cpu);
        }
        Self { energy, states, chosen, is_bound, delay_us: [50, 99].map(|percent| delays.quantile_us(percent)) }
    }
}

/// The domains' cheapest energy at a point, and the deepest state that a domain wants of each interval.
fn domains(platform: &Platform, segments: &Segments, traced: &Traced, point: usize) -> (u128, Vec<Vec<u8>>) {
    let mut energy = 0;
    let mut wanted: Vec<Vec<u8>> = traced.cpus.iter().map(|sleeps| vec![0; sleeps.len()]).collect();
    let costs: Vec<Costs> = platform
        .domains
        .iter()
        .map(|domain| {
            let cost =
                |state: &StateCost| (u128::from(state.domain_power), state.domain_round_trip.part(POINTS[point]));
            Costs(domain.states.iter().map(cost).collect())
        })
        .collect();
    for segment in &segments.all {
        let costs = &costs[usize::from(segment.domain)];
        let cheapest = costs.cheapest(segment.ns);
        energy += costs.of(cheapest, segment.ns);
        for &(cpu, at) in segments.covers(segment) {
            let wanted = &mut wanted[usize::from(cpu)][at as usize];
            *wanted = (*wanted).max(cheapest as u8);
        }
    }
    (energy, wanted)
}

/// An interval that cost more than it had to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The CPU.
    pub cpu: u16,
    /// The number of the interval.
    pub at: usize,
    /// What the core took more than with the cheapest state, at the middle point.
    pub energy: u128,
}

/// The intervals that cost a replay's cores most beyond what they had to at the middle point, the worst first.
pub fn worst(platform: &Platform, traced: &Traced, chosen: &[Vec<u8>], oracle: &Oracle, most: usize) -> Vec<Excess> {
    let mut worst: Vec<Excess> = Vec::with_capacity(most + 1);
    for (cpu, sleeps) in traced.cpus.iter().enumerate() {
        let states = &platform.domains[platform.place(cpu as u16).0].states;
        for (at, sleep) in sleeps.iter().enumerate() {
            let cost = |state: u8| {
                let cost = &states[usize::from(state)];
                u128::from(cost.core_power) * u128::from(sleep.interval_ns())
                    + cost.core_round_trip.part(POINTS[MIDDLE])
            };
            let energy = cost(chosen[cpu][at]).saturating_sub(cost(oracle.chosen[cpu][at]));
            let least = worst.last().map_or(0, |excess| excess.energy);
            if energy > 0 && (worst.len() < most || energy > least) {
                let place = worst.partition_point(|known| known.energy >= energy);
                worst.insert(place, Excess { cpu: cpu as u16, at, energy });
                worst.truncate(most);
            }
        }
    }
    worst
}
