//! The best that could have been done: the oracle, and the intervals in which a governor fell short
//! of it.
//!
//! A trace has millions of intervals and the range of costs has twenty points. Which state is
//! cheapest depends on an interval's length alone, and changes at a few lengths only: intervals
//! between two of them are counted together, one time for all points.

use crate::energy::{Energies, Segments};
use crate::platform::{POINTS, Platform, StateCost};
use crate::replay::Delays;
use crate::trace::TracedIntervals;
use idle::{Accounting, Usage};
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The best that could have been done, by someone who knows the trace.
///
/// Each interval takes the state that is cheapest for the core, and each segment the one that is
/// cheapest for the domain. Where the two exclude each other no real choice reaches the sum: it is
/// a lower bound for every governor, and says so.
#[derive(Clone, Debug)]
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
        let classes = Classes::new(platform, segments, traced);
        let points: Vec<Point> = (0..POINTS.len())
            .into_par_iter()
            .map(|point| Point::new(platform, &classes, point))
            .collect();
        let middle = &points[MIDDLE].chosen;
        let chosen = classes
            .intervals
            .iter()
            .map(|of_cpu| of_cpu.iter().map(|&group| middle[group as usize]).collect());
        Self {
            energy: std::array::from_fn(|point| points[point].energy),
            chosen: chosen.collect(),
            is_bound: points.iter().any(|point| point.is_bound),
            delay_us: points.iter().map(|point| point.delay_us).collect(),
            states: points.into_iter().map(|point| point.states).collect(),
        }
    }
}

/// Power and round trip of each state, at one point.
struct Costs(Vec<(u128, u128)>);

impl Costs {
    fn of_cores(states: &[StateCost], point: usize) -> Self {
        let cost = |state: &StateCost| {
            (
                state.core_power.into(),
                state.core_round_trip.part(POINTS[point]),
            )
        };
        Self(states.iter().map(cost).collect())
    }

    fn of_domain(states: &[StateCost], point: usize) -> Self {
        let cost = |state: &StateCost| {
            (
                state.domain_power.into(),
                state.domain_round_trip.part(POINTS[point]),
            )
        };
        Self(states.iter().map(cost).collect())
    }

    /// The cost of a number of stays in a state, which are together `ns` nanoseconds long.
    fn sum(&self, state: usize, ns: u128, stays: u64) -> u128 {
        let (power, round_trip) = self.0[state];
        power * ns + round_trip * u128::from(stays)
    }

    /// The cost of a stay of `ns` nanoseconds in a state.
    fn one(&self, state: usize, ns: u64) -> u128 {
        self.sum(state, ns.into(), 1)
    }

    /// The cheapest state for a stay; the shallowest of several.
    fn cheapest(&self, ns: u64) -> usize {
        (0..self.0.len())
            .min_by_key(|&state| self.one(state, ns))
            .unwrap_or(0)
    }

    /// Adds the lengths at which one state begins to be cheaper than another, or as cheap.
    fn turns(&self, turns: &mut Vec<u64>) {
        for (at, &(power, trip)) in self.0.iter().enumerate() {
            for &(other_power, other_trip) in &self.0[at + 1..] {
                // Where one has the lower power and the lower round trip it is cheaper throughout.
                let crosses = (power > other_power && trip <= other_trip)
                    || (power < other_power && trip >= other_trip);
                if crosses {
                    let at = trip.abs_diff(other_trip) / power.abs_diff(other_power);
                    // Both are as expensive at a single length only, and there only if it is a
                    // whole number.
                    turns.extend(
                        u64::try_from(at)
                            .ok()
                            .into_iter()
                            .flat_map(|at| [at, at.saturating_add(1)]),
                    );
                }
            }
        }
    }
}

/// Lengths, from short to long: between two of them nothing changes.
struct Turns(Vec<u64>);

impl Turns {
    fn new(mut turns: Vec<u64>) -> Self {
        turns.sort_unstable();
        turns.dedup();
        Self(turns)
    }

    /// The number of turns up to a length.
    fn class(&self, ns: u64) -> u32 {
        self.0.partition_point(|&turn| turn <= ns) as u32
    }
}

/// Intervals, or segments, that are alike in all that an oracle asks.
#[derive(Clone, Copy, Debug)]
struct Group {
    domain: u16,
    /// The length of one of them, in nanoseconds: it stands for all.
    ns: u64,
    /// The longest time in which all CPUs of the domain were idle during it, in nanoseconds; 0
    /// where there was none.
    together_ns: u64,
    stays: u64,
    /// All lengths together, in nanoseconds.
    sum_ns: u128,
}

/// All intervals of a trace and all segments, in groups.
struct Classes {
    groups: Vec<Group>,
    /// The group of each interval of each CPU.
    intervals: Vec<Vec<u32>>,
    segments: Vec<Group>,
}

impl Classes {
    fn new(platform: &Platform, segments: &Segments, traced: &TracedIntervals) -> Self {
        let domains = &platform.domains;
        let of_cores: Vec<Turns> = domains
            .iter()
            .map(|domain| core_turns(&domain.states, domain.table.all()))
            .collect();
        let of_domains: Vec<Turns> = domains
            .iter()
            .map(|domain| {
                let mut turns = Vec::new();
                (0..POINTS.len())
                    .for_each(|point| Costs::of_domain(&domain.states, point).turns(&mut turns));
                Turns::new(turns)
            })
            .collect();
        let mut together: Vec<Vec<u64>> = traced
            .cpus
            .iter()
            .map(|sleeps| vec![0; sleeps.len()])
            .collect();
        let mut of_segments = Groups::default();
        for segment in &segments.all {
            let class = of_domains[usize::from(segment.domain)].class(segment.ns);
            of_segments.add((segment.domain, class, 0), segment.ns, segment.ns);
            for &(cpu, at) in segments.covers(segment) {
                let longest = &mut together[usize::from(cpu)][at as usize];
                *longest = segment.ns.max(*longest);
            }
        }
        let mut of_intervals = Groups::default();
        let mut intervals = Vec::with_capacity(traced.cpus.len());
        for ((cpu, sleeps), together) in (0..).zip(&traced.cpus).zip(&together) {
            let (domain, _) = platform.place(cpu);
            let group = sleeps.iter().zip(together).map(|(sleep, &together_ns)| {
                let ns = sleep.interval_ns();
                let key = (
                    domain as u16,
                    of_cores[domain].class(ns),
                    of_domains[domain].class(together_ns),
                );
                of_intervals.add(key, ns, together_ns)
            });
            intervals.push(group.collect());
        }
        Self {
            groups: of_intervals.all,
            intervals,
            segments: of_segments.all,
        }
    }
}

/// The lengths at which something changes for an interval: its cheapest state, how it is counted,
/// or how much it is delayed.
fn core_turns(costs: &[StateCost], states: &[idle::State]) -> Turns {
    let mut turns = Vec::new();
    for point in 0..POINTS.len() {
        Costs::of_cores(costs, point).turns(&mut turns);
    }
    for state in states {
        turns.extend([
            state.target_residency_ns,
            state.exit_latency_ns.saturating_add(1),
        ]);
        turns.extend(states.iter().map(|deeper| {
            deeper
                .target_residency_ns
                .saturating_add(state.exit_latency_ns)
        }));
    }
    // A stay that ends during the entry waits for the rest of it, in whole microseconds.
    let longest_entry_ns = costs.iter().map(|cost| cost.entry_ns).max().unwrap_or(0);
    turns.extend((0..=longest_entry_ns / 1000).map(|us| us * 1000 + 1));
    Turns::new(turns)
}

/// Groups while they are filled.
#[derive(Default)]
struct Groups {
    all: Vec<Group>,
    numbers: HashMap<(u16, u32, u32), u32>,
}

impl Groups {
    /// Adds a stay, and returns the number of its group.
    fn add(&mut self, key: (u16, u32, u32), ns: u64, together_ns: u64) -> u32 {
        let number = match self.numbers.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.all.push(Group {
                    domain: key.0,
                    ns,
                    together_ns,
                    stays: 0,
                    sum_ns: 0,
                });
                *new.insert(self.all.len() as u32 - 1)
            }
        };
        let group = &mut self.all[number as usize];
        group.stays += 1;
        group.sum_ns += u128::from(ns);
        number
    }
}

/// The best that could have been done at one point.
struct Point {
    energy: u128,
    states: Vec<Usage>,
    /// The state of each group of intervals.
    chosen: Vec<u8>,
    is_bound: bool,
    /// 50 % and 99 %.
    delay_us: [u64; 2],
}

impl Point {
    fn new(platform: &Platform, classes: &Classes, point: usize) -> Self {
        let domains = &platform.domains;
        let of_cores: Vec<Costs> = domains
            .iter()
            .map(|domain| Costs::of_cores(&domain.states, point))
            .collect();
        let of_domains: Vec<Costs> = domains
            .iter()
            .map(|domain| Costs::of_domain(&domain.states, point))
            .collect();
        let mut energy = 0;
        for segment in &classes.segments {
            let costs = &of_domains[usize::from(segment.domain)];
            energy += costs.sum(costs.cheapest(segment.ns), segment.sum_ns, segment.stays);
        }
        let mut is_bound = false;
        let mut states = vec![Usage::default(); domains[0].states.len()];
        let mut delays = Delays::default();
        let mut chosen = Vec::with_capacity(classes.groups.len());
        for group in &classes.groups {
            let number = usize::from(group.domain);
            let (domain, costs) = (&domains[number], &of_cores[number]);
            let cheapest = match platform.power {
                Some(_) => costs.cheapest(group.ns),
                // Without powers the deepest state that pays by its residency stands in for the
                // cheapest.
                None => domain
                    .table
                    .all()
                    .iter()
                    .rposition(|s| s.target_residency_ns <= group.ns)
                    .unwrap_or(0),
            };
            energy += costs.sum(cheapest, group.sum_ns, group.stays);
            // The longer all are idle, the deeper a state pays, as long as deeper states take less
            // power.
            let wanted = if group.together_ns > 0 {
                of_domains[number].cheapest(group.together_ns)
            } else {
                0
            };
            let as_cheap =
                wanted > cheapest && costs.one(wanted, group.ns) == costs.one(cheapest, group.ns);
            let state = if as_cheap { wanted } else { cheapest };
            is_bound |= wanted > state;
            let mut accounting = Accounting::default();
            accounting.leave(&domain.table, state, group.ns);
            let (one, sum) = (accounting.usage(state), &mut states[state]);
            sum.entered += group.stays;
            sum.time_ns += group.sum_ns as u64;
            sum.above += one.above * group.stays;
            sum.below += one.below * group.stays;
            delays.count(&domain.states[state], group.ns, group.stays);
            chosen.push(state as u8);
        }
        // Where a deeper state takes more power, a shorter time of a domain may want a deeper state
        // than its longest.
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
            delay_us: [50, 99].map(|percent| delays.quantile_us(percent)),
        }
    }
}

/// An interval that cost more than it had to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The CPU.
    pub cpu: u16,
    /// The number of the interval.
    pub at: usize,
    /// The energy that the core took more than with the cheapest state, at the middle point.
    pub energy: u128,
}

/// The intervals that cost a replay's cores most beyond what they had to at the middle point, the
/// worst first.
pub fn worst(
    platform: &Platform,
    traced: &TracedIntervals,
    chosen: &[Vec<u8>],
    oracle: &Oracle,
    most: usize,
) -> Vec<Excess> {
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
                worst.insert(
                    place,
                    Excess {
                        cpu: cpu as u16,
                        at,
                        energy,
                    },
                );
                worst.truncate(most);
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Between two turns no state becomes cheaper than another, nor as cheap.
        #[test]
        fn nothing_changes_between_turns(costs in proptest::collection::vec((0_u128..12, 0_u128..400), 1..6)) {
            let costs = Costs(costs);
            let mut turns = Vec::new();
            costs.turns(&mut turns);
            let turns = Turns::new(turns);
            let order = |ns: u64| -> Vec<_> {
                let of = |state| costs.one(state, ns);
                let states = 0..costs.0.len();
                states.clone().flat_map(|a| states.clone().map(move |b| of(a).cmp(&of(b)))).collect()
            };
            let mut last = (turns.class(0), order(0));
            for ns in 1..500 {
                let next = (turns.class(ns), order(ns));
                prop_assert!(next.0 != last.0 || next.1 == last.1, "{ns} ns is in the class of the one before");
                last = next;
            }
        }
    }
}
