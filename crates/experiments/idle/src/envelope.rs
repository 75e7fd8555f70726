//! Both ends of what a governor may have done, where the trace does not say enough.
//!
//! What is not said may differ from interval to interval, and lie between both of its ends. So in
//! each interval any state may have been chosen from the shallowest to the deepest that a replay
//! with one of the ends chooses.

use crate::energy::{Energies, Segment, Segments};
use crate::platform::{POINTS, Platform, StateCost, StayCost};
use crate::replay::GovernorReplay;
use crate::trace::TracedIntervals;
use idle::{Accounting, MAX_STATES, States, Usage};
use itertools::Itertools;
use sleeps::Sleep;

/// The least and the most of each count over all that may have been chosen.
pub struct Envelope {
    /// By state: the least, and the most.
    pub states: [Vec<Usage>; 2],
    /// Over all states: the least, and the most. Entries are not counted here.
    pub all: [Usage; 2],
    /// The least and the most energy.
    pub energies: [Energies; 2],
}

impl Envelope {
    /// The envelope of several replays of a trace; `None` where all are alike.
    pub fn new(
        platform: &Platform,
        traced: &TracedIntervals,
        segments: &Segments,
        replays: &[&GovernorReplay],
    ) -> Option<Self> {
        let ends = |cpu: usize, at: usize| {
            replays
                .iter()
                .map(|replayed| usize::from(replayed.chosen[cpu][at]))
                .fold((MAX_STATES, 0), |(low, high), state| {
                    (low.min(state), high.max(state))
                })
        };
        let of_cpu = |(cpu, sleeps): (usize, &Vec<Sleep>)| {
            (0..sleeps.len()).map(|at| ends(cpu, at)).collect_vec()
        };
        let sets = traced.cpus.iter().enumerate().map(of_cpu).collect_vec();
        if sets.iter().flatten().all(|(low, high)| low == high) {
            return None;
        }
        let none = vec![Usage::default(); platform.domains[0].states.len()];
        let mut envelope = Self {
            states: [none.clone(), none],
            all: [Usage::default(); 2],
            energies: [[0; POINTS.len()]; 2],
        };
        for (cpu, (sleeps, sets)) in traced.cpus.iter().zip(&sets).enumerate() {
            let table = &platform.domains[platform.place(cpu as u16).0].table;
            for (sleep, &(low, high)) in sleeps.iter().zip(sets) {
                envelope.count(may_be(table, low, high), |state| {
                    let mut accounting = Accounting::default();
                    accounting.leave(table, state, sleep.interval_ns());
                    *accounting.usage(state)
                });
            }
        }
        if platform.power.is_some() {
            for point in 0..POINTS.len() {
                envelope.energies[0][point] =
                    extreme(platform, traced, segments, &sets, point, false);
                envelope.energies[1][point] =
                    extreme(platform, traced, segments, &sets, point, true);
            }
        }
        Some(envelope)
    }

    /// Counts an interval that may have ended in any of some states.
    fn count(
        &mut self,
        states: impl Iterator<Item = usize> + Clone,
        usage: impl Fn(usize) -> Usage,
    ) {
        let [least, most] = &mut self.all;
        let of = states.clone().map(usage).collect_vec();
        least.above += u64::from(of.iter().all(|usage| usage.above > 0));
        least.below += u64::from(of.iter().all(|usage| usage.below > 0));
        most.above += u64::from(of.iter().any(|usage| usage.above > 0));
        most.below += u64::from(of.iter().any(|usage| usage.below > 0));
        for (state, usage) in states.zip(&of) {
            self.states[1][state] += *usage;
            if of.len() == 1 {
                self.states[0][state] += *usage;
            }
        }
    }
}

/// The states from one to another that may have been chosen. Both of them were, by some replay.
fn may_be(table: &States, low: usize, high: usize) -> impl Iterator<Item = usize> + Clone {
    (low..=high).filter(move |state| *state == low || *state == high || !table.is_disabled(*state))
}

/// The least, or the most, energy at a point: of each core in each interval, and of each domain while
/// all of its CPUs are idle, in the shallowest of their states. Where the two exclude each other no
/// choice reaches the sum.
fn extreme(
    platform: &Platform,
    traced: &TracedIntervals,
    segments: &Segments,
    sets: &[Vec<(usize, usize)>],
    point: usize,
    is_most: bool,
) -> u128 {
    let end = |domain: usize, (low, high), cost: &dyn Fn(&StateCost) -> u128| {
        let domain = &platform.domains[domain];
        let costs = may_be(&domain.table, low, high).map(|state| cost(&domain.states[state]));
        if is_most { costs.max() } else { costs.min() }.unwrap_or(0)
    };
    let of_core = |cpu: usize, sleep: &Sleep, set| {
        end(platform.place(cpu as u16).0, set, &|state| {
            StayCost::of_core(state, point).of(sleep.interval_ns())
        })
    };
    let of_domain = |segment: &Segment| {
        let covers = segments.covers(segment).iter();
        let covers = covers.map(|&(cpu, at)| sets[usize::from(cpu)][at as usize]);
        let set = covers.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
        end(segment.domain.into(), set.unwrap_or_default(), &|state| {
            StayCost::of_domain(state, point).of(segment.ns)
        })
    };
    let of_cores = traced.cpus.iter().zip(sets).enumerate();
    let of_cores = of_cores.flat_map(|(cpu, (sleeps, sets))| {
        let both = sleeps.iter().zip(sets);
        both.map(move |(sleep, &set)| of_core(cpu, sleep, set))
    });
    of_cores.sum::<u128>() + segments.all.iter().map(of_domain).sum::<u128>()
}
