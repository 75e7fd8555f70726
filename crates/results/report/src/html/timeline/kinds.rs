//! The looks of a timeline's span: its class in the style sheet and its words, as data for the
//! script.

use super::picture::What;
use crate::drawn::drawn;
use attribution::{Cause, WaitFor};
use serde_json::{Value, json};

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
///
/// `form`: a bar with a label where there is none, `flat` a bar without one, `line` a dotted line,
/// `gap` nothing, for time of which nothing is known. `words`, in which `{}` stands for the CPU
/// (`namesCpu`) or the number; `labels` that can stand in the bar, longest first, with `{}`
/// likewise, and `waitingLabels` where it waits for the CPU `{}`. `margin`: pixels that a label of
/// more than one letter leaves free, so that enough of the pattern is to be seen. `waitingWords`
/// stand behind the semicolon of the words for a wait; `{}` is the CPU that was waited for, `#` the
/// lock. `toScp`: an arrow leads from a wait to the SCP, and not to the CPU.
pub fn kinds() -> Vec<Value> {
    let causes = Cause::ALL.into_iter().map(|cause| {
        let (title, letter) = (cause.title(), cause.row().letter);
        let to_scp = cause.wait() == Some(WaitFor::Scp);
        json!({
            "isCause": true,
            "class": drawn(cause).class,
            "words": title,
            "labels": [title, letter],
            "waitingLabels": [format!("{title}: {{}}"), format!("{letter} {{}}"), letter.to_string()],
            "lightLabel": drawn(cause).light_label,
            "margin": 14,
            "namesCpu": true,
            "waitingWords": if to_scp { "the SCP had a command of {} in hand" } else { "{} held lock #" },
            "toScp": to_scp,
        })
    });
    let others = [
        json!({ "class": "world", "form": "flat", "words": "normal world" }),
        json!({ "class": "low", "form": "line", "words": "low power" }),
        json!({ "class": "polls", "words": "{} AFFINITY_INFO polls", "labels": ["{} polls", "p"], "margin": 6 }),
        json!({ "form": "gap" }),
        json!({ "class": "serves", "words": "serves {}", "labels": ["serves {}", "{}"], "lightLabel": true, "margin": 6, "namesCpu": true }),
        json!({ "class": "takes", "words": "takes up the command of {}", "labels": ["takes {}", "{}"], "margin": 6, "namesCpu": true }),
    ];
    causes.chain(others).collect()
}
