//! Power domains on a replay, where the operating system coordinates idle states (PSCI's
//! OS-initiated mode): with the last of its CPUs in the deepest state a domain may follow, as its
//! governor says.
//!
//! A CPU's own choice does not depend on its domain, so domains come after all CPUs.

use crate::energy::{Segment, Segments};
use crate::envelope::Envelope;
use crate::platform::{Platform, PowerDomain};
use crate::replay::{DomainReplay, DomainStay, GovernorReplay};
use crate::trace::TracedIntervals;
use experiment::setting::CheckedSetting;
use idle::{DomainGovernor, DomainKind, DomainSituation, Usage};
use itertools::Itertools;
use sleeps::{Sleep, Waker};

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
/// With an envelope of that replay, domains do for certain what all that is possible leads to, and
/// the longest delays are the envelope's.
pub fn follow(
    platform: &Platform,
    traced: &TracedIntervals,
    kind: DomainKind,
    mut envelope: Option<&mut Envelope>,
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
        let envelope = envelope.as_deref_mut();
        replayed.domains[at] = one(
            (platform, traced),
            kind,
            (domain, &children),
            envelope,
            replayed,
        );
    }
}

impl DomainReplay {
    /// True if the domain is in its deepest state at a time; `None` where that is not known.
    fn is_off_at(&self, at_ns: u64) -> Option<bool> {
        let at = self.stays.partition_point(|stay| stay.from_ns <= at_ns);
        let last = at.checked_sub(1).map(|at| &self.stays[at]);
        match last.filter(|stay| stay.to_ns > at_ns) {
            Some(stay) => stay.state.map(|state| state + 1 == self.states.len()),
            None => Some(false),
        }
    }

    /// Counts a stay in a state, or, where that is not known, in each that may be.
    fn stay(
        &mut self,
        domain: &PowerDomain,
        [from_ns, to_ns]: [u64; 2],
        may_be: &[usize],
        is_known: bool,
    ) {
        let time_ns = to_ns - from_ns;
        let pays = |state: &idle::DomainState| time_ns >= state.off_ns + state.residency_ns;
        let usage = |state: usize| Usage {
            entered: 1,
            time_ns,
            above: u64::from(!pays(&domain.states[state])),
            below: u64::from(domain.states[state + 1..].iter().any(pays)),
            rejected: 0,
        };
        let counts = if is_known {
            &mut self.states
        } else {
            &mut self.more
        };
        for &state in may_be {
            counts[state] += usage(state);
        }
        self.stays.push(DomainStay {
            from_ns,
            to_ns,
            state: may_be.first().copied().filter(|_| is_known),
        });
    }
}

/// A power domain that follows its CPUs.
struct Follower<'r> {
    platform: &'r Platform,
    traced: &'r TracedIntervals,
    domain: &'r PowerDomain,
    governor: DomainGovernor,
    latency_limit_ns: u64,
    /// True if all CPUs that sleep are its own.
    is_all: bool,
    found: DomainReplay,
}

fn one(
    (platform, traced): (&Platform, &TracedIntervals),
    kind: DomainKind,
    (domain, children): (&PowerDomain, &[usize]),
    mut envelope: Option<&mut Envelope>,
    replayed: &mut GovernorReplay,
) -> DomainReplay {
    let has_slept = |cpu: &u16| {
        traced
            .cpus
            .get(usize::from(*cpu))
            .is_some_and(|sleeps| !sleeps.is_empty())
    };
    let cpus = domain.cpus.iter().copied().filter(has_slept).collect_vec();
    let there = traced.cpus.iter().filter(|sleeps| !sleeps.is_empty());
    let limits = cpus.iter().map(|cpu| platform.latency_limit_ns(*cpu));
    let none = vec![Usage::default(); domain.states.len()];
    let mut follower = Follower {
        platform,
        traced,
        domain,
        governor: DomainGovernor::new(kind),
        latency_limit_ns: limits.min().unwrap_or(idle::NO_LIMIT_NS),
        is_all: cpus.len() == there.count(),
        found: DomainReplay {
            states: none.clone(),
            more: none,
            ..DomainReplay::default()
        },
    };
    let mut segments = Segments::default();
    segments.add(0, &cpus, traced);
    for segment in &segments.all {
        let covers = segments.covers(segment);
        let envelope = envelope.as_deref_mut();
        follower.follow(covers, segment, children, envelope, replayed);
    }
    follower.found
}

impl Follower<'_> {
    fn sleep(&self, (cpu, at): (u16, u32)) -> &Sleep {
        &self.traced.cpus[usize::from(cpu)][at as usize]
    }

    /// Follows into a time in which all of its CPUs are idle.
    fn follow(
        &mut self,
        covers: &[(u16, u32)],
        segment: &Segment,
        children: &[usize],
        envelope: Option<&mut Envelope>,
        replayed: &mut GovernorReplay,
    ) {
        let (from_ns, ns) = (segment.from_ns, segment.ns);
        self.found.together_ns += ns;
        let is_deepest = |&(cpu, at): &(u16, u32)| {
            let last = self.platform.domains[self.platform.place(cpu).0]
                .table
                .last();
            let (cpu, at) = (usize::from(cpu), at as usize);
            match &envelope {
                Some(envelope) => envelope.lasts[cpu][at].is(last),
                None => Some(usize::from(replayed.chosen[cpu][at]) == last),
            }
        };
        let is_off = |child: &usize| replayed.domains[*child].is_off_at(from_ns);
        let below = children.iter().map(is_off);
        let below = covers.iter().map(is_deepest).chain(below).collect_vec();
        if below.contains(&Some(false)) {
            return;
        }
        let woken = covers.iter().copied();
        let woken = woken
            .clone()
            .find(|of| self.sleep(*of).exit_ns == from_ns + ns);
        let core = woken.and_then(|(cpu, _)| {
            let of = &self.platform.domains[self.platform.place(cpu).0];
            of.states.last()
        });
        // While all CPUs sleep, none sends an interrupt; one that was sent before they slept wakes
        // its CPU within the exit latency.
        let is_sent = self.is_all || core.is_some_and(|core| ns <= core.exit_ns);
        let wakes = |waker| is_sent && woken.is_some_and(|of| self.sleep(of).waker == waker);
        let is_known = envelope.is_none() || !below.contains(&None) && !wakes(Waker::Unknown);
        let event = |&(cpu, at): &(u16, u32)| replayed.events[usize::from(cpu)][at as usize];
        let event_ns = covers.iter().map(event).min().unwrap_or(0);
        let situation = DomainSituation {
            idle_ns: event_ns.cast_signed().saturating_sub(from_ns.cast_signed()),
            latency_limit_ns: self.latency_limit_ns,
            ipi_pending: wakes(Waker::Ipi),
        };
        let state = if is_known {
            let state = self.governor.select(&self.domain.states, &situation);
            let Some(state) = state else { return };
            // Only a domain that was never asked goes deeper than its second state.
            let was_asked = self.found.more.iter().any(|more| more.entered > 0);
            Some(state).filter(|state| *state < 2 || !was_asked)
        } else {
            None
        };
        let may_be = self.may_be(state);
        if may_be.is_empty() {
            return;
        }
        let delays = match envelope {
            Some(envelope) => &mut envelope.delays[1],
            None => &mut replayed.delays,
        };
        if let Some((of, core)) = woken.zip(core) {
            let states = may_be.iter().map(|state| &self.domain.states[*state]);
            let more = states.map(|of| of.on_ns + of.off_ns.saturating_sub(ns));
            let delay_ns = core.delay_ns(self.sleep(of).interval_ns());
            delays.lengthen(delay_ns, more.max().unwrap_or(0));
        }
        let is_known = state.is_some();
        self.found
            .stay(self.domain, [from_ns, from_ns + ns], &may_be, is_known);
    }

    /// The states that the domain may be in: this one, or, where that is not known, each that its
    /// governor may choose.
    fn may_be(&self, state: Option<usize>) -> Vec<usize> {
        let states = self.domain.states.iter().enumerate();
        let allowed = states.filter(|(_, of)| self.governor.allows(of, self.latency_limit_ns));
        let allowed = allowed.map(|(at, _)| at).collect_vec();
        state.map_or(allowed, |state| vec![state])
    }
}
