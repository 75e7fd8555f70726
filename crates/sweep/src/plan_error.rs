//! What is wrong with a plan, and where.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::ops::Range;
use std::sync::Arc;

/// Something wrong in a plan: what, where, and what would be right.
#[derive(Clone, Debug, thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct PlanError {
    message: String,
    #[source_code]
    text: Arc<NamedSource<String>>,
    #[label("here")]
    place: Option<SourceSpan>,
    #[help]
    help: String,
}

/// The text of a plan with its name in errors.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Text {
    /// Something is wrong at a place.
    pub(crate) fn wrong(&self, place: Range<usize>, message: &str, help: impl Into<String>) -> PlanError {
        let line = 1 + self.text[..place.start.min(self.text.len())].matches('\n').count();
        PlanError {
            message: format!("{}:{line}: {message}", self.name),
            text: Arc::new(NamedSource::new(&self.name, self.text.clone()).with_language("TOML")),
            place: Some(SourceSpan::from(place)),
            help: help.into(),
        }
    }

    /// Something is wrong with the whole.
    pub(crate) fn wrong_as_a_whole(&self, message: &str, help: impl Into<String>) -> PlanError {
        let text = Arc::new(NamedSource::new(&self.name, self.text.clone()));
        PlanError { message: format!("{}: {message}", self.name), text, place: None, help: help.into() }
    }
}
