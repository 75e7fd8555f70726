//! The cost of a replay, at each point of the range of what a round trip costs: exact sums of
//! integers, in units of power times nanoseconds.
//!
//! Only idle time is counted: a core's power in the state that it is in, and the power of a domain
//! while all of its CPUs are idle, in the shallowest of their states: of an interval in which a
//! governor was asked twice, the state in which it ended. While a CPU of a domain runs, the
//! domain's power is that of running, whatever the governor.

use crate::platform::{POINTS, Platform};
use crate::replay::GovernorReplay;
use crate::trace::TracedIntervals;
use idle::MAX_STATES;
use itertools::Itertools;

/// A time in which all CPUs of a domain are idle.
pub(crate) struct Segment {
    /// When it begins, by the trace's clock in nanoseconds.
    pub from_ns: u64,
    /// The time that it lasts, in nanoseconds.
    pub ns: u64,
    /// The domain of the platform.
    pub domain: u16,
    /// CPUs of the domain that the trace has.
    cpus: u16,
    /// The index in `Segments::covers` at which the CPUs and their intervals begin.
    first: u32,
}

/// All times in which all CPUs of a domain are idle. They depend on the trace alone.
#[derive(Default)]
pub struct Segments {
    pub(crate) all: Vec<Segment>,
    /// CPU and number of the interval, for each CPU of each segment.
    covers: Vec<(u16, u32)>,
}

impl Segments {
    /// The segments of a trace. A CPU without idle intervals counts as not there.
    pub fn new(platform: &Platform, traced: &TracedIntervals) -> Self {
        let slept =
            (0..traced.cpus.len() as u16).filter(|&cpu| !traced.cpus[usize::from(cpu)].is_empty());
        let groups = recording::grouped(slept.map(|cpu| (platform.place(cpu), cpu)));
        let mut segments = Self::default();
        for ((domain, _), cpus) in groups {
            segments.add(domain, &cpus, traced);
        }
        segments
    }

    /// Adds the times in which all of some CPUs are idle. One that is offline keeps no domain up.
    pub(crate) fn add(&mut self, domain: usize, cpus: &[u16], traced: &TracedIntervals) {
        let times = cpus.iter().map(|cpu| {
            let sleeps = (0..).zip(&traced.cpus[usize::from(*cpu)]);
            let sleeps = sleeps.map(|(at, of)| (of.enter_ns, of.exit_ns, Some((*cpu, at))));
            let offline = traced.offline.iter().filter(|of| of.cpu == *cpu);
            let mut times = offline.map(|of| (of.ns[0], of.ns[1], None)).collect_vec();
            times.extend(sleeps);
            times.sort_by_key(|of| of.0);
            times
        });
        let times = times.collect_vec();
        let mut at = vec![0; cpus.len()];
        while !cpus.is_empty() {
            let (mut from, mut to) = (0, u64::MAX);
            for (of, at) in times.iter().zip(&at) {
                let Some(time) = of.get(*at) else { return };
                (from, to) = (from.max(time.0), to.min(time.1));
            }
            let first = self.covers.len();
            let asleep = times.iter().zip(&at).filter_map(|(of, at)| of[*at].2);
            self.covers.extend(asleep.filter(|_| from < to));
            if self.covers.len() > first {
                self.all.push(Segment {
                    from_ns: from,
                    ns: to - from,
                    domain: domain as u16,
                    cpus: (self.covers.len() - first) as u16,
                    first: first as u32,
                });
            }
            for (of, at) in times.iter().zip(&mut at) {
                while of.get(*at).is_some_and(|time| time.1 <= to) {
                    *at += 1;
                }
            }
        }
    }

    /// CPU and number of the interval, for each CPU of a segment.
    pub(crate) fn covers(&self, segment: &Segment) -> &[(u16, u32)] {
        &self.covers[segment.first as usize..][..usize::from(segment.cpus)]
    }
}

/// Energy at each of [`POINTS`].
pub type Energies = [u128; POINTS.len()];

/// The energy of a replay.
pub fn energy(platform: &Platform, segments: &Segments, replayed: &GovernorReplay) -> Energies {
    let mut base = replayed.core_energy + replayed.read_energy;
    let mut downs = vec![[0_u64; MAX_STATES]; platform.domains.len()];
    for segment in &segments.all {
        let chosen = |&(cpu, at): &(u16, u32)| replayed.chosen[usize::from(cpu)][at as usize];
        let level = usize::from(
            segments
                .covers(segment)
                .iter()
                .map(chosen)
                .min()
                .unwrap_or(0),
        );
        base +=
            u128::from(platform.domains[usize::from(segment.domain)].states[level].domain_power)
                * u128::from(segment.ns);
        downs[usize::from(segment.domain)][level] += 1;
    }
    std::array::from_fn(|point| {
        let mut sum = base;
        for (at, domain) in platform.domains.iter().enumerate() {
            for (state, cost) in domain.states.iter().enumerate() {
                sum += cost.core_round_trip.part(POINTS[point])
                    * u128::from(replayed.entries[at][state]);
                sum += cost.domain_round_trip.part(POINTS[point]) * u128::from(downs[at][state]);
            }
        }
        sum
    })
}
