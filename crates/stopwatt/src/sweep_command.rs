//! `stopwatt sweep`.

use crate::answer::Answer;
use crate::data::Data;
use crate::experiments;
use crate::output::{self, Format};
use clap::Args;
use console::{Cancellation, Console};
use document::Document;
use experiment::Progress;
use itertools::Itertools;
use miette::{Result, bail, miette};
use published::Published;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sweep::{
    DEFAULT_MOST, Dataset, Environment, FailedPoint, Fitting, Outcome, Plan, Point, Share,
};

/// Options of `sweep`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt sweep plan.toml                               every point, on all cores of this machine
  stopwatt sweep plan.toml --dry-run                     how many points and chunks, and the first of them
  stopwatt sweep plan.toml -o recordings/s --shard 2/7   a seventh of it; the other six may run elsewhere
  stopwatt sweep --resume recordings/s                   what is missing after a kill, and points that failed
  stopwatt report recordings/s --format csv              its tables

A plan:
  experiment = \"psci-latency\"
  [settings]                   # holds at every point
  iterations = 1
  free-seeds = 0
  [grid]                       # every combination
  scp.channels = [1, 2, 4]
  topology.clusters = \"1..16\"
docs/sweeps.md has lists, draws, seeds and what is kept.

Exit status: 0 when every point is there, 1 when some failed, found what should not be or are missing, 2 when the sweep cannot begin.")]
pub struct SweepOptions {
    /// The plan.
    #[arg(
        value_name = "PLAN",
        required_unless_present = "resume",
        conflicts_with = "resume"
    )]
    plan: Option<PathBuf>,
    /// Go on with the sweep in this folder, from the plan that lies in it.
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    resume: Option<PathBuf>,
    /// Folder of the data set [default: recordings/ and the plan's name]; one that was begun goes
    /// on.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Begin anew in a folder that has a sweep, whose points are removed.
    #[arg(long, conflicts_with_all = ["resume", "shard"])]
    replace: bool,
    /// Run only the chunks of shard I of N, from 1; shards may run at the same time, on machines
    /// that share the folder.
    #[arg(long, value_name = "I/N")]
    shard: Option<Share>,
    /// Run a plan of more points than a million, up to this number.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MOST, hide_default_value = true)]
    at_most: u64,
    /// Say what would run, and run nothing.
    #[arg(long)]
    dry_run: bool,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Runs the plan, or what is missing of it; the answer is no if points failed or chunks are
/// missing.
pub fn run(console: &Console, data: &Data, options: &SweepOptions) -> Result<Answer> {
    let (plan, folder) = match (&options.resume, &options.plan) {
        (Some(folder), _) => (Dataset::open(folder)?.plan, folder.clone()),
        (None, Some(path)) => (
            read_plan(path)?,
            options
                .output
                .clone()
                .unwrap_or_else(|| default_folder(path)),
        ),
        (None, None) => {
            bail!(help = "stopwatt sweep --help has one", "no plan is named");
        }
    };
    plan.at_most(options.at_most)?;
    let fitting = fitting(plan)?;
    if options.dry_run {
        return output::print_text(console, &foretold(&fitting, &folder)).map(|()| Answer::Yes);
    }
    let dataset = begin(data, &fitting, &folder, options.replace)?;
    let share = options.shard.clone().unwrap_or(Share::All);
    let progress: Arc<Progress> = Arc::default();
    let shown = console.show(progress.clone());
    let outcome = run_share(data, &dataset, &fitting, &share, None, &progress);
    drop(shown);
    let outcome = outcome?;
    let missing = dataset.size().1 - dataset.done()?;
    options.format.print(
        console,
        || as_json(&dataset, &outcome, missing),
        || as_text(&dataset, &share, &outcome, missing),
    )?;
    Ok(
        match complaint(
            &fitting.plan,
            &dataset,
            &share,
            &outcome,
            missing,
            progress.check().err().filter(|_| outcome.cancelled),
        ) {
            Some(why) => Answer::no(console, &why),
            None => Answer::Yes,
        },
    )
}

/// The plan with its experiment, to which it must fit.
pub fn fitting(plan: Plan) -> Result<Fitting> {
    Ok(Fitting::new(
        plan,
        experiments::find,
        &experiments::names(),
    )?)
}

/// Begins the data set of a plan, or finds the one that was begun, if some point of it can run. If
/// it is to `replace` what is there, it begins anew.
pub fn begin(data: &Data, fitting: &Fitting, folder: &Path, replace: bool) -> Result<Dataset> {
    in_place(data, fitting, None, |place| {
        sweep::some_point_can_run(fitting, place)
    })?;
    if replace {
        Dataset::remove(folder)?;
    }
    Ok(Dataset::begin(folder, fitting)?)
}

/// Numbers of the chunks that are not there, or have points that failed.
pub fn missing(dataset: &Dataset) -> Result<Vec<u64>> {
    Ok(dataset.missing()?)
}

/// Runs a share of a data set with the data that is in force.
pub fn run_share(
    data: &Data,
    dataset: &Dataset,
    fitting: &Fitting,
    share: &Share,
    threads: Option<usize>,
    progress: &Arc<Progress>,
) -> Result<Outcome> {
    in_place(data, fitting, threads, |place| {
        sweep::run(dataset, fitting, place, share, progress)
    })
}

/// Does something with the data that is in force.
fn in_place<T>(
    data: &Data,
    fitting: &Fitting,
    threads: Option<usize>,
    with: impl FnOnce(&Environment<'_>) -> Result<T, sweep::Error>,
) -> Result<T> {
    let (platforms, tree) = (data.platforms(), data.source_tree());
    let conditions =
        Published::read(&data.published(), fitting.experiment.about().name)?.conditions();
    Ok(with(&Environment {
        platforms: &platforms,
        conditions,
        source_tree: tree.as_deref(),
        threads,
    })?)
}

fn read_plan(path: &Path) -> Result<Plan> {
    let document = Document::open(path)
        .map_err(|error| error.with_help("name a TOML file; docs/sweeps.md has one"))?;
    Ok(Plan::read(&document)?)
}

/// Folder of a plan's data where none is given.
fn default_folder(plan: &Path) -> PathBuf {
    Path::new("recordings").join(plan.file_stem().unwrap_or_else(|| "sweep".as_ref()))
}

/// The settings of a point, for people.
fn settings(point: &Point) -> String {
    let mut parts = point
        .varied
        .iter()
        .map(|(key, value)| format!("{key}={}", value.text()))
        .collect_vec();
    if point.repetition > 0 {
        parts.push(format!("repetition {}", point.repetition));
    }
    parts.join(" ")
}

/// The runs that a plan would make.
fn foretold(fitting: &Fitting, folder: &Path) -> String {
    let plan = &fitting.plan;
    let points = plan.points().unwrap_or(0);
    let mut text = format!(
        "{} in the world {}: {points} points ({}) in {} chunks of {}, into {}\n",
        plan.experiment,
        fitting.world.name(),
        plan.product(),
        plan.chunks(),
        plan.chunk(),
        folder.display()
    );
    let mut shown = (0..points.min(3)).collect_vec();
    if points > 3 {
        shown.push(points - 1);
    }
    for number in shown {
        let _ = writeln!(text, "  point {number}: {}", settings(&plan.point(number)));
    }
    text
}

fn as_text(dataset: &Dataset, share: &Share, outcome: &Outcome, missing: u64) -> String {
    let seconds = outcome.time.as_secs_f64();
    let whose = if *share == Share::All {
        String::new()
    } else {
        format!("{share}: ")
    };
    let mut text = format!(
        "{whose}{} points in {} chunks",
        outcome.points,
        outcome.chunks.len()
    );
    if outcome.points > 0 {
        let _ = write!(
            text,
            ", {seconds:.1} s, {:.0} a second",
            outcome.points as f64 / seconds.max(1e-3)
        );
    }
    if outcome.there > 0 {
        let _ = write!(text, "; {} chunks were there before", outcome.there);
    }
    if missing > 0 {
        let _ = write!(
            text,
            "; {missing} of {} chunks are still missing",
            dataset.size().1
        );
    }
    let _ = writeln!(text, ". Data set: {}", dataset.folder.display());
    text
}

/// The result of a run, for machines.
pub fn as_json(dataset: &Dataset, outcome: &Outcome, missing: u64) -> serde_json::Value {
    let unwritten = outcome
        .unwritten
        .iter()
        .map(|it| json!({ "chunk": it.chunk, "why": it.why.to_string() }));
    json!({
        "dataset": dataset.folder.display().to_string(),
        "points": outcome.points,
        "chunks": outcome.chunks.len(),
        "chunks_there_before": outcome.there,
        "chunks_missing": missing,
        "failures": outcome.failures,
        "failed": outcome.failed,
        "complained": outcome.complained,
        "complaints": outcome.complaints,
        "unwritten": unwritten.collect_vec(),
        "cancelled": outcome.cancelled,
        "seconds": outcome.time.as_secs_f64(),
    })
}

/// The complaint that keeps the answer from being yes.
fn complaint(
    plan: &Plan,
    dataset: &Dataset,
    share: &Share,
    outcome: &Outcome,
    missing: u64,
    stopped: Option<Cancellation>,
) -> Option<miette::Report> {
    let mut lines = Vec::new();
    let mut name = |count: u64, what: &str, named: &[FailedPoint]| {
        if count == 0 {
            return;
        }
        lines.push(format!("{count} points {what}:"));
        for it in named {
            lines.push(format!(
                "  point {} ({}): {}",
                it.point,
                settings(&plan.point(it.point)),
                it.why
            ));
        }
        let unnamed = count - named.len() as u64;
        if unnamed > 0 {
            lines.push(format!(
                "  and {unnamed} more; the column `why` of data/*/points.parquet has them all"
            ));
        }
    };
    name(outcome.failures, "failed", &outcome.failed);
    name(
        outcome.complained,
        "found what should not be",
        &outcome.complaints,
    );
    for unwritten in &outcome.unwritten {
        lines.push(format!(
            "chunk {} was not written: {}",
            unwritten.chunk, unwritten.why
        ));
    }
    let kept = "the chunks that are whole were kept";
    lines.extend(stopped.map(|stopped| match stopped {
        Cancellation::Asked => format!("stopped before the end; {kept}"),
        Cancellation::Short(short) => format!("stopped before memory ran out: {short}; {kept}"),
    }));
    if lines.is_empty() && (missing == 0 || *share != Share::All) {
        return None;
    }
    if lines.is_empty() {
        lines.push(format!("{missing} chunks are missing"));
    }
    let shard = if *share == Share::All {
        String::new()
    } else {
        format!(" --{share}")
    };
    let again =
        outcome.failures > 0 || missing > 0 || outcome.cancelled || !outcome.unwritten.is_empty();
    let help = if again {
        format!(
            "what is missing or failed runs with: stopwatt sweep --resume {}{shard}",
            dataset.folder.display()
        )
    } else {
        format!("stopwatt report {} shows them", dataset.folder.display())
    };
    Some(miette!(help = help, "{}", lines.join("\n")))
}
