//! The steps of a task of a benchmark, in words: `run 5ms`, `timer 6ms`,
//! `callbacks $page.callbacks`.

use crate::unknown::Value;
use itertools::Itertools;
use minikernel::Draw;
use serde::Deserialize;

/// A number, or the name of the unknown that it is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub enum Term {
    /// This number.
    Is(u64),
    /// The value of the unknown of this name.
    Unknown(String),
}

impl Default for Term {
    fn default() -> Self {
        Self::Is(1)
    }
}

impl TryFrom<Value> for Term {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::Number(number) => Ok(Self::Is(number)),
            Value::Word(text) => term(&text),
        }
    }
}

/// The steps of a task, with others by their names.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Do {
    /// Computes.
    Run(Draw),
    /// Sleeps.
    Sleep(Draw),
    /// Waits for its next period, which is longer by `more` for each instance before it; in
    /// nanoseconds.
    Timer {
        /// The period of the first instance.
        period: u64,
        /// The time by which each further one takes longer.
        more: u64,
    },
    /// Sleeps until resumed.
    Suspend,
    /// Resumes a task.
    Resume(String),
    /// Takes one from a semaphore.
    Wait(String),
    /// Adds one to a semaphore.
    Post(String),
    /// Queues callbacks.
    Callbacks(Term),
}

const KNOWN: &str = "run TIME, sleep TIME, timer TIME [more TIME], suspend, resume TASK, wait SEMAPHORE, post SEMAPHORE, callbacks NUMBER; a \
                     TIME is 5ms, 900us..1100us or ~10ms";

impl TryFrom<String> for Do {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse(&text).map_err(|help| format!("`{text}` is no action: {help}"))
    }
}

/// Reads an action.
fn parse(text: &str) -> Result<Do, String> {
    let words = text.split_whitespace().collect_vec();
    Ok(match words[..] {
        ["run", time] => Do::Run(draw(time)?),
        ["sleep", time] => Do::Sleep(draw(time)?),
        ["timer", period] => Do::Timer {
            period: time(period)?,
            more: 0,
        },
        ["timer", period, "more", more] => Do::Timer {
            period: time(period)?,
            more: time(more)?,
        },
        ["suspend"] => Do::Suspend,
        ["resume", task] => Do::Resume(task.to_owned()),
        ["wait", semaphore] => Do::Wait(semaphore.to_owned()),
        ["post", semaphore] => Do::Post(semaphore.to_owned()),
        ["callbacks", number] => Do::Callbacks(term(number)?),
        _ => return Err(format!("actions are: {KNOWN}")),
    })
}

/// Reads a number or `$NAME`.
fn term(text: &str) -> Result<Term, String> {
    match text.strip_prefix('$') {
        Some(name) => Ok(Term::Unknown(name.to_owned())),
        None => text
            .parse()
            .map(Term::Is)
            .map_err(|_| format!("`{text}` should be a whole number, or $ and a name")),
    }
}

fn draw(text: &str) -> Result<Draw, String> {
    let draw = if let Some(mean) = text.strip_prefix('~') {
        Draw::Exponential { mean: time(mean)? }
    } else if let Some((low, high)) = text.split_once("..") {
        Draw::Uniform {
            low: time(low)?,
            high: time(high)?,
        }
    } else {
        Draw::Fixed(time(text)?)
    };
    if draw.is_sound() {
        Ok(draw)
    } else {
        Err(format!("`{text}` should go up, and be an hour at most"))
    }
}

/// A time in nanoseconds.
fn time(text: &str) -> Result<u64, String> {
    let digits = text.len()
        - text
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let unit = match &text[digits..] {
        "ns" => Some(1),
        "us" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        _ => None,
    };
    let number = text[..digits].parse().ok();
    number
        .zip(unit)
        .and_then(|(number, unit): (u64, u64)| number.checked_mul(unit))
        .ok_or_else(|| format!("`{text}` should be a time: a whole number and ns, us, ms or s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_read_and_what_is_none_is_named() {
        assert_eq!(parse("run 5ms"), Ok(Do::Run(Draw::Fixed(5_000_000))));
        assert_eq!(
            parse("run 900us..1100us"),
            Ok(Do::Run(Draw::Uniform {
                low: 900_000,
                high: 1_100_000
            }))
        );
        assert_eq!(
            parse("sleep ~2s"),
            Ok(Do::Sleep(Draw::Exponential {
                mean: 2_000_000_000
            }))
        );
        assert_eq!(
            parse("timer 1ms more 500us"),
            Ok(Do::Timer {
                period: 1_000_000,
                more: 500_000
            })
        );
        assert_eq!(
            parse("callbacks $page"),
            Ok(Do::Callbacks(Term::Unknown("page".to_owned())))
        );
        for (wrong, right) in [
            ("runs 5ms", "actions are: run TIME"),
            ("run 5", "ns, us, ms or s"),
            ("run 5ms..4ms", "go up"),
            ("sleep 2hours", "ns, us, ms or s"),
            ("callbacks many", "whole number"),
            ("sleep 99999999999999999999s", "should be a time"),
            ("", "actions are"),
        ] {
            assert!(
                parse(wrong).is_err_and(|error| error.contains(right)),
                "{wrong}: {:?}",
                parse(wrong)
            );
        }
    }
}
