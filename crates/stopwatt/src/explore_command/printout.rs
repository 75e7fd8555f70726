//! What a subcommand of `stopwatt explore` prints.

use crate::answer::Answer;
use serde_json::Value;

/// What a subcommand prints, and its answer.
pub(super) struct Printout {
    /// An error if something cannot be done, which is said behind the rest.
    pub(super) answer: miette::Result<Answer>,
    pub(super) form: Form,
}

/// What is printed, in the form that was asked for.
pub(super) enum Form {
    Text(String),
    Json(Value),
}

impl Printout {
    pub(super) fn text(answer: Answer, text: String) -> Self {
        Self {
            answer: Ok(answer),
            form: Form::Text(text),
        }
    }

    pub(super) fn json(answer: Answer, value: Value) -> Self {
        Self {
            answer: Ok(answer),
            form: Form::Json(value),
        }
    }
}
