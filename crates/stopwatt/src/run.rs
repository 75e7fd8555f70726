//! `stopwatt run`: any experiment, from its own description.

use crate::answer::Answer;
use crate::data::Data;
use crate::recordings::{self, Request as Asked};
use crate::report_command::{self, TellingOptions};
use crate::run_arguments::{self, settings};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use console::Console;
use experiment::{About, Experiment, Observer, Progress, Request, Settings, World};
use itertools::Itertools;
use miette::{IntoDiagnostic, Result, miette};
use published::Published;
use recording::Recording;
use std::path::PathBuf;
use std::sync::Arc;

/// What every run can be told about its output.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputOptions {
    /// Folder of the recording [default: recordings/ and the experiment's name, with the settings
    /// that were given]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub told: TellingOptions,
}

/// The command that runs an experiment; `command` is what is typed for it.
pub fn command(experiment: &dyn Experiment, command: &str) -> Command {
    let about = experiment.about();
    OutputOptions::augment_args(run_arguments::command(about, command)).about(about.summary)
}

/// Runs an experiment, leaves its recording, and prints what is read from it.
pub fn run(
    console: &Console,
    data: &Data,
    experiment: &'static dyn Experiment,
    matches: &ArgMatches,
) -> Result<Answer> {
    let about = experiment.about();
    with(
        console,
        data,
        experiment,
        run_arguments::world(about, matches),
        settings(about, matches)?,
        &OutputOptions::from_arg_matches(matches).into_diagnostic()?,
    )
}

/// The same with settings that stand otherwise on the command line.
pub(crate) fn with(
    console: &Console,
    data: &Data,
    experiment: &'static dyn Experiment,
    world: World,
    settings: Settings,
    options: &OutputOptions,
) -> Result<Answer> {
    let about = experiment.about();
    let asked = asked(about, world, &settings);
    let published = Published::read(&data.published(), about.name)?;
    let tree = data.source_tree();
    let platforms = data.platforms();
    let request = Request {
        world,
        settings,
        platforms: &platforms,
        conditions: published.conditions(),
        source_tree: tree.as_deref(),
        kept: None,
    };
    // What cannot be done or written is found before the run, not after it.
    experiment.check(&request)?;
    let how = options.told.telling()?;
    let folder = options
        .output
        .clone()
        .unwrap_or_else(|| recordings::default_folder(about.name, &asked));
    let replace = options.told.replace;
    recordings::check_target(&folder, about.name, world.name(), &asked, replace)?;

    let mut recording = shown(console, experiment, &request)?;
    recording.header.request = asked;
    let written = recordings::write(&mut recording, &folder);
    // A form of an experiment may have figures, and a story, of its own.
    let published = match recording.header.experiment.as_str() {
        same if same == about.name => published,
        form => Published::read(&data.published(), form)?,
    };
    report_command::tell(
        console,
        &published,
        &recording,
        Some((&folder, written)),
        &how,
    )?;
    match recording.header.complaints.as_slice() {
        [] => Ok(Answer::Yes),
        complaints => Ok(Answer::no(console, &miette!("{}", complaints.join("\n")))),
    }
}

/// The request in full, as a recording keeps it.
fn asked(about: &About, world: World, settings: &Settings) -> Asked {
    let mut asked = Asked::new();
    if world != about.worlds[0].0 {
        asked.insert("world".to_owned(), world.name().to_owned());
    }
    // What is given as it would be anyway asks for nothing else.
    let usual = |name: &str| about.setting(name).and_then(|setting| setting.default());
    for (name, value) in settings
        .given()
        .filter(|(name, value)| usual(name).as_deref() != Some(*value))
    {
        let told = asked.entry(name.to_owned()).or_default();
        *told = if told.is_empty() {
            value.to_owned()
        } else {
            format!("{told},{value}")
        };
    }
    asked
}

/// Runs an experiment that is told `given` and keeps its recording in memory, with what its spans
/// were spent on.
///
/// # Errors
/// As of the command: an unknown setting, a run that failed or was stopped.
pub fn in_memory(
    console: &Console,
    data: &Data,
    experiment: &'static dyn Experiment,
    world: World,
    given: Vec<(String, String)>,
    progress: &Arc<Progress>,
) -> Result<Recording> {
    let about = experiment.about();
    let settings = Settings::new(about, world, given)?;
    let asked = asked(about, world, &settings);
    let (platforms, tree) = (data.platforms(), data.source_tree());
    let conditions = Published::read(&data.published(), about.name)?.conditions();
    let request = Request {
        world,
        settings,
        platforms: &platforms,
        conditions,
        source_tree: tree.as_deref(),
        kept: None,
    };
    experiment.check(&request)?;
    let mut recording = record(console, experiment, &request, progress)?;
    recording.header.request = asked;
    recording.header.make_printable();
    attribution::record(&mut recording);
    Ok(recording)
}

/// Runs an experiment in memory, with its progress shown.
fn shown(
    console: &Console,
    experiment: &dyn Experiment,
    request: &Request<'_>,
) -> Result<Recording> {
    let progress: Arc<Progress> = Arc::default();
    let _shown = console.show(progress.clone());
    record(console, experiment, request, &progress)
}

fn record(
    console: &Console,
    experiment: &dyn Experiment,
    request: &Request<'_>,
    progress: &Arc<Progress>,
) -> Result<Recording> {
    let given = request
        .settings
        .given()
        .map(|(name, value)| format!(", {name}={value}"))
        .collect_vec();
    console.tell(&format!(
        "{} in world {}{}",
        experiment.about().name,
        request.world.name(),
        given.concat()
    ));
    let result = experiment.run(request, &Observer::new(progress.clone()));
    // What a signal broke off, such as an emulator that got it too, did not fail by itself.
    let mut recording =
        result.map_err(|error| progress.check().map_or_else(Into::into, |()| error))?;
    // What differs from run to run; what the experiment noted of its own stays.
    let header = &mut recording.header;
    let mut run = match header.world.as_str() {
        "host" => provenance::this_measurement(),
        _ => provenance::this_run(),
    };
    run.more.append(&mut header.run.more);
    run.counter = header.run.counter.take();
    header.run = run;
    Ok(recording)
}
