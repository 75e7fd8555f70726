//! What a subcommand of `stopwatt explore` prints.

use serde_json::Value;
use stopwatt::Answer;

/// What a subcommand prints, and its answer.
pub struct Printout {
    /// An error if something cannot be done, which is said behind the rest.
    pub answer: miette::Result<Answer>,
    pub form: Form,
}

/// What is printed, in the form that was asked for.
pub enum Form {
    Text(String),
    Json(Value),
}

impl Printout {
    pub fn text(answer: Answer, text: String) -> Self {
        Self {
            answer: Ok(answer),
            form: Form::Text(text),
        }
    }

    pub fn json(answer: Answer, value: Value) -> Self {
        Self {
            answer: Ok(answer),
            form: Form::Json(value),
        }
    }
}
