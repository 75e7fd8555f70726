//! The request: which recordings are compared, and by which policy.

use crate::policy::Policy;
use crate::session::BoardSessions;
use findings::Findings;
use recording::{Header, Recording};

/// A recording that is to be compared, or several runs of one thing.
#[derive(Clone, Default)]
pub struct Input<'r> {
    /// The name in tables.
    pub name: String,
    /// The findings of each run, at least one.
    pub runs: &'r [Findings<'r>],
    /// How many recordings of it were given again ([`runs_of`](crate::runs_of)).
    pub given_again: usize,
    /// Which of its releases or configurations; `None`: its only one, or all that the recordings
    /// have in common.
    pub variant: Option<String>,
}

impl<'r> Input<'r> {
    /// The recordings, one for each run.
    pub(crate) fn recordings(&self) -> impl Iterator<Item = &'r Recording> {
        self.runs.iter().map(|findings| findings.recording)
    }

    /// The first recording's header.
    pub(crate) fn header(&self) -> &'r Header {
        &self.runs[0].recording.header
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

/// Why recordings cannot be compared: a sentence that says what would be right.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub(crate) String);
