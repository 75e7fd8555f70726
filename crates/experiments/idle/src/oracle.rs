//! The best that could have been done: the oracle, and the intervals in which a governor fell short
//! of it.

use crate::energy::{Energies, Segments};
use crate::platform::{POINTS, Platform, StayCost};
use crate::replay::Delays;
use crate::trace::TracedIntervals;
use idle::{Accounting, Usage};
use itertools::Itertools;
use rayon::prelude::*;

/// The best that could have been done, by someone who knows the trace.
///
/// Each interval takes the state that is cheapest for the core, and each segment the one that is
/// cheapest for the domain. Where the two exclude each other no real choice reaches the sum: it is
/// a lower bound for every governor, and says so.
pub struct Oracle {
    /// Energy at each point.
    pub energy: Energies,
    /// For each point the sums over all CPUs, by state.
    pub states: Vec<Vec<Usage>>,
    /// At the middle point: for each interval of each CPU the cheapest state.
    pub chosen: Vec<Vec<u8>>,
    /// True if a domain's cheapest state is ever deeper than the cores', so that the energy is a
    /// bound and no choice.
    pub is_bound: bool,
    /// For each point the delays in microseconds that half of the intervals do not exceed, and 99
    /// of 100.
    pub delay_us: Vec<[u64; 2]>,
}

/// The middle point of the range.
pub const MIDDLE: usize = POINTS.len() / 2;

impl Oracle {
    /// The best for a trace.
    pub fn new(platform: &Platform, segments: &Segments, traced: &TracedIntervals) -> Self {
        let together = together(segments, traced);
        let mut points: Vec<Point> = (0..POINTS.len())
            .into_par_iter()
            .map(|point| Point::new(platform, segments, traced, &together, point))
            .collect();
        Self {
            energy: std::array::from_fn(|point| points[point].energy),
            chosen: std::mem::take(&mut points[MIDDLE].chosen),
            is_bound: points.iter().any(|point| point.is_bound),
            delay_us: points.iter().map(|point| point.delay_us).collect(),
            states: points.into_iter().map(|point| point.states).collect(),
        }
    }
}

/// For each interval of each CPU the longest time in which all CPUs of its domain were idle during
/// it, in nanoseconds; 0 where there was none.
fn together(segments: &Segments, traced: &TracedIntervals) -> Vec<Vec<u64>> {
    let mut together = traced
        .cpus
        .iter()
        .map(|sleeps| vec![0; sleeps.len()])
        .collect_vec();
    for segment in &segments.all {
        for &(cpu, at) in segments.covers(segment) {
            let longest = &mut together[usize::from(cpu)][at as usize];
            *longest = segment.ns.max(*longest);
        }
    }
    together
}

/// Each state's cost, at one point.
struct Costs(Vec<StayCost>);

impl Costs {
    /// The cost of a stay of `ns` nanoseconds in a state.
    fn one(&self, state: usize, ns: u64) -> u128 {
        self.0[state].of(ns)
    }

    /// The cheapest state for a stay; the shallowest of several.
    fn cheapest(&self, ns: u64) -> usize {
        (0..self.0.len())
            .min_by_key(|&state| self.one(state, ns))
            .unwrap_or(0)
    }
}

/// The best that could have been done at one point.
struct Point {
    energy: u128,
    states: Vec<Usage>,
    /// The state of each interval of each CPU; kept at the middle point alone.
    chosen: Vec<Vec<u8>>,
    is_bound: bool,
    /// 50 % and 99 %.
    delay_us: [u64; 2],
}

impl Point {
    fn new(
        platform: &Platform,
        segments: &Segments,
        traced: &TracedIntervals,
        together: &[Vec<u64>],
        point: usize,
    ) -> Self {
        let domains = &platform.domains;
        let costs = domains
            .iter()
            .map(|domain| {
                [StayCost::of_core, StayCost::of_domain].map(|cost| {
                    let costs = domain.states.iter().map(|state| cost(state, point));
                    Costs(costs.collect())
                })
            })
            .collect_vec();
        let mut energy = segments
            .all
            .iter()
            .map(|segment| {
                let [_, costs] = &costs[usize::from(segment.domain)];
                costs.one(costs.cheapest(segment.ns), segment.ns)
            })
            .sum();
        let mut is_bound = false;
        let mut states = vec![Usage::default(); domains[0].states.len()];
        let mut delays = Delays::default();
        let mut chosen = Vec::new();
        for ((cpu, sleeps), together) in (0..).zip(&traced.cpus).zip(together) {
            let (number, _) = platform.place(cpu);
            let (domain, costs) = (&domains[number], &costs[number]);
            let mut accounting = Accounting::default();
            let of_cpu = sleeps
                .iter()
                .zip(together)
                .map(|(sleep, &together_ns)| {
                    let ns = sleep.interval_ns();
                    let [cheapest, wanted, state] =
                        choice(platform, number, costs, [ns, together_ns]);
                    energy += costs[0].one(cheapest, ns);
                    is_bound |= wanted > state;
                    accounting.leave(&domain.table, state, ns);
                    delays.count(domain.states[state].delay_ns(ns));
                    state as u8
                })
                .collect_vec();
            for (state, sum) in states.iter_mut().enumerate() {
                *sum += *accounting.usage(state);
            }
            if point == MIDDLE {
                chosen.push(of_cpu);
            }
        }
        // If a deeper state of a domain takes more power, the best state for a short stay may be deeper
        // than the best one for a long stay.
        is_bound |= domains.iter().any(|domain| {
            !domain
                .states
                .is_sorted_by(|a, b| a.domain_power >= b.domain_power)
        });
        Self {
            energy,
            states,
            chosen,
            is_bound,
            delay_us: delays.quantiles_us(),
        }
    }
}

/// The states for an interval of a core in a domain, by its length and by the longest time in which
/// all of the domain were idle: the core's cheapest, the domain's, and the one that is taken.
fn choice(
    platform: &Platform,
    domain: usize,
    [of_cores, of_domain]: &[Costs; 2],
    [ns, together_ns]: [u64; 2],
) -> [usize; 3] {
    let cheapest = match platform.power {
        Some(_) => of_cores.cheapest(ns),
        // Without powers the deepest state that pays by its residency stands in for the cheapest.
        None => {
            let mut states = platform.domains[domain].table.all().iter();
            states
                .rposition(|s| s.target_residency_ns <= ns)
                .unwrap_or(0)
        }
    };
    // The longer all are idle, the deeper a state pays, as long as deeper states take less power.
    let wanted = if together_ns > 0 {
        of_domain.cheapest(together_ns)
    } else {
        0
    };
    let as_cheap = wanted > cheapest && of_cores.one(wanted, ns) == of_cores.one(cheapest, ns);
    let state = if as_cheap { wanted } else { cheapest };
    [cheapest, wanted, state]
}

/// An interval that cost more than it had to.
#[derive(Clone, Copy, Debug)]
pub struct Excess {
    /// The CPU.
    pub cpu: u16,
    /// The number of the interval.
    pub at: usize,
    /// The energy that the core took more than with the cheapest state, at the middle point.
    pub energy: u128,
}

/// The interval that cost a replay's cores most beyond what it had to at the middle point, the first
/// of several; `None` where none cost more.
pub fn worst(
    platform: &Platform,
    traced: &TracedIntervals,
    chosen: &[Vec<u8>],
    oracle: &Oracle,
) -> Option<Excess> {
    let mut worst: Option<Excess> = None;
    for (cpu, sleeps) in traced.cpus.iter().enumerate() {
        let states = &platform.domains[platform.place(cpu as u16).0].states;
        for (at, sleep) in sleeps.iter().enumerate() {
            let cost = |state: u8| {
                StayCost::of_core(&states[usize::from(state)], MIDDLE).of(sleep.interval_ns())
            };
            let energy = cost(chosen[cpu][at]).saturating_sub(cost(oracle.chosen[cpu][at]));
            if energy > worst.map_or(0, |worst| worst.energy) {
                let cpu = cpu as u16;
                worst = Some(Excess { cpu, at, energy });
            }
        }
    }
    worst
}
