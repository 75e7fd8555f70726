//! The looks of a timeline's span: its class in the style sheet and its words, for the still
//! pictures and, as data, for the script.

use super::picture::What;
use crate::drawn::drawn;
use attribution::{Cause, WaitFor};
use serde::Serialize;

/// The form of a span in its lane.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A bar with a label.
    Bar,
    /// A flat bar without one.
    Flat,
    /// A dotted line.
    Line,
    /// Nothing: time of which nothing is known.
    Gap,
}

/// The looks of one kind of span.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kind {
    is_cause: bool,
    pub class: &'static str,
    pub form: Form,
    /// The words; `{}` stands for its CPU or its number.
    pub words: String,
    /// The labels that can stand in its bar, longest first, with `{}` likewise.
    pub labels: Vec<String>,
    /// The same where it waits for a CPU, whose name `{}` stands for.
    pub waiting_labels: Vec<String>,
    pub light_label: bool,
    /// Pixels that a label of more than one letter leaves free, so that enough of the pattern is to
    /// be seen.
    pub margin: f64,
    /// True if `{}` is the name of a CPU, and not a number.
    names_cpu: bool,
    /// The words behind the semicolon of the script's words for a wait; `{}` is the CPU that was
    /// waited for, `#` the lock.
    waiting_words: &'static str,
    /// True if an arrow leads from a wait to the SCP, and not to the CPU.
    pub to_scp: bool,
}

/// The way in which a kind that is no cause is drawn.
fn other(class: &'static str, form: Form, words: &str, labels: &[&str], light_label: bool) -> Kind {
    Kind {
        is_cause: false,
        class,
        form,
        words: words.to_owned(),
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        waiting_labels: Vec::new(),
        light_label,
        margin: 6.0,
        names_cpu: matches!(class, SERVES | TAKES),
        waiting_words: "",
        to_scp: false,
    }
}

const SERVES: &str = "serves";
const TAKES: &str = "takes";

/// The number of [`What::NormalWorld`] among [`kinds`]: causes come first, by their place in
/// [`Cause::ALL`].
const NORMAL_WORLD: usize = Cause::ALL.len();
const LOW_POWER: usize = NORMAL_WORLD + 1;
const POLLS: usize = NORMAL_WORLD + 2;
/// The number of time of which nothing is known.
pub const GAP: usize = NORMAL_WORLD + 3;
const SERVING: usize = NORMAL_WORLD + 4;
const TAKING: usize = NORMAL_WORLD + 5;

/// The number of what a span is of.
pub fn number(what: What) -> usize {
    match what {
        // The table of causes makes the variants and ALL in one order.
        What::Cause(cause) => cause as usize,
        What::NormalWorld => NORMAL_WORLD,
        What::LowPower => LOW_POWER,
        What::Polls(_) => POLLS,
        What::Serves(_) => SERVING,
        What::Takes(_) => TAKING,
    }
}

/// All kinds, by their numbers.
pub fn kinds() -> Vec<Kind> {
    let causes = Cause::ALL.into_iter().map(|cause| {
        let row = cause.row();
        let letter = row.letter.to_string();
        let to_scp = cause.wait() == Some(WaitFor::Scp);
        Kind {
            is_cause: true,
            class: drawn(cause).class,
            form: Form::Bar,
            words: row.title.to_owned(),
            labels: vec![row.title.to_owned(), letter.clone()],
            waiting_labels: vec![
                format!("{}: {{}}", row.title),
                format!("{letter} {{}}"),
                letter,
            ],
            light_label: drawn(cause).light_label,
            margin: 14.0,
            names_cpu: true,
            waiting_words: if to_scp {
                "the SCP had a command of {} in hand"
            } else {
                "{} held lock #"
            },
            to_scp,
        }
    });
    let others = [
        other("world", Form::Flat, "normal world", &[], false),
        other("low", Form::Line, "low power", &[], false),
        other(
            "polls",
            Form::Bar,
            "{} AFFINITY_INFO polls",
            &["{} polls", "p"],
            false,
        ),
        other("", Form::Gap, "", &[], false),
        other(SERVES, Form::Bar, "serves {}", &["serves {}", "{}"], true),
        other(
            TAKES,
            Form::Bar,
            "takes up the command of {}",
            &["takes {}", "{}"],
            false,
        ),
    ];
    causes.chain(others).collect()
}
