//! `idle-replay`: governors on a trace, or on published workloads.

use crate::energy::{Segments, energy};
use crate::idle_cases::{self, CASE, SEED, SEEDS};
use crate::idle_predict::{self, OBSERVED, PREDICT};
use crate::oracle::{Oracle, worst};
use crate::platform::Platform;
use crate::replay::{Agreement, Chooser, Ideal, Replayed, Unsaid, replay};
use crate::results;
use crate::row::Row;
use crate::trace::Traced;
use experiment::setting::{self, Checked, InputFile, Number, Or};
use experiment::{About, Error, Example, Experiment, Request, Setting, Sink, World, WorldAbout};
use idle::{Family, Release};
use rayon::prelude::*;
use recording::Header;
use std::path::Path;

/// Replays governors on the idle intervals of a trace.
pub struct IdleReplay;

/// The trace that is replayed.
pub(crate) const TRACE: InputFile =
    InputFile::new("trace", "The trace: a file that `import ftrace` reads, - for standard input, or a recording of a trace (a folder) [default: a sample].")
        .positional();

/// The platform whose idle states a replay enters.
pub(crate) const PLATFORM: setting::Platform =
    setting::Platform::new("platform", "Platform whose idle states and powers count.");

/// The platform where none is named.
pub(crate) const USUAL_PLATFORM: &str = "juno-r2";

pub(crate) const PLATFORM_OR_USUAL: Or<setting::Platform> = PLATFORM.or(USUAL_PLATFORM);

pub(crate) const GOVERNORS: Checked<Vec<idle::Kind>> = Checked::new(
    "governors",
    "NAMES",
    kinds,
    "Governors, parted by commas [default: all that have a name of their own; menu-6.1,menu,ladder with --predict]; menu or teo of any release as menu@6.12.117 \
     (`stopwatt list governors`), menu-6.1, menu, teo-6.10, teo-6.11, teo-6.18, teo-6.18-fixed, ladder, haltpoll, \
     never-deep, always-deepest.",
);

/// Ticks of the scheduler.
pub(crate) const HZ: Number = Number::new("hz", 24..=10_000, "Ticks of the scheduler of the traced kernel.").unit("Hz");

/// Ticks of the scheduler where nothing is said, in Hz.
pub(crate) const USUAL_HZ: u64 = 250;

pub(crate) const HZ_OR_USUAL: Or<Number> = HZ.or(USUAL_HZ);

static ABOUT: About = About {
    name: "idle-replay",
    summary: "What other idle governors would have done with a trace, and what that would have cost",
    details: "The replay is open loop: what woke a CPU stays where it was; a deeper state delays the work by its exit latency, and \
              nothing else moves. What entering and leaving a state costs is known only as a range, so energy is one too. With --predict the \
              loop is closed, and counts are predicted. With --case a CPU lives through workloads of reports: only what the reports say is \
              known of them, so the order of the governors can be compared, and the counts only roughly.",
    worlds: &[WorldAbout { world: World::Sim, about: "governors on the intervals of the trace", needs: &[] }],
    settings: &[&TRACE, &PLATFORM_OR_USUAL, &GOVERNORS, &HZ_OR_USUAL, &PREDICT, &OBSERVED, &CASE, &SEED, &SEEDS],
    cases: &[],
    examples: &[
        Example { arguments: "", about: "all governors on a sample trace" },
        Example { arguments: "trace.txt --platform juno-r2", about: "all governors on a trace of yours" },
        Example {
            arguments: "recordings/ftrace --platform tc2 --governors menu-6.1,ladder",
            about: "two, on a recording",
        },
        Example {
            arguments: "--governors menu@6.1.150,menu@6.1.158,teo@6.12.117",
            about: "governors of releases, by the changes that each has",
        },
        Example {
            arguments: "a.trace --predict --governors ladder --observed b.trace",
            about: "in closed loop, beside a trace of ladder",
        },
        Example { arguments: "--case all", about: "published workloads on which governors choose badly" },
        Example {
            arguments: "--case mt8196 --governors teo@6.6,teo@6.12,teo@7.1",
            about: "one of them, governors of yours",
        },
    ],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

/// The governors of a list of names.
pub(crate) fn kinds(text: &str) -> Result<Vec<idle::Kind>, String> {
    let mut found = Vec::new();
    for name in text.split(',').map(str::trim) {
        let kind = idle::Kind::find(name).ok_or_else(|| no_governor(name))?;
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    Ok(found)
}

/// The error for a governor that there is not, with those that there are.
pub fn no_governor(name: &str) -> String {
    let families = [Family::Menu, Family::Teo];
    let Some((family, release)) = name.split_once('@') else {
        let known: Vec<String> = idle::Kind::ALL.iter().map(ToString::to_string).collect();
        let dated = "menu or teo of a release, as menu@6.12.117";
        return format!("there is no governor `{name}`; there are: {}, and {dated}", known.join(", "));
    };
    match families.into_iter().find(|known| known.name() == family) {
        None => format!("`{name}`: of menu and teo there are releases, as menu@6.12.117 and teo@6.6"),
        Some(_) if Release::parse(release).is_none() => {
            format!("`{name}`: `{release}` is no release of Linux, such as 6.12, 6.12.117 or 6.18-rc4")
        }
        Some(known) => format!("`{name}`: {family} is here as it was from Linux {} on", known.oldest()),
    }
}

/// Refuses a trace that is not there.
pub(crate) fn check_there(trace: Option<&Path>) -> Result<(), Error> {
    match trace {
        Some(path) if path != Path::new("-") && !path.exists() => Err(Error::usage(
            format!("{} is not there", path.display()),
            "name ftrace text, or the folder of a recording of a trace; without a name it is a sample",
        )),
        _ => Ok(()),
    }
}

/// The trace that is named, or the sample.
pub(crate) fn traced(trace: Option<&Path>) -> Result<Traced, Error> {
    check_there(trace)?;
    trace.map_or_else(Traced::sample, Traced::open)
}

impl Experiment for IdleReplay {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        const OF_CASES: [&dyn Setting; 2] = [&SEED, &SEEDS];
        const OF_TRACES: [&dyn Setting; 5] = [&TRACE, &PLATFORM_OR_USUAL, &HZ_OR_USUAL, &PREDICT, &OBSERVED];
        let settings = &request.settings;
        if settings.is_given(&CASE) {
            return settings.refuse(&OF_TRACES, "--case runs a workload in place of a trace; leave it out");
        }
        settings.refuse(&OF_CASES, "give --case, too")?;
        if settings.get(PREDICT) {
            return idle_predict::check(request);
        }
        settings.refuse(&[&OBSERVED], "give --predict, too")?;
        check_there(request.settings.get(TRACE).as_deref())?;
        platforms::idle_states(request.platforms, &request.settings.get(PLATFORM_OR_USUAL)).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        if let Some(cases) = settings.get(CASE) {
            return idle_cases::run(cases, settings, sink);
        }
        if settings.get(PREDICT) {
            return idle_predict::run(request, sink);
        }
        let platform = platforms::idle_states(request.platforms, &settings.get(PLATFORM_OR_USUAL))?;
        let progress = sink.progress();
        progress.say("reading the trace");
        let traced = traced(settings.get(TRACE).as_deref())?;
        progress.check()?;
        let tick_ns = 1_000_000_000 / settings.get(HZ_OR_USUAL);
        let kinds = settings.get(GOVERNORS).unwrap_or_else(|| idle::Kind::ALL.to_vec());
        progress.expect(kinds.len() as u64 + 2, "governors");
        let segments = Segments::new(&platform, &traced);
        let oracle = Oracle::new(&platform, &segments, &traced);
        progress.step();

        let recorded = traced.has_states_of(platform.state_names());
        let choosers: Vec<Chooser> =
            recorded.then_some(Chooser::Recorded).into_iter().chain(kinds.into_iter().map(Chooser::Governor)).collect();
        let rows: Vec<Row> = choosers
            .par_iter()
            .map(|&chooser| {
                progress.check()?;
                let row = row(&platform, &traced, &segments, &oracle, chooser, tick_ns);
                progress.step();
                Ok::<_, Error>(row)
            })
            .collect::<Result<_, _>>()?;

        let mut header = Header::new(ABOUT.name, World::Sim.name(), "ns");
        header.iterations = 1;
        header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let recording = results::recording(header, &platform, &traced, &rows, &oracle);
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

/// Intervals that are listed for each governor.
const WORST: usize = 5;

/// Everything about one chooser.
fn row(
    platform: &Platform,
    traced: &Traced,
    segments: &Segments,
    oracle: &Oracle,
    chooser: Chooser,
    tick_ns: u64,
) -> Row {
    // haltpoll alternates polling and halting, so it needs a state that polls; no board's table has
    // one.
    let polling;
    let own = match chooser {
        Chooser::Governor(idle::Kind::Haltpoll) => {
            polling = platform.with_polling();
            &polling
        }
        _ => platform,
    };
    // Where everything is known, or nobody asks, both replays are one.
    let unsaid = match chooser {
        Chooser::Governor(_) if traced.summary.bounded + traced.summary.all_unknown() > 0 => &Unsaid::BOTH[..],
        _ => &Unsaid::BOTH[..1],
    };
    let replays: Vec<(Unsaid, Replayed)> =
        unsaid.iter().map(|&unsaid| (unsaid, replay(own, traced, chooser, unsaid, tick_ns, &mut Ideal))).collect();
    let energies = replays.iter().map(|(_, replayed)| energy(own, segments, replayed)).collect();
    let agreement = match chooser {
        Chooser::Governor(kind) if kind != idle::Kind::Haltpoll && traced.has_states_of(platform.state_names()) => {
            Some(Agreement::new(platform, traced, kind, tick_ns)).filter(|agreement| agreement.all() > 0)
        }
        _ => None,
    };
    // A state that polls comes before the others and would shift their numbers.
    let same_states = own.domains[0].states.len() == platform.domains[0].states.len();
    let worst = match replays.first() {
        Some((_, replayed)) if platform.power.is_some() && same_states => {
            worst(platform, traced, &replayed.chosen, oracle, WORST)
        }
        _ => Vec::new(),
    };
    let state_names = own.state_names().map(str::to_owned).collect();
    Row { chooser, replays, energies, agreement, state_names, worst }
}
