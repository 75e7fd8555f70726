//! The command, in Python.

use crate::recording::Recording;
use crate::work::{Asked, just, work};
use comparison::Policy;
use console::{Cancellation, Console};
use document::Document;
use experiment::Progress;
use pyo3::prelude::*;
use report::Style;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use stopwatt::compare_command::{SideRuns, compared};
use stopwatt::data::Data;
use stopwatt::sweep_command;
use sweep::{Dataset, Plan, Share};

/// The command itself, on the program's own standard output; returns its exit status.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| stopwatt::command_line(arguments))
}

/// A command within the program: exit status (0, 1 or 3), what it printed, and what it noted on
/// standard error.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<(u8, String, String)> {
    let console = Console::kept();
    let words = console.clone();
    let answer = work(py, &Asked::Command(console.clone()), None, move || {
        stopwatt::command(arguments, &words)
    })?;
    let output = console.output();
    Ok((
        answer.status(),
        String::from_utf8_lossy(&output.printed).into_owned(),
        output.noted,
    ))
}

/// Says by what command a process of this program is started, in which loops are run.
#[pyfunction]
pub fn start_with(command: Vec<OsString>) {
    stopwatt::start_with(command);
}

/// Compares sides of one recording or several: text, JSON, page and outcome.
#[pyfunction]
#[pyo3(signature = (sides, variants, threshold, metrics, all))]
pub fn compare(
    py: Python<'_>,
    sides: Vec<Vec<Py<Recording>>>,
    variants: Vec<Option<String>>,
    threshold: Option<f64>,
    metrics: Vec<String>,
    all: bool,
) -> PyResult<(String, String, String, &'static str)> {
    let of_side = |(runs, variant): (Vec<Py<Recording>>, Option<String>)| {
        let mut name = runs.first().map(|it| it.get().name()).unwrap_or_default();
        name.extend(variant.iter().map(|release| format!("@{release}")));
        let runs = runs.iter().map(|it| (*it.get().rows).clone());
        SideRuns::new(name, runs.collect(), variant)
    };
    let sides: Vec<_> = sides.into_iter().zip(variants).map(of_side).collect();
    let does = move || {
        let mut policy = Policy::default();
        policy.threshold = threshold.unwrap_or(policy.threshold);
        let (comparison, published) = compared(&Data::find(None)?, &sides, policy, metrics)?;
        let told = report::comparison(&comparison, published.as_ref(), all);
        let text = told.text(all, Style::PLAIN);
        let json = report::comparison_json(&comparison, published.as_ref()).to_string();
        Ok((text, json, told.html(), comparison.outcome().name()))
    };
    just(py, does)
}

/// Begins the data set of the text of a plan, or finds it; returns the numbers of the chunks that
/// are missing, and points of a chunk.
#[pyfunction]
pub fn begin_sweep(
    py: Python<'_>,
    text: String,
    folder: PathBuf,
    at_most: u64,
) -> PyResult<(Vec<u64>, u64)> {
    let does = move || {
        let plan = Plan::read(&Document::new("the plan", text))?;
        plan.at_most(at_most)?;
        let fitting = sweep_command::fitting(plan)?;
        let dataset = sweep_command::begin(&Data::find(None)?, &fitting, &folder, false)?;
        Ok((sweep_command::missing(&dataset)?, fitting.plan.chunk()))
    };
    just(py, does)
}

/// Runs chunks of a data set that was begun, by their numbers, or all that are missing; returns
/// what became of them as JSON.
#[pyfunction]
#[pyo3(signature = (folder, chunks=None, threads=None, tell=None))]
pub fn run_sweep(
    py: Python<'_>,
    folder: PathBuf,
    chunks: Option<Vec<u64>>,
    threads: Option<usize>,
    tell: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let progress: Arc<Progress> = Arc::default();
    let asked = Asked::Run(progress.clone());
    let does = move || {
        let dataset = Dataset::open(&folder)?;
        let fitting = sweep_command::fitting(dataset.plan.clone())?;
        // Also where it was begun by another program: its build must be this one.
        let dataset = Dataset::begin(&dataset.folder, &fitting)?;
        let share = chunks.map_or(Share::All, Share::Chunks);
        let outcome = sweep_command::run_share(
            &Data::find(None)?,
            &dataset,
            &fitting,
            &share,
            threads,
            &progress,
        )?;
        match progress.check() {
            Err(short @ Cancellation::Short(_)) => Err(short.into()),
            _ => Ok(sweep_command::as_json(&dataset, &outcome, 0).to_string()),
        }
    };
    work(py, &asked, tell, does)
}
