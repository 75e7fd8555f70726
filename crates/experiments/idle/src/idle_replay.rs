//! `idle-replay`: governors on a trace.

use crate::asked::{GOVERNORS, HZ_OR_USUAL, PLATFORM_OR_USUAL, TRACE, check_there};
use crate::limits::{LATENCY_LIMIT, Limit, WAKEUP_LIMIT, s2idle_states};
use crate::power_domains::DOMAIN_GOVERNOR;
use crate::results;
use crate::trial::Given;
use experiment::{About, Error, Experiment, Observer, Request, World, side_by_side};
use platforms::DISABLE;
use recording::{Header, Recording};

/// Replays governors on the idle intervals of a trace.
pub struct IdleReplay;

static ABOUT: About = About {
    name: "idle-replay",
    summary: "What other idle governors would have done with a trace, and what that would have cost",
    details: "The replay is open loop: what woke a CPU stays where it was; a deeper state delays the work by its exit latency, and \
              nothing else moves. What entering and leaving a state costs is known only as a range, so energy is one too.",
    worlds: &[(World::Sim, "governors on the intervals of the trace")],
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
        ("", "governors of a current kernel on a sample trace"),
        (
            "trace.txt --platform juno-r2",
            "the same, and the kernel's own, on a trace of yours",
        ),
        (
            "recordings/ftrace --platform tc2 --governors menu@6.1,ladder",
            "two, on a recording",
        ),
        (
            "--latency-limit 10..2000",
            "what each limit of latency leaves and costs",
        ),
        (
            "--governors menu@6.12,drivers/cpuidle/governors/menu.c",
            "a kernel's file as it stands, beside one of ours",
        ),
        (
            "--governors menu@6.1.150,menu@6.1.158,teo@6.12.117",
            "governors of releases, by the changes that each has",
        ),
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

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording, Error> {
        let progress = &observer.progress;
        let given = Given::read(request, progress)?;
        let trials = given.trials(request)?;
        progress.expect(trials.len() as u64, "governors");
        let rows = side_by_side(progress, trials, |trial| given.row(trial))?;
        let mut header = Header::new(ABOUT.name, World::Sim.name(), "ns");
        header.iterations = 1;
        let s2idle = request.settings.get(WAKEUP_LIMIT);
        let s2idle = s2idle.map(|us| (us, s2idle_states(&given.platform, us).join(", ")));
        Ok(results::recording(header, &given, &rows, s2idle))
    }
}
