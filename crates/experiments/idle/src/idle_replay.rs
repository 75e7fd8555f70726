//! `idle-replay`: governors on a trace.

use crate::asked::{GOVERNORS, HZ_OR_USUAL, PLATFORM_OR_USUAL, TRACE, check_there, traced};
use crate::energy::{Segments, energy};
use crate::envelope::Envelope;
use crate::limits::{LATENCY_LIMIT, Limit, WAKEUP_LIMIT, s2idle_states};
use crate::oracle::{Oracle, worst};
use crate::platform::Platform;
use crate::power_domains::{DOMAIN_GOVERNOR, follow};
use crate::replay::{Agreement, Chooser, Ideal, Unsaid, replay};
use crate::results;
use crate::row::Row;
use crate::trace::TracedIntervals;
use experiment::{
    About, Error, Example, Experiment, Request, Sink, World, WorldAbout, side_by_side,
};
use idle::DomainKind;
use itertools::Itertools;
use platforms::DISABLE;
use recording::Header;

/// Replays governors on the idle intervals of a trace.
pub struct IdleReplay;

static ABOUT: About = About {
    name: "idle-replay",
    summary: "What other idle governors would have done with a trace, and what that would have cost",
    details: "The replay is open loop: what woke a CPU stays where it was; a deeper state delays the work by its exit latency, and \
              nothing else moves. What entering and leaving a state costs is known only as a range, so energy is one too.",
    worlds: &[WorldAbout {
        world: World::Sim,
        about: "governors on the intervals of the trace",
    }],
    settings: &[
        &TRACE,
        &PLATFORM_OR_USUAL,
        &GOVERNORS,
        &HZ_OR_USUAL,
        &LATENCY_LIMIT,
        &DISABLE,
        &WAKEUP_LIMIT,
        &DOMAIN_GOVERNOR,
    ],
    examples: &[
        Example {
            arguments: "",
            about: "governors of a current kernel on a sample trace",
        },
        Example {
            arguments: "trace.txt --platform juno-r2",
            about: "the same, and the kernel's own, on a trace of yours",
        },
        Example {
            arguments: "recordings/ftrace --platform tc2 --governors menu@6.1,ladder",
            about: "two, on a recording",
        },
        Example {
            arguments: "--latency-limit 10..2000",
            about: "what each limit of latency leaves and costs",
        },
        Example {
            arguments: "--governors menu@6.1.150,menu@6.1.158,teo@6.12.117",
            about: "governors of releases, by the changes that each has",
        },
    ],
    ..About::BARE
};

impl Experiment for IdleReplay {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        let settings = &request.settings;
        check_there(request.settings.get(TRACE).as_deref())?;
        let platform =
            platforms::idle_states(request.platforms, &request.settings.get(PLATFORM_OR_USUAL))?;
        if platform.power_domains.is_empty() && settings.is_given(&DOMAIN_GOVERNOR) {
            let what = format!(
                "--domain-governor: {} has no [[power_domain]]",
                platform.name
            );
            return Err(Error::usage(
                what,
                "its firmware coordinates; Linux chooses for domains where it switches them",
            ));
        }
        Limit::all(settings, &platform).map(drop)
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        let platform = platforms::idle_states(request.platforms, &settings.get(PLATFORM_OR_USUAL))?;
        let progress = sink.progress();
        progress.say("reading the trace");
        let traced = traced(settings.get(TRACE).as_deref())?;
        progress.check()?;
        let tick_ns = 1_000_000_000 / settings.get(HZ_OR_USUAL);
        let recorded = traced.has_states_of(platform.state_names());
        // A replay of the traced kernel's own governor shows how well replays agree with the kernel.
        let own = traced.governor.filter(|_| recorded);
        let kinds = settings.get(GOVERNORS).unwrap_or_else(|| {
            traced
                .governor
                .filter(|own| !CURRENT.contains(own))
                .into_iter()
                .chain(CURRENT)
                .collect()
        });
        let named = kinds.clone();
        let kinds = own
            .into_iter()
            .filter(|own| !named.contains(own))
            .chain(kinds)
            .collect_vec();
        let limits = Limit::all(settings, &platform)?;
        let domains = settings.get(DOMAIN_GOVERNOR).unwrap_or(DomainKind::CURRENT);
        let segments = Segments::new(&platform, &traced);
        let oracle = Oracle::new(&platform, &segments, &traced);
        let choosers = recorded
            .then_some(Chooser::Recorded)
            .into_iter()
            .chain(kinds.into_iter().map(Chooser::Governor));
        let mut choosers = choosers.map(|chooser| (chooser, None)).collect_vec();
        for kind in named {
            let limited = limits.iter();
            choosers.extend(limited.map(|limit| (Chooser::Governor(kind), Some(limit))));
        }
        progress.expect(choosers.len() as u64 + 1, "governors");
        progress.step();
        let rows = side_by_side(&progress, &choosers, |&(chooser, limit)| {
            // The kernel's own past is no past of a governor under a limit, nor of one that it is
            // held against.
            let is_own = limits.is_empty()
                && matches!(chooser, Chooser::Governor(kind) if own == Some(kind));
            Ok(row(
                &platform,
                &traced,
                &segments,
                &oracle,
                (chooser, limit, domains),
                is_own,
                tick_ns,
            ))
        })?;

        let mut header = Header::new(ABOUT.name, World::Sim.name(), "ns");
        header.iterations = 1;
        let s2idle = settings
            .get(WAKEUP_LIMIT)
            .map(|us| (us, s2idle_states(&platform, us).join(", ")));
        let recording = results::recording(header, &platform, &traced, own, &rows, &oracle, s2idle);
        sink.whole(&recording)
    }
}

/// The governors of a current kernel.
const CURRENT: [idle::Kind; 2] = [idle::Kind::menu(7, 1), idle::Kind::teo(7, 1)];

/// Everything about one chooser. `is_own` is true for the traced kernel's governor.
fn row(
    platform: &Platform,
    traced: &TracedIntervals,
    segments: &Segments,
    oracle: &Oracle,
    (chooser, limit, domains): (Chooser, Option<&Limit>, DomainKind),
    is_own: bool,
    tick_ns: u64,
) -> Row {
    let limited = limit.map(|limit| limit.of(platform));
    let platform = limited.as_ref().unwrap_or(platform);
    let mut envelope = match chooser {
        Chooser::Governor(kind) => Envelope::new(platform, traced, segments, kind, is_own, tick_ns),
        Chooser::Recorded => None,
    };
    // The envelope holds all that there may be.
    let unsaid = match chooser {
        Chooser::Governor(kind) if envelope.is_none() => Unsaid::of(kind, traced, is_own),
        _ => vec![Unsaid::TIMER],
    };
    let replayed = |&unsaid: &Unsaid| {
        let mut replayed = replay(platform, traced, chooser, unsaid, tick_ns, &mut Ideal);
        let envelope = envelope.as_mut();
        follow(platform, traced, domains, envelope, &mut replayed);
        (unsaid, replayed)
    };
    let replays = unsaid.iter().map(replayed).collect_vec();
    let energies = replays
        .iter()
        .map(|(_, replayed)| energy(platform, segments, replayed))
        .collect();
    let agreement = match chooser {
        Chooser::Governor(kind)
            if limit.is_none() && traced.has_states_of(platform.state_names()) =>
        {
            Some(Agreement::new(platform, traced, kind, tick_ns))
                .filter(|agreement| agreement.all() > 0)
        }
        _ => None,
    };
    let worst = replays
        .first()
        .filter(|_| platform.power.is_some())
        .and_then(|(_, replayed)| worst(platform, traced, &replayed.chosen, oracle));
    let state_names = platform.state_names().map(str::to_owned).collect();
    Row {
        chooser,
        limit: limit.cloned(),
        replays,
        energies,
        envelope,
        agreement,
        state_names,
        worst,
    }
}
