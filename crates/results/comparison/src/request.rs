//! The request: which recordings are compared, and by which policy.

use crate::policy::Policy;
use crate::session::BoardSessions;
use findings::Findings;
use recording::{Header, Recording};

/// A recording that is to be compared, or several runs of one thing.
#[derive(Clone)]
pub struct Input<'r> {
    /// The name in tables.
    pub name: String,
    /// The findings of the recording.
    pub findings: &'r Findings<'r>,
    /// The findings of other runs of the same, which are compared together with it.
    pub more: Vec<&'r Findings<'r>>,
    /// How many recordings of it were given again ([`runs_of`](crate::runs_of)).
    pub given_again: usize,
    /// Which of its releases or configurations; `None`: its only one, or all that the recordings
    /// have in common.
    pub variant: Option<String>,
}

impl<'r> Input<'r> {
    /// A recording by its name, with the releases that it has in common with others.
    pub fn new(name: &str, findings: &'r Findings<'r>) -> Self {
        Self {
            name: name.to_owned(),
            findings,
            more: Vec::new(),
            given_again: 0,
            variant: None,
        }
    }

    /// The runs of a side by its name, with one of their releases; `None` of no runs.
    pub fn of_runs(name: &str, runs: &'r [Findings<'r>], variant: Option<String>) -> Option<Self> {
        let (first, more) = runs.split_first()?;
        Some(Self {
            name: name.to_owned(),
            findings: first,
            more: more.iter().collect(),
            given_again: 0,
            variant,
        })
    }

    /// The recordings, one for each run.
    pub(crate) fn recordings(&self) -> impl Iterator<Item = &'r Recording> {
        std::iter::once(&self.findings)
            .chain(&self.more)
            .map(|findings| findings.recording)
    }

    /// The first recording's header.
    pub(crate) fn header(&self) -> &'r Header {
        &self.findings.recording.header
    }
}

/// The options of a comparison of recordings.
#[derive(Default)]
pub struct Options {
    /// The policy: which changes count as a regression.
    pub policy: Policy,
    /// Measures to compare; all but those that follow from others (`time_in_state`) where none is
    /// named.
    pub metrics: Vec<String>,
    /// One release that was measured twice on a board; none where no such figures are at hand.
    pub sessions: Option<BoardSessions>,
}

/// Why recordings cannot be compared.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// One recording says nothing.
    #[error(
        "there must be at least two recordings to compare: name another one, or the runs of another side after --with"
    )]
    TooFew,
    /// A release that is not there.
    #[error("{name} has no release `{variant}`; it has: {known}")]
    NoSuchVariant {
        /// The recording.
        name: String,
        /// The variant that was asked for.
        variant: String,
        /// The names that are there.
        known: String,
    },
    /// It is not clear what to compare with what.
    #[error(
        "the recordings have no release in common; say which to compare, as in RECORDING@RELEASE: {known}"
    )]
    NothingInCommon {
        /// The names that each has.
        known: String,
    },
    /// A measure that was asked for is in no recording.
    #[error("no recording has the measure `{metric}`; they have: {known}")]
    NoSuchMetric {
        /// The variant that was asked for.
        metric: String,
        /// The names that are there.
        known: String,
    },
    /// No row of the one is in the other.
    #[error(
        "the recordings have no row in common: no measure of the same case for the same CPU or role"
    )]
    NoRowInCommon,
}
