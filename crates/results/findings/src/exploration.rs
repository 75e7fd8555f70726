//! `explore psci` and `explore rcu`: what broke, and the schedule that breaks it.

use crate::Findings;
use crate::rows::named;
use recording::Recording;
use recording::facts::{self, FactsError};
use schemars::JsonSchema;
use serde::Serialize;

/// The exploration: which runs were tried, and what broke.
#[derive(Serialize, JsonSchema)]
pub struct Exploration<'r> {
    /// The invariant that broke first; empty where nothing broke.
    pub invariant: &'r str,
    /// What broke, in a sentence.
    pub what: Option<&'r String>,
    /// Operations of the schedule that breaks it.
    pub operations: Option<u64>,
    /// The scenario, in sentences.
    pub scenario: Vec<String>,
    /// The schedule's deviations from the plainest run, in order.
    pub sentences: Vec<String>,
    /// The cause, in a sentence, where more is known than what broke.
    pub cause: Option<String>,
    /// What the run saw that others had stored and that is not usual, what took the place of its
    /// own first.
    pub causes: Vec<String>,
    /// The last operations that led to the failure, in order.
    pub last: Vec<facts::LastOperation>,
    /// The reach of the runs; `None` where it was not watched.
    pub coverage: Option<facts::Coverage>,
    /// The schedule that breaks it; `None` where none is told.
    pub schedule: Option<String>,
    /// Schedules that were tried.
    pub schedules_tried: u64,
    /// Operations over all schedules.
    pub operations_tried: u64,
    /// What broke, a sentence each.
    pub complaints: &'r [String],
    /// The recording, whose lanes show the schedule.
    #[serde(skip)]
    pub source: &'r Recording,
    /// The recording's folder, as it was named on the command line.
    #[serde(skip)]
    pub folder: &'r str,
}

/// The case of what was tried.
const TRIED: &str = "tried";

/// Reads what was tried, and what broke.
pub fn read<'r>(findings: &Findings<'r>) -> Result<Exploration<'r>, FactsError> {
    let recording = findings.recording;
    let header = &recording.header;
    // An exploration in which nothing broke has no schedule to tell.
    let facts: Option<facts::Exploration> = match (header.facts(), header.lanes.is_empty()) {
        (Ok(facts), _) => Some(facts),
        (Err(error), false) => return Err(error),
        (Err(_), true) => None,
    };
    let invariant = recording
        .all_series()
        .map(|series| recording.series_texts(series).1)
        .find(|case| *case != TRIED);
    let schedule = facts
        .as_ref()
        .map(|facts| facts.schedule.clone())
        .filter(|schedule| !schedule.is_empty());
    let facts = facts.unwrap_or_default();
    Ok(Exploration {
        invariant: invariant.unwrap_or_default(),
        what: header.complaints.first(),
        operations: measured(recording, "operations"),
        scenario: facts.scenario,
        sentences: facts.sentences,
        cause: facts.cause,
        causes: facts.causes,
        last: facts.last,
        coverage: facts.coverage,
        schedule,
        schedules_tried: measured(recording, "schedules").unwrap_or_default(),
        operations_tried: measured(recording, "operations_tried").unwrap_or_default(),
        complaints: &header.complaints,
        source: recording,
        folder: findings.folder,
    })
}

/// The value of a metric.
fn measured(recording: &Recording, name: &str) -> Option<u64> {
    let mut rows = named(recording).into_iter();
    Some(rows.find(|row| row.metric == name)?.value as u64)
}
