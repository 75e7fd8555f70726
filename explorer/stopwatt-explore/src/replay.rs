//! `stopwatt explore replay`.

use crate::printout::Printout;
use clap::Args;
use console::Console;
use document::Document;
use explorations::{Recordable, Schedule, subject_of};
use explore::{Account, CounterexampleIn, Psci, Rcu, Subject};
use miette::{Context, IntoDiagnostic, miette};
use published::Published;
use recording::{
    Reader,
    facts::{Exploration, LastOperation},
};
use report::Report;
use serde_json::json;
use std::path::PathBuf;
use stopwatt::{output::Format, report_command};

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
    /// Also write a report, such as found.html; the ending says which (see `stopwatt report`).
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

pub fn replay(console: &Console, options: &ReplayOptions) -> miette::Result<Printout> {
    let folder = options.recording.display().to_string();
    let cannot = || format!("cannot replay {folder}");
    report_command::report_of(options.report.as_ref())?;
    let reader = Reader::open(&options.recording)
        .into_diagnostic()
        .wrap_err_with(cannot)?;
    let header = reader.header();
    let facts: Exploration = header.facts().map_err(|_| {
        miette!(
            help =
                "stopwatt explore psci and stopwatt explore rcu leave one when they find something",
            "{folder} is a recording of {}, and holds no schedule",
            header.experiment
        )
    })?;
    let text = &Document::new("the schedule", facts.schedule.as_str());
    let refused = |error: String| miette!("{}: {error}", cannot());
    match subject_of(text).map_err(refused)?.as_str() {
        Rcu::NAME => replay_of::<Rcu>(console, options, text, header.seed),
        Psci::NAME => replay_of::<Psci>(console, options, text, header.seed),
        subject => Err(refused(format!(
            "the schedule is for `{subject}`, and there are `psci` and `rcu`"
        ))),
    }
}

fn replay_of<S: Recordable>(
    console: &Console,
    options: &ReplayOptions,
    text: &Document,
    seed: u64,
) -> miette::Result<Printout> {
    let folder = options.recording.display().to_string();
    let (subject, found, limits) = Schedule::<S>::open(text, options.anyway)
        .map_err(|error| miette!("cannot replay {folder}: {error}"))?;
    let (ran, account) = subject.account(&found, limits);
    let same = ran.hash == found.hash;
    let answer = ran.failure.is_none().into();
    let recording = ran
        .failure
        .as_ref()
        .map(|_| explorations::record(&subject, &found, &account, limits, seed));
    if let Some(recording) = &recording {
        report_command::write_beside(
            console,
            recording,
            &options.recording,
            options.report.as_ref(),
        )?;
    }
    if options.format == Format::Json {
        let value = json!({
            "same": same, "steps": ran.steps, "hash": format!("{:016x}", ran.hash),
            "invariant": ran.failure.as_ref().map(|failure| failure.invariant.name()),
            "what": ran.failure.as_ref().map(|failure| &failure.what),
        });
        return Ok(Printout::json(answer, value));
    }
    let mut text = if options.all {
        operations(&subject, &found, &account)
    } else {
        String::new()
    };
    if let Some(recording) = &recording {
        text += &Report::new(recording, &folder, &Published::default())
            .run_text(console.style, options.all);
    }
    text += &match (&ran.failure, same) {
        (Some(_), true) => format!("The same {} operations.\n", ran.steps),
        (Some(failure), false) => {
            format!(
                "The run did something else than when it was found, and broke {}.\n",
                failure.invariant.name()
            )
        }
        (None, _) => format!("{} operations, and nothing breaks any more.\n", ran.steps),
    };
    Ok(Printout::text(answer, text))
}

/// The operations of a run, a line each, without those that led to nothing.
fn operations<S: Recordable>(
    subject: &S,
    found: &CounterexampleIn<S>,
    account: &Account,
) -> String {
    let told = explorations::operations(subject, found, account, explorations::READABLE);
    let line = |of: &LastOperation| format!("{:<21} {:>7}  {}\n", of.who, of.operation, of.does);
    let mut text: String = told.iter().map(line).collect();
    if told.len() < account.steps.len() {
        let left_out = account.steps.len() - told.len();
        text += &format!("{left_out} operations that led to nothing of this are left out.\n");
    }
    text
}
