//! Power domains on a replay, where the operating system coordinates idle states (PSCI's
//! OS-initiated mode): with the last of its CPUs in the deepest state a domain may follow, as its
//! governor says.
//!
//! A CPU's own choice does not depend on its domain, so domains come after all CPUs.

use crate::energy::Segments;
use crate::platform::{Platform, PowerDomain};
use crate::replay::{DomainReplay, DomainStay, GovernorReplay};
use crate::trace::TracedIntervals;
use experiment::setting::CheckedSetting;
use idle::{DomainGovernor, DomainKind, DomainSituation, Usage};
use itertools::Itertools;
use sleeps::Waker;

/// The governor of power domains.
pub(crate) const DOMAIN_GOVERNOR: CheckedSetting<DomainKind> = CheckedSetting::new(
    "domain-governor",
    "NAME",
    |name| {
        DomainKind::find(name).ok_or_else(|| {
            "genpd, genpd@6.1 or another release, never, or always-deepest".to_owned()
        })
    },
    "Governor of power domains, where the operating system coordinates idle states: genpd (Linux's), that of a release as genpd@6.1, never, \
     always-deepest [default: genpd].",
);

/// Lets the domains follow the CPUs of a replay; wake-ups that wait for a domain are delayed by it.
pub fn follow(
    platform: &Platform,
    traced: &TracedIntervals,
    kind: DomainKind,
    replayed: &mut GovernorReplay,
) {
    let mut order = (0..platform.power_domains.len()).collect_vec();
    order.sort_by_key(|at| platform.power_domains[*at].cpus.len());
    replayed.domains = vec![DomainReplay::default(); order.len()];
    for (number, &at) in order.iter().enumerate() {
        let domain = &platform.power_domains[at];
        let inner = |other: &&usize| {
            platform.power_domains[**other]
                .cpus
                .iter()
                .all(|cpu| domain.cpus.contains(cpu))
        };
        let children = order[..number].iter().filter(inner).copied().collect_vec();
        replayed.domains[at] = one(platform, traced, kind, domain, &children, replayed);
    }
}

impl DomainReplay {
    /// True if the domain is in its deepest state at a time.
    fn is_off_at(&self, at_ns: u64) -> bool {
        self.stays
            .partition_point(|stay| stay.from_ns <= at_ns)
            .checked_sub(1)
            .map(|at| &self.stays[at])
            .is_some_and(|stay| stay.to_ns > at_ns && stay.state + 1 == self.states.len())
    }

    /// Counts a stay in a state.
    fn stay(&mut self, domain: &PowerDomain, from_ns: u64, to_ns: u64, state: usize) {
        let time_ns = to_ns - from_ns;
        let pays = |state: &idle::DomainState| time_ns >= state.off_ns + state.residency_ns;
        let usage = &mut self.states[state];
        usage.entered += 1;
        usage.time_ns += time_ns;
        usage.above += u64::from(!pays(&domain.states[state]));
        usage.below += u64::from(domain.states[state + 1..].iter().any(pays));
        self.stays.push(DomainStay {
            from_ns,
            to_ns,
            state,
        });
    }
}

fn one(
    platform: &Platform,
    traced: &TracedIntervals,
    kind: DomainKind,
    domain: &PowerDomain,
    children: &[usize],
    replayed: &mut GovernorReplay,
) -> DomainReplay {
    let mut found = DomainReplay {
        states: vec![Usage::default(); domain.states.len()],
        ..DomainReplay::default()
    };
    let has_slept = |cpu: &u16| {
        traced
            .cpus
            .get(usize::from(*cpu))
            .is_some_and(|sleeps| !sleeps.is_empty())
    };
    let cpus = domain.cpus.iter().copied().filter(has_slept).collect_vec();
    let there = traced.cpus.iter().filter(|sleeps| !sleeps.is_empty());
    let is_all = cpus.len() == there.count();
    let latency_limit_ns = cpus
        .iter()
        .map(|cpu| platform.latency_limit_ns(*cpu))
        .min()
        .unwrap_or(idle::NO_LIMIT_NS);
    let mut governor = DomainGovernor::new(kind);
    let mut segments = Segments::default();
    segments.add(0, &cpus, traced);
    for segment in &segments.all {
        let covers = segments.covers(segment);
        let sleep = |(cpu, at): &(u16, u32)| &traced.cpus[usize::from(*cpu)][*at as usize];
        let from_ns = covers
            .iter()
            .map(|of| sleep(of).enter_ns)
            .max()
            .unwrap_or(0);
        let to_ns = from_ns + segment.ns;
        found.together_ns += segment.ns;
        let deepest = |(cpu, at): &(u16, u32)| {
            let table = &platform.domains[platform.place(*cpu).0].table;
            usize::from(replayed.chosen[usize::from(*cpu)][*at as usize]) == table.last()
        };
        let is_off = |child: &usize| replayed.domains[*child].is_off_at(from_ns);
        if !covers.iter().all(deepest) || !children.iter().all(is_off) {
            continue;
        }
        let event = |(cpu, at): &(u16, u32)| replayed.events[usize::from(*cpu)][*at as usize];
        let idle_ns = covers
            .iter()
            .map(event)
            .min()
            .unwrap_or(0)
            .cast_signed()
            .saturating_sub(from_ns.cast_signed());
        let woken = covers.iter().find(|of| sleep(of).exit_ns == to_ns);
        let core = |(cpu, _): &(u16, u32)| platform.domains[platform.place(*cpu).0].states.last();
        // While all CPUs sleep, none sends an interrupt; one that was sent before they slept wakes
        // its CPU within the exit latency.
        let is_sent =
            |of: &(u16, u32)| is_all || core(of).is_some_and(|core| segment.ns <= core.exit_ns);
        let ipi_pending = woken.is_some_and(|of| sleep(of).waker == Waker::Ipi && is_sent(of));
        let situation = DomainSituation {
            idle_ns,
            latency_limit_ns,
            ipi_pending,
        };
        let state = governor.select(&domain.states, &situation);
        let Some(state) = state else { continue };
        found.stay(domain, from_ns, to_ns, state);
        let chosen = &domain.states[state];
        if let Some((of, core)) = woken.and_then(|of| Some((of, core(of)?))) {
            let more_ns = chosen.on_ns + chosen.off_ns.saturating_sub(segment.ns);
            replayed
                .delays
                .lengthen(core, sleep(of).interval_ns(), more_ns);
        }
    }
    found
}
