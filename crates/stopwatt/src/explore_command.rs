//! `stopwatt explore`.

use crate::answer::Answer;
use crate::data::Data;
use crate::output::{self, Format};
use crate::{progress, recordings};
use clap::{Args, Subcommand, ValueEnum};
use experiment::{Progress, nearest};
use explore::litmus::{self, Caches, Verdict};
use explore::{Exploration, Found, Limits, MachineOptions, Scenario, Strategy, Subject, Tally};
use explore_experiments::{EXPERIMENT, SCHEDULE, Schedule};
use miette::{IntoDiagnostic, WrapErr, miette};
use psci_faults::Fault;
use recording::Reader;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What can be explored.
#[derive(Subcommand)]
pub enum Explore {
    /// Run the PSCI library under many interleavings, memory orders and refusals, until one breaks an invariant.
    Psci(PsciOptions),
    /// Run what was found again, and say what it does.
    Replay(ReplayOptions),
    /// Try the explorer's memory on litmus programs, beside Arm's memory model.
    Litmus(LitmusOptions),
    /// List the faults that the library can be given, to see that they are found.
    Faults(FaultsOptions),
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
    /// How long to look, such as 60s or 5m [default: 10s, without --schedules].
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// How many schedules to try.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    schedules: Option<u64>,
    /// How to choose: random, pct:N (N changes of priority) or passing-over; may be given again [default: these in turn]. dfs:N, alone:
    /// every run with at most N preemptions, one scenario after the other.
    #[arg(long, value_name = "STRATEGY")]
    strategy: Vec<Strategy>,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// File that says what the CPUs do.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Give the library a fault: `stopwatt explore faults` lists them.
    #[arg(long, value_name = "NAME", value_parser = fault)]
    fault: Option<&'static Fault>,
    /// The kind of machine; may be given again [default: all in turn].
    #[arg(long, value_name = "KIND")]
    machine: Vec<MachineKind>,
    /// Operations that a run may make before it counts as one that never ends.
    #[arg(long, default_value_t = Limits::default().steps, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(*Limits::STEPS.start())..=i64::from(*Limits::STEPS.end())))]
    steps: u32,
    /// Folder for what is found [default: recordings/explore-psci, with the fault's name].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace a recording of another run.
    #[arg(long)]
    replace: bool,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
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

/// Options of `explore replay`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt explore replay recordings/explore-psci
  stopwatt explore replay recordings/f --all")]
pub struct ReplayOptions {
    /// The recording of what was found.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// Print every operation, not only the deviations.
    #[arg(long)]
    all: bool,
    /// Run it though the library has changed since.
    #[arg(long)]
    anyway: bool,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Options of `explore litmus`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt explore litmus
  stopwatt explore litmus --schedules 10000000")]
pub struct LitmusOptions {
    /// Schedules that are drawn of each program, beside all that there are.
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    schedules: u64,
    /// Seed of what is drawn.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Options of `explore faults`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt explore faults
  stopwatt explore faults --find")]
pub struct FaultsOptions {
    /// Look for each of them with three seeds, at most ten seconds each, and say what it took.
    #[arg(long)]
    find: bool,
    /// The first of the three seeds.
    #[arg(long, default_value_t = 1, value_name = "N", requires = "find")]
    seed: u64,
    /// How to print the list.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// How long the library may run without an operation.
const PATIENCE: Duration = Duration::from_secs(20);

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = humantime::parse_duration(text).ok().filter(|duration| !duration.is_zero());
    parsed.ok_or_else(|| format!("`{text}` is no time; 60s or 5m would be right"))
}

fn fault(name: &str) -> Result<&'static Fault, String> {
    psci_faults::find(name).ok_or_else(|| {
        let near = nearest(name, psci_faults::FAULTS.iter().map(|fault| fault.name));
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        format!("there is no fault `{name}`{near} stopwatt explore faults lists them")
    })
}

/// Explores; the answer is no if something was found.
pub fn run(data: &Data, what: &Explore) -> miette::Result<Answer> {
    match what {
        Explore::Psci(options) => psci(data, options),
        Explore::Replay(options) => replay(data, options),
        Explore::Litmus(options) => try_litmus(options),
        Explore::Faults(options) if options.find => find_faults(options),
        Explore::Faults(options) => list_faults(options).map(|()| Answer::Yes),
    }
}

fn psci(data: &Data, options: &PsciOptions) -> miette::Result<Answer> {
    let scenario = options.scenario.as_deref().map(read_scenario).transpose()?;
    let cpus = match (&scenario, options.cpus) {
        (Some(scenario), Some(cpus)) if scenario.cpus.len() != usize::from(cpus) => {
            let have = scenario.cpus.len();
            return Err(miette!(
                help = "leave --cpus out, or give the scenario that many",
                "--cpus is {cpus}, and the scenario has {have} CPUs"
            ));
        }
        (Some(scenario), _) => scenario.cpus.len(),
        (None, cpus) => usize::from(cpus.unwrap_or(6)),
    };
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
    let subject = Subject { cpus, machines, fault: options.fault };
    let strategies = match &options.strategy[..] {
        [] => all_strategies(),
        given => given.to_vec(),
    };
    if strategies.len() > 1 && strategies.iter().any(|strategy| matches!(strategy, Strategy::Every(_))) {
        return Err(miette!(
            help = "give it alone",
            "dfs tries every run in turn, so no other strategy can have a turn"
        ));
    }
    let limits = Limits { steps: options.steps };
    let exploration = Exploration {
        strategies,
        seed: options.seed,
        limits,
        scenario,
        schedules: options.schedules.unwrap_or(u64::MAX),
    };
    let time = match (options.time, options.schedules) {
        (Some(time), _) => time,
        (None, Some(_)) => Duration::MAX,
        (None, None) => Duration::from_secs(10),
    };
    let folder = options.output.clone().unwrap_or_else(|| match options.fault {
        Some(fault) => Path::new("recordings").join(format!("{EXPERIMENT}-{}", fault.name)),
        None => Path::new("recordings").join(EXPERIMENT),
    });
    recordings::check_target(&folder, EXPERIMENT, "explore", &recordings::Request::new(), options.replace)?;

    let cpus = subject.cpus;
    let watchdog = explore::watch(PATIENCE, move |process, operation| {
        let who = explore::narrate::process(cpus, process);
        crate::errors::note(&format!(
            "Error: {who} has made no operation since its operation {operation}, {PATIENCE:?} ago: the library loops"
        ));
        std::process::exit(2);
    });
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    progress.say("exploring");
    let shown = progress::show(progress.clone());
    let tally = subject.explore(&exploration, |tally| {
        progress.say(&format!("{} schedules", tally.schedules));
        start.elapsed() < time && progress.check().is_ok()
    });
    let took = start.elapsed().as_secs_f64();
    let Some(found) = tally.found.as_ref() else {
        drop(shown);
        print_rates(options.format, &tally, took, None)?;
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
    let shrunk = subject.shrink(found, limits);
    let (_, steps) = subject.replay(&shrunk, limits);
    drop(watchdog);
    drop(shown);
    let mut recording = explore_experiments::record(&subject, &shrunk, &steps, limits, options.seed);
    recording.header.run = provenance::this_run();
    recording.write(&folder).into_diagnostic()?;
    match options.format {
        Format::Json => print_rates(options.format, &tally, took, Some((&shrunk, &folder)))?,
        Format::Term => {
            let shown = folder.display().to_string();
            let text = report::run_text(&recording, &shown, &data.published()?, output::style());
            output::print_text(&text)?;
            print_rates(options.format, &tally, took, Some((&shrunk, &folder)))?;
        }
    }
    Ok(Answer::No)
}

fn all_strategies() -> Vec<Strategy> {
    vec![Strategy::Random, Strategy::Pct(3), Strategy::PassingOver]
}

fn read_scenario(path: &Path) -> miette::Result<Scenario> {
    let text =
        disk::text(path).into_diagnostic().wrap_err_with(|| format!("cannot read the scenario {}", path.display()))?;
    Scenario::parse(&text)
        .map_err(|error| miette!(help = "stopwatt explore psci --help shows one", "{}: {error}", path.display()))
}

fn print_rates(format: Format, tally: &Tally, took: f64, found: Option<(&Found, &Path)>) -> miette::Result<()> {
    let (schedules, steps) = (tally.schedules as f64, tally.steps as f64);
    if format == Format::Json {
        let found = found.map(|(found, folder)| {
            json!({
                "invariant": found.failure.invariant.name(), "what": found.failure.what, "run": found.run,
                "deviations": found.schedule.len(), "recording": folder.display().to_string(),
            })
        });
        return output::print_json(&json!({
            "schedules": tally.schedules, "steps": tally.steps, "seconds": took, "complete": tally.complete, "found": found,
        }));
    }
    let nothing = match (found, tally.complete) {
        (Some(_), _) => "",
        (None, true) => "Complete: nothing breaks in any run with so many preemptions. ",
        (None, false) => "Nothing was found. ",
    };
    let text = format!(
        "{nothing}{} schedules of {:.0} operations in {took:.1} s: {:.0} schedules/s, {:.1} M operations/s\n",
        tally.schedules,
        steps / schedules.max(1.0),
        schedules / took,
        steps / took / 1e6,
    );
    output::print_text(&text)
}

fn replay(data: &Data, options: &ReplayOptions) -> miette::Result<Answer> {
    let folder = options.recording.display().to_string();
    let cannot = || format!("cannot replay {folder}");
    let reader = Reader::open(&options.recording).into_diagnostic().wrap_err_with(cannot)?;
    let header = reader.header();
    let text = header.texts.get(SCHEDULE).ok_or_else(|| {
        miette!(
            help = "stopwatt explore psci leaves one when it finds something",
            "{folder} is a recording of {}, and holds no schedule",
            header.experiment
        )
    })?;
    let schedule = Schedule::parse(text).into_diagnostic().wrap_err_with(cannot)?;
    let (subject, found, limits) = schedule.open(options.anyway).map_err(|error| match error {
        explore_experiments::ScheduleError::Sources { .. } => {
            miette!(help = "find it again with this program, or add --anyway", "{}: {error}", cannot())
        }
        error => miette!("{}: {error}", cannot()),
    })?;
    let (ran, steps) = subject.replay(&found, limits);
    let same = ran.hash == found.hash;
    match options.format {
        Format::Json => output::print_json(&json!({
            "same": same, "steps": ran.steps, "hash": format!("{:016x}", ran.hash),
            "invariant": ran.failure.as_ref().map(|failure| failure.invariant.name()),
            "what": ran.failure.as_ref().map(|failure| &failure.what),
        }))?,
        Format::Term => {
            if options.all {
                let narrator = explore::narrate::Narrator::of_library(&found.scenario, found.machine);
                let lines = steps.iter().map(|step| {
                    let who = explore::narrate::process(subject.cpus, step.process);
                    format!("{who:<21} {:>5}  {}\n", step.operation, narrator.step(step))
                });
                output::print_text(&lines.collect::<String>())?;
            }
            let again = found.clone();
            let recording = explore_experiments::record(&subject, &again, &steps, limits, header.seed);
            if ran.failure.is_some() {
                output::print_text(&report::run_text(&recording, &folder, &data.published()?, output::style()))?;
            }
            let end = match (&ran.failure, same) {
                (Some(_), true) => format!("The same {} operations.\n", ran.steps),
                (Some(failure), false) => format!(
                    "The run did something else than when it was found, and broke {}.\n",
                    failure.invariant.name()
                ),
                (None, _) => format!("{} operations, and nothing breaks any more.\n", ran.steps),
            };
            output::print_text(&end)?;
        }
    }
    Ok(if ran.failure.is_some() { Answer::No } else { Answer::Yes })
}

/// Schedules of a litmus program that are tried one by one; none of those shipped has more.
const EVERY: u64 = 100_000_000;

/// What of a memory a table of litmus programs tries.
type Memories = &'static [(&'static str, Caches)];

fn try_litmus(options: &LitmusOptions) -> miette::Result<Answer> {
    let order: Memories = &[("caches_on", Caches::On), ("caches_off", Caches::Off)];
    let mixed: Memories = &[("mixed", Caches::On)];
    let tables = [
        ("caches on: seen, schedules, drawn    caches off: the same", order, litmus::shipped()),
        ("some caches on, some off: seen, schedules, drawn", mixed, litmus::of_maintenance()),
    ];
    let mut rows = Vec::new();
    let mut right = true;
    for (heading, memories, programs) in tables {
        if options.format == Format::Term {
            output::print_text(&format!("{:<23} {:<10} {heading}\n", "program", "expected"))?;
        }
        for program in programs {
            let expected = if program.verdict == Verdict::Allowed { "allowed" } else { "forbidden" };
            let mut row = json!({ "name": program.name, "expected": expected });
            let mut text = format!("{:<23} {expected:<10}", program.name);
            for &(name, caches) in memories {
                let every = litmus::enumerate(&program, caches, EVERY);
                let drawn = litmus::draw(&program, caches, options.seed, options.schedules);
                let seen = every.outcomes + drawn.outcomes > 0;
                right &= seen == (program.verdict == Verdict::Allowed) && every.complete;
                row[name] = json!({
                    "seen": seen, "schedules": every.runs, "complete": every.complete,
                    "drawn": drawn.runs, "drawn_with_outcome": drawn.outcomes,
                });
                let word = if seen { "seen" } else { "never" };
                let complete = if every.complete { "all" } else { "first" };
                text.push_str(&format!(
                    " {word:<6} {complete} {:<7} {:>7} of {}",
                    every.runs, drawn.outcomes, drawn.runs
                ));
            }
            if options.format == Format::Term {
                output::print_text(&format!("{text}\n"))?;
            }
            rows.push(row);
        }
    }
    match options.format {
        Format::Json => output::print_json(&json!({ "programs": rows, "agrees": right }))?,
        Format::Term => {
            let end =
                if right { "All agree with the architecture." } else { "Some do not agree with the architecture." };
            output::print_text(&format!("{end}\n"))?;
        }
    }
    Ok(if right { Answer::Yes } else { Answer::No })
}

/// How long a fault is looked for with one seed.
const LOOKED_FOR: Duration = Duration::from_secs(10);

fn find_faults(options: &FaultsOptions) -> miette::Result<Answer> {
    let limits = Limits::default();
    let mut rows = Vec::new();
    let mut all = true;
    for fault in psci_faults::FAULTS {
        let subject = Subject { cpus: 6, machines: MachineOptions::all(), fault: Some(fault) };
        let mut tries = Vec::new();
        let mut text = format!("{:<19}", fault.name);
        for seed in options.seed..options.seed + 3 {
            let strategies = all_strategies();
            let exploration = Exploration { strategies, seed, limits, scenario: None, schedules: u64::MAX };
            let start = Instant::now();
            let tally = subject.explore(&exploration, |_| start.elapsed() < LOOKED_FOR);
            let took = start.elapsed().as_secs_f64();
            let Some(found) = tally.found else {
                all = false;
                text.push_str(&format!("  not in {took:.1} s, {} schedules", tally.schedules));
                tries.push(json!({ "seed": seed, "schedules": tally.schedules, "seconds": took, "found": false }));
                continue;
            };
            let start = Instant::now();
            let shrunk = subject.shrink(&found, limits);
            let shrinking = start.elapsed().as_secs_f64();
            let (again, _) = subject.replay(&shrunk, limits);
            let same = again.hash == shrunk.hash;
            all &= same;
            let length = shrunk.schedule.len();
            text.push_str(&format!("  {took:>5.2} s {:>6} {length:>3} {shrinking:>5.2} s", tally.schedules));
            tries.push(json!({
                "seed": seed, "schedules": tally.schedules, "seconds": took, "found": true, "replayed": same,
                "invariant": shrunk.failure.invariant.name(), "deviations": length, "seconds_to_shrink": shrinking,
            }));
        }
        match options.format {
            Format::Term if rows.is_empty() => output::print_text(&format!("{FOUND_HEADING}\n{text}\n"))?,
            Format::Term => output::print_text(&format!("{text}\n"))?,
            Format::Json => {}
        }
        rows.push(json!({ "name": fault.name, "commit": fault.commit, "tries": tries }));
    }
    if options.format == Format::Json {
        output::print_json(&json!({ "faults": rows, "all": all }))?;
    }
    Ok(if all { Answer::Yes } else { Answer::No })
}

const FOUND_HEADING: &str = "\
fault                three seeds: found after, schedules, deviations once shrunk, shrunk in";

fn list_faults(options: &FaultsOptions) -> miette::Result<()> {
    if options.format == Format::Json {
        let faults: Vec<_> = psci_faults::FAULTS
            .iter()
            .map(|fault| json!({ "name": fault.name, "commit": fault.commit, "what": fault.what }))
            .collect();
        return output::print_json(&json!(faults));
    }
    let text: String = psci_faults::FAULTS
        .iter()
        .map(|fault| format!("{:<19} {} ({})\n", fault.name, fault.what, fault.commit))
        .collect();
    output::print_text(&text)
}
