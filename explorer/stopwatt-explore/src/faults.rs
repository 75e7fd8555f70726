//! `stopwatt explore faults`.

use crate::printout::Printout;
use clap::Args;
use console::{Console, Progress};
use explorations::Recordable;
use explore::{Exploration, Limits, MachineOptions, Mode, Psci, Rcu, Strategy, explore_on};
use miette::IntoDiagnostic;
use seeded::Fault;
use serde::Serialize;
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use stopwatt::{Answer, output::Format};

/// Options of `explore faults`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt explore faults
  stopwatt explore faults --find")]
pub struct FaultsOptions {
    /// Look for each of them with three seeds, at most thirty seconds each, and say what it took.
    #[arg(long)]
    find: bool,
    /// The first of the three seeds.
    #[arg(long, default_value_t = 1, value_name = "N", requires = "find")]
    seed: u64,
    /// The way to print the list.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// The libraries, by the names of their commands.
const LIBRARIES: [(&str, &[Fault], Search); 2] = [
    ("psci", psci_faults::FAULTS, |fault, seed, progress| {
        let subject = Psci {
            cpus: 6,
            machines: MachineOptions::all(),
            fault: Some(fault),
            port: None,
        };
        look_for(&subject, seed, Limits::default(), progress)
    }),
    ("rcu", rcu_faults::FAULTS, |fault, seed, progress| {
        let subject = Rcu {
            cpus: 4,
            modes: Mode::ALL.to_vec(),
            fault: Some(fault),
        };
        look_for(&subject, seed, Rcu::LIMITS, progress)
    }),
];

type Search = fn(&'static Fault, u64, &Progress) -> Try;

pub fn faults(console: &Console, options: &FaultsOptions) -> miette::Result<Printout> {
    if options.find {
        find(console, options)
    } else {
        Ok(list(console, options))
    }
}

fn list(console: &Console, options: &FaultsOptions) -> Printout {
    let all = || {
        LIBRARIES
            .iter()
            .flat_map(|(library, faults, _)| faults.iter().map(move |fault| (library, fault)))
    };
    if options.format == Format::Json {
        return Printout::json(Answer::Yes, all().map(|(library, fault)| json!({ "library": library, "name": fault.name, "commit": fault.commit, "what": fault.what })).collect());
    }
    let rows = all().map(|(library, fault)| {
        [*library, fault.name, fault.what, fault.commit]
            .map(str::to_owned)
            .to_vec()
    });
    let headings = ["library", "fault", "what is wrong", "published"];
    Printout::text(
        Answer::Yes,
        report::table_text(&headings, rows, 4, console.style),
    )
}

/// The time that a fault is looked for with one seed.
const LOOKED_FOR: Duration = Duration::from_secs(30);

/// The result of a search for a fault with one seed.
#[derive(Serialize)]
struct Try {
    seed: u64,
    schedules: u64,
    seconds: f64,
    found: bool,
    #[serde(flatten)]
    short: Option<ShortRun>,
}

/// The finding, shrunk.
#[derive(Serialize)]
struct ShortRun {
    invariant: &'static str,
    deviations: usize,
    seconds_to_shrink: f64,
    /// The shrunk run did the same when it was repeated.
    replayed: bool,
}

fn look_for(subject: &impl Recordable, seed: u64, limits: Limits, progress: &Progress) -> Try {
    let exploration = Exploration {
        strategies: Strategy::in_turn(),
        seed,
        limits,
        script: None,
        schedules: u64::MAX,
    };
    let start = Instant::now();
    let tally = explore_on(subject, &exploration, 1, |_| {
        start.elapsed() < LOOKED_FOR && progress.check().is_ok()
    });
    let seconds = start.elapsed().as_secs_f64();
    let short = tally.found.map(|found| {
        let start = Instant::now();
        let shrunk = subject.simplest(&found, limits);
        let seconds_to_shrink = start.elapsed().as_secs_f64();
        let (again, _) = subject.replay(&shrunk, limits);
        let replayed = again.hash == shrunk.hash;
        ShortRun {
            invariant: shrunk.failure.invariant.name(),
            deviations: shrunk.schedule.len(),
            seconds_to_shrink,
            replayed,
        }
    });
    Try {
        seed,
        schedules: tally.schedules,
        seconds,
        found: short.is_some(),
        short,
    }
}

fn find(console: &Console, options: &FaultsOptions) -> miette::Result<Printout> {
    let mut rows = vec![];
    let mut values = vec![];
    let mut all = true;
    let progress = Arc::new(Progress::default());
    let shown = console.show(progress.clone());
    for (library, faults, search) in LIBRARIES {
        for fault in faults {
            let mut tries = vec![];
            for seed in options.seed..options.seed + 3 {
                progress.check().into_diagnostic()?;
                progress.say(&format!("{}, seed {seed}", fault.name));
                tries.push(search(fault, seed, &progress));
            }
            all &= tries
                .iter()
                .all(|one| one.short.as_ref().is_some_and(|short| short.replayed));
            let mut row = vec![format!("{library}/{}", fault.name)];
            row.extend(tries.iter().flat_map(cells));
            rows.push(row);
            values.push(json!({ "library": library, "name": fault.name, "commit": fault.commit, "tries": tries }));
        }
    }
    drop(shown);
    let answer = all.into();
    if options.format == Format::Json {
        return Ok(Printout::json(
            answer,
            json!({ "faults": values, "all": all }),
        ));
    }
    let mut headings = vec!["fault".to_owned()];
    for seed in options.seed..options.seed + 3 {
        headings.extend(
            ["s", "runs", "left", "s to\nshrink"].map(|column| format!("seed {seed}\n{column}")),
        );
    }
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let table = report::table_text(&headings, rows, 1, console.style);
    let end = if all {
        "All were found, and what is left of each repeats itself."
    } else {
        "Not all were found."
    };
    Ok(Printout::text(
        answer,
        format!("{table}left: deviations from the plainest run, once shrunk\n{end}\n"),
    ))
}

fn cells(one: &Try) -> Vec<String> {
    let (left, shrinking) = match &one.short {
        Some(short) => (
            short.deviations.to_string(),
            format!("{:.2}", short.seconds_to_shrink),
        ),
        None => ("not found".to_owned(), String::new()),
    };
    vec![
        format!("{:.2}", one.seconds),
        one.schedules.to_string(),
        left,
        shrinking,
    ]
}
