//! `stopwatt explore psci` and `stopwatt explore rcu`: many runs, until one breaks something.

use crate::answer::Answer;
use crate::output::{self, Format};
use crate::recordings;
use clap::{Args, ValueEnum};
use console::Console;
use document::{Document, nearest};
use experiment::Progress;
use explorations::{Recorded, experiment};
use explore::{
    CounterexampleIn, Exploration, KernelScenario, Limits, MachineOptions, Mode, Psci, Rcu, Scenario, Script, Strategy,
    TallyOf,
};
use miette::{IntoDiagnostic, miette};
use published::Published;
use report::Report;
use seeded::Fault;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The options that both commands take.
#[derive(Args)]
pub struct SearchOptions {
    /// The time to look for, such as 60s or 5m [default: 10s, without --schedules].
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// The number of schedules to try.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    schedules: Option<u64>,
    /// The way to choose: random, pct:N (N changes of priority), passing-over or few:N (about N
    /// deviations); may be given again [default: random, pct:3 and passing-over in turn]. dfs:N,
    /// alone: every run with at most N preemptions, one scenario after the other.
    #[arg(long, value_name = "STRATEGY")]
    strategy: Vec<Strategy>,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// File that says what the CPUs do.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Folder for what is found [default: recordings/explore-LIBRARY, with the fault's name].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace a recording of another run.
    #[arg(long)]
    replace: bool,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Options of `explore psci`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt explore psci --cpus 6 --for 60s
  stopwatt explore psci --fault rejected-cpu-on -o recordings/f
  stopwatt explore psci --strategy pct:3 --seed 7 --schedules 1000000
  stopwatt explore psci --strategy dfs:2 --scenario on-off.toml --for 5m

A scenario is a TOML file; without one, each run draws its own:
  os_initiated = false                                  # whether the OS coordinates
  off = [2]                                             # CPUs that are off at the start
  cpus = [[{ on = 2 }, { affinity = 2 }],               # the calls of CPU 0, of CPU 1, ...
          [{ suspend = { states = [2, 2, 0] } }, \"off\"],
          []]
States are those of the CPU, its cluster and the system: 0 runs, 1 keeps its contents, 2 loses them (the system: 1).

Exit status: 0 when nothing was found, 1 when something was, 2 when it cannot be done.")]
pub struct PsciOptions {
    /// CPUs of the machine, in clusters of two [default: 6, or those of the scenario].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=explore::MOST_CPUS as i64))]
    cpus: Option<u8>,
    /// Give the library a fault: `stopwatt explore faults` lists them.
    #[arg(long, value_name = "NAME", value_parser = psci_fault)]
    fault: Option<&'static Fault>,
    /// The kind of machine; may be given again [default: all in turn].
    #[arg(long, value_name = "KIND")]
    machine: Vec<MachineKind>,
    /// Operations that a run may make before it counts as one that never ends.
    #[arg(long, default_value_t = Limits::default().steps, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(*Limits::STEPS.start())..=i64::from(*Limits::STEPS.end())))]
    steps: u32,
    #[command(flatten)]
    search: SearchOptions,
}

/// Kinds of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MachineKind {
    /// CPUs leave coherency when they power down; bakeries.
    Leaves,
    /// CPUs stay coherent; bakeries.
    Coherent,
    /// CPUs stay coherent; ticket locks.
    CoherentTicket,
}

/// Options of `explore rcu`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt explore rcu --for 60s
  stopwatt explore rcu --mode lazy --fault timer-not-set-again -o recordings/t
  stopwatt explore rcu --scenario two.toml --mode reference --schedules 100000

A scenario is a TOML file; without one, each run draws its own:
  leaf_fanout = 2                                   # CPUs of a leaf of RCU's tree
  preemptible = true
  cpus = [[{ read = 0 }, \"jiffy\", \"leave\"],      # the actions of CPU 0, of CPU 1, ...
          [{ replace = { pointer = 0 } }, { thread = { which = 0, steps = 8 } }, \"jiffy\", { idle = { jiffies = 2 } }]]
Actions: read, leave, replace, switch, thread, idle, off, jiffy; docs/explore.md says what each does.

Exit status: 0 when nothing was found, 1 when something was, 2 when it cannot be done.")]
pub struct RcuOptions {
    /// CPUs of the machine [default: 4, or those of the scenario].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=explore::MOST_CPUS as i64))]
    cpus: Option<u8>,
    /// Give the library a fault: `stopwatt explore faults` lists them.
    #[arg(long, value_name = "NAME", value_parser = rcu_fault)]
    fault: Option<&'static Fault>,
    /// The way in which RCU is configured; may be given again [default: all in turn].
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Vec<Mode>,
    /// Operations that a run may make before it counts as one that never ends.
    #[arg(long, default_value_t = Rcu::LIMITS.steps, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(*Limits::STEPS.start())..=i64::from(*Limits::STEPS.end())))]
    steps: u32,
    #[command(flatten)]
    search: SearchOptions,
}

/// The time that the library may run without an operation.
const PATIENCE: Duration = Duration::from_secs(20);

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = humantime::parse_duration(text).ok().filter(|duration| !duration.is_zero());
    parsed.ok_or_else(|| format!("`{text}` is no time; 60s or 5m would be right"))
}

fn psci_fault(name: &str) -> Result<&'static Fault, String> {
    fault(psci_faults::FAULTS, name)
}

fn rcu_fault(name: &str) -> Result<&'static Fault, String> {
    fault(rcu_faults::FAULTS, name)
}

fn fault(faults: &'static [Fault], name: &str) -> Result<&'static Fault, String> {
    seeded::find(faults, name).ok_or_else(|| {
        let near = nearest(name, faults.iter().map(|fault| fault.name));
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        format!("there is no fault `{name}`{near} stopwatt explore faults lists them")
    })
}

fn mode(name: &str) -> Result<Mode, String> {
    Mode::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Mode::ALL.iter().map(|mode| mode.name()).collect();
        format!("there is no mode `{name}`; {} are right", names.join(", "))
    })
}

pub(super) fn psci(console: &Console, options: &PsciOptions) -> miette::Result<Answer> {
    let scenario = scenario(&options.search, Scenario::read)?;
    let cpus = cpus(options.cpus, scenario.as_ref(), 6)?;
    let own = MachineOptions::default();
    let machines: Vec<MachineOptions> = options
        .machine
        .iter()
        .map(|kind| match kind {
            MachineKind::Leaves => own,
            MachineKind::Coherent => MachineOptions { coherent: true, ..own },
            MachineKind::CoherentTicket => MachineOptions { coherent: true, ticket: true, ..own },
        })
        .collect();
    let machines = if machines.is_empty() { MachineOptions::all() } else { machines };
    let subject = Psci { cpus, machines, fault: options.fault };
    search(console, &subject, scenario, Limits { steps: options.steps }, &options.search)
}

pub(super) fn rcu(console: &Console, options: &RcuOptions) -> miette::Result<Answer> {
    let scenario = scenario(&options.search, KernelScenario::read)?;
    let cpus = cpus(options.cpus, scenario.as_ref(), 4)?;
    let modes = if options.mode.is_empty() { Mode::ALL.to_vec() } else { options.mode.clone() };
    let subject = Rcu { cpus, modes, fault: options.fault };
    search(console, &subject, scenario, Limits { steps: options.steps }, &options.search)
}

/// The scenario of the CPUs, if a file gives one.
fn scenario<C>(
    options: &SearchOptions,
    read: fn(&Document) -> Result<C, document::Error>,
) -> Result<Option<C>, document::Error> {
    let document = options.scenario.as_deref().map(Document::open).transpose()?;
    document.map(|document| read(&document)).transpose()
}

fn cpus(asked: Option<u8>, scenario: Option<&impl Script>, otherwise: usize) -> miette::Result<usize> {
    match (scenario.map(Script::cpus), asked) {
        (Some(have), Some(cpus)) if have != usize::from(cpus) => Err(miette!(
            help = "leave --cpus out, or give the scenario that many",
            "--cpus is {cpus}, and the scenario has {have} CPUs"
        )),
        (Some(have), _) => Ok(have),
        (None, cpus) => Ok(cpus.map_or(otherwise, usize::from)),
    }
}

fn search<S: Recorded>(
    console: &Console,
    subject: &S,
    scenario: Option<S::Actions>,
    limits: Limits,
    options: &SearchOptions,
) -> miette::Result<Answer> {
    let strategies = match &options.strategy[..] {
        [] => Strategy::in_turn(),
        given => given.to_vec(),
    };
    if strategies.len() > 1 && strategies.iter().any(|strategy| matches!(strategy, Strategy::Every(_))) {
        return Err(miette!(
            help = "give it alone",
            "dfs tries every run in turn, so no other strategy can have a turn"
        ));
    }
    let exploration = Exploration {
        strategies,
        seed: options.seed,
        limits,
        script: scenario,
        schedules: options.schedules.unwrap_or(u64::MAX),
    };
    let time = match (options.time, options.schedules) {
        (Some(time), _) => time,
        (None, Some(_)) => Duration::MAX,
        (None, None) => Duration::from_secs(10),
    };
    let name = experiment::<S>();
    let folder = options.output.clone().unwrap_or_else(|| match subject.fault() {
        Some(fault) => Path::new("recordings").join(format!("{name}-{}", fault.name)),
        None => Path::new("recordings").join(&name),
    });
    recordings::check_target(&folder, &name, "explore", &recordings::Request::new(), options.replace)?;

    let cpus = subject.cpus();
    let notes = console.clone();
    let watchdog = explore::watch(PATIENCE, move |process, operation| {
        let who = explore::narrate::process(cpus, S::LAST, process);
        notes.note(&format!(
            "Error: {who} has made no operation since its operation {operation}, {PATIENCE:?} ago: the library loops"
        ));
        std::process::exit(2);
    });
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    progress.say("exploring");
    let shown = console.show(progress.clone());
    let tally = subject.explore(&exploration, |tally| {
        progress.say(&format!("{} schedules", tally.schedules));
        start.elapsed() < time && progress.check().is_ok()
    });
    let took = start.elapsed().as_secs_f64();
    let Some(found) = tally.found.as_ref() else {
        drop(shown);
        let mut recording = explorations::nothing_found::<S>(subject, &tally, options.seed);
        recording.header.run = provenance::this_run();
        if options.output.is_some() {
            recording.write(&folder).into_diagnostic()?;
        }
        if options.format == Format::Term {
            let shown = folder.display().to_string();
            let published = Published::default();
            let told = Report::new(&recording, &shown, &published);
            output::print_text(
                console,
                &match options.output {
                    Some(_) => told.run_text(console.style(), true),
                    None => told.story_text(console.style(), true),
                },
            )?;
        }
        print_rates::<S>(console, options.format, &tally, took, None)?;
        return Ok(Answer::Yes);
    };
    progress.say("found, and now shrunk");
    let (again, _) = subject.replay(found, limits);
    if again.hash != found.hash {
        return Err(miette!(
            help = "the code under test draws on something that the explorer does not choose: a clock, an address, the order of a hash map",
            "run {} broke an invariant, and the same choices did something else the second time",
            found.run
        ));
    }
    let shrunk = match exploration.script {
        Some(_) => subject.shrink(found, limits),
        None => subject.simplest(found, limits),
    };
    let (_, steps) = subject.replay(&shrunk, limits);
    drop(watchdog);
    drop(shown);
    let mut recording = explorations::record(subject, &shrunk, &steps, limits, options.seed);
    explorations::add_coverage::<S>(&mut recording, &tally);
    recording.header.run = provenance::this_run();
    recording.write(&folder).into_diagnostic()?;
    match options.format {
        Format::Json => print_rates::<S>(console, options.format, &tally, took, Some((&shrunk, &folder)))?,
        Format::Term => {
            let shown = folder.display().to_string();
            let published = Published::default();
            let told = Report::new(&recording, &shown, &published);
            output::print_text(console, &told.run_text(console.style(), true))?;
            print_rates::<S>(console, options.format, &tally, took, Some((&shrunk, &folder)))?;
        }
    }
    Ok(Answer::No)
}

fn print_rates<S: Recorded>(
    console: &Console,
    format: Format,
    tally: &TallyOf<S>,
    took: f64,
    found: Option<(&CounterexampleIn<S>, &Path)>,
) -> miette::Result<()> {
    let (schedules, steps) = (tally.schedules as f64, tally.steps as f64);
    if format == Format::Json {
        let found = found.map(|(found, folder)| {
            json!({
                "invariant": found.failure.invariant.name(), "what": found.failure.what, "run": found.run,
                "deviations": found.schedule.len(), "recording": folder.display().to_string(),
            })
        });
        return output::print_json(
            console,
            &json!({
                "schedules": tally.schedules, "steps": tally.steps, "seconds": took, "complete": tally.complete, "found": found,
            }),
        );
    }
    let nothing = match (found, tally.complete) {
        (Some(_), _) => "",
        (None, true) => "Complete: nothing breaks in any run with at most that number of preemptions. ",
        (None, false) => "Nothing was found. ",
    };
    let text = format!(
        "{nothing}{} schedules of {:.0} operations in {took:.1} s: {:.0} schedules/s, {:.1} M operations/s\n",
        tally.schedules,
        steps / schedules.max(1.0),
        schedules / took,
        steps / took / 1e6,
    );
    output::print_text(console, &text)
}
