//! `explore-psci` and `explore-rcu`: a number of schedules from a seed, as experiments. A sweep
//! repeats them with other seeds, on many machines.

use crate::coverage::add_coverage;
use crate::port::forget_hooks;
use crate::record::{experiment, note_hooks, record};
use crate::recorded::Recordable;
use document::nearest;
use experiment::setting::{CheckedSetting, Number, Or, Setting};
use experiment::{About, Error, Example, Experiment, Request, Sink, World, WorldAbout};
use explore::{Exploration, Limits, MachineOptions, Mode, Psci, Rcu, Strategy, TallyOf};
use recording::{Header, Recording, metrics};
use seeded::Fault;

/// Schedules of the PSCI library.
pub struct ExplorePsci;

/// Schedules of the RCU library.
pub struct ExploreRcu;

const WORLDS: &[WorldAbout] = &[WorldAbout {
    world: World::Explore,
    about: "a machine in which interleavings and memory orders are choices",
    needs: &[],
}];

const EXAMPLES: &[Example] = &[Example {
    arguments: "--schedules 100000 --seed 7",
    about: "the same 100 000 each time",
}];

/// The case of what was tried.
const TRIED: &str = "tried";

const DETAILS: &str = "The answer is no if a schedule breaks an invariant: the recording then is that of `stopwatt explore`, which shrinks it and \
                       repeats it. Kinds of machine take turns.";

const SCHEDULES: Or<Number> = Number::new(
    "schedules",
    1..=1_000_000_000_000,
    "How many schedules to try.",
)
.or(50_000);

const SEED: Or<Number> =
    Number::new("seed", 0..=u64::MAX, "Seed of everything that is drawn.").or(1);

const PSCI_CPUS: Or<Number<usize>> = Number::new(
    "cpus",
    1..=explore::MOST_CPUS,
    "CPUs of the machine, in clusters of two.",
)
.or(6);

const RCU_CPUS: Or<Number<usize>> =
    Number::new("cpus", 2..=explore::MOST_CPUS, "CPUs of the machine.").or(4);

const STRATEGY: CheckedSetting<Strategy> = CheckedSetting::new(
    "strategy",
    "STRATEGY",
    strategy,
    "How to choose: random, pct:N, passing-over or few:N [default: random, pct:3 and passing-over in turn].",
);

const fn fault(find: fn(&str) -> Result<&'static Fault, String>) -> CheckedSetting<&'static Fault> {
    CheckedSetting::new(
        "fault",
        "NAME",
        find,
        "Give the library a fault: `stopwatt explore faults` lists them.",
    )
}

const PSCI_FAULT: CheckedSetting<&'static Fault> =
    fault(|name| find_fault(psci_faults::FAULTS, name));

const RCU_FAULT: CheckedSetting<&'static Fault> =
    fault(|name| find_fault(rcu_faults::FAULTS, name));

static PSCI: About = about(
    "explore-psci",
    "Schedules of the PSCI library from a seed, until one breaks an invariant",
    &[&SCHEDULES, &SEED, &PSCI_CPUS, &STRATEGY, &PSCI_FAULT],
);

static RCU: About = about(
    "explore-rcu",
    "Schedules of the RCU library from a seed, until one breaks an invariant",
    &[&SCHEDULES, &SEED, &RCU_CPUS, &STRATEGY, &RCU_FAULT],
);

const fn about(
    name: &'static str,
    summary: &'static str,
    settings: &'static [&'static dyn Setting],
) -> About {
    About {
        name,
        summary,
        details: DETAILS,
        worlds: WORLDS,
        settings,
        examples: EXAMPLES,
        ..About::BARE
    }
}

/// The fault of a name.
///
/// # Errors
/// There is none; the nearest one, and how to list them.
pub fn find_fault(faults: &'static [Fault], name: &str) -> Result<&'static Fault, String> {
    seeded::find(faults, name).ok_or_else(|| {
        let near = nearest(name, faults.iter().map(|fault| fault.name));
        let near = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        format!("there is no fault `{name}`{near}; `stopwatt explore faults` lists them")
    })
}

/// One that ends by itself: every run of a script has no end that a seed could share out.
fn strategy(text: &str) -> Result<Strategy, String> {
    match text.parse() {
        Ok(Strategy::Dpor) | Err(_) => Err("random, pct:N, passing-over or few:N".to_owned()),
        Ok(strategy) => Ok(strategy),
    }
}

impl Experiment for ExplorePsci {
    fn about(&self) -> &'static About {
        &PSCI
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let (cpus, fault) = (
            request.settings.get(PSCI_CPUS),
            request.settings.get(PSCI_FAULT),
        );
        let subject = Psci {
            cpus,
            machines: MachineOptions::all(),
            fault,
        };
        run(&subject, Limits::default(), request, sink)
    }
}

impl Experiment for ExploreRcu {
    fn about(&self) -> &'static About {
        &RCU
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let (cpus, fault) = (
            request.settings.get(RCU_CPUS),
            request.settings.get(RCU_FAULT),
        );
        let subject = Rcu {
            cpus,
            modes: Mode::ALL.to_vec(),
            fault,
        };
        run(&subject, Rcu::LIMITS, request, sink)
    }
}

fn run<S: Recordable>(
    subject: &S,
    limits: Limits,
    request: &Request<'_>,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    forget_hooks();
    let settings = &request.settings;
    let (schedules, seed) = (settings.get(SCHEDULES), settings.get(SEED));
    let strategies = settings
        .get(STRATEGY)
        .map_or_else(Strategy::in_turn, |strategy| vec![strategy]);
    let exploration = Exploration {
        strategies,
        seed,
        limits,
        script: None,
        schedules,
    };
    let progress = sink.progress();
    progress.expect(schedules, "schedules");
    let mut told = 0;
    let tally = subject.explore(&exploration, |tally| {
        (told..tally.schedules).for_each(|_| progress.step());
        told = tally.schedules;
        progress.check().is_ok()
    });
    progress.check()?;
    let mut recording = match &tally.found {
        None => nothing_found::<S>(subject, &tally, seed),
        Some(found) => {
            let shrunk = subject.simplest(found, limits);
            let (_, account) = subject.account(&shrunk, limits);
            record(subject, &shrunk, &account, limits, seed)
        }
    };
    recording.header.iterations = 1;
    if tally.found.is_some() {
        add_coverage::<S>(&mut recording, &tally);
        count(&mut recording, subject, &tally);
    }
    sink.start(recording.header.clone())?;
    sink.append(&recording)
}

/// A recording of runs that broke nothing: how many there were, and what they have reached.
pub fn nothing_found<S: Recordable>(subject: &S, tally: &TallyOf<S>, seed: u64) -> Recording {
    let mut header = Header::new(&experiment::<S>(), World::Explore.name(), "us");
    header.seed = seed;
    header.iterations = 1;
    note_hooks(&mut header);
    let mut recording = Recording::new(header);
    add_coverage::<S>(&mut recording, tally);
    count(&mut recording, subject, tally);
    recording
}

/// Notes how much was tried, in a case of its own: the other is named after the invariant that
/// broke.
fn count<S: Recordable>(recording: &mut Recording, subject: &S, tally: &TallyOf<S>) {
    let variant = subject.fault().map_or(S::NAME, |fault| fault.name);
    let series = recording.series(variant, TRIED, "");
    for (metric, value) in [
        (&metrics::SCHEDULES, tally.schedules),
        (&metrics::OPERATIONS_TRIED, tally.steps),
    ] {
        recording.measure(series, 0, metric.name, metric.unit, value as f64);
    }
}
