//! Answers of others to tests: lists of verdicts, and herd7's answers.

use crate::{
    Error, Result,
    answer::Answer,
    test::{Quantifier, Test, Variable},
};
use std::collections::{BTreeMap, BTreeSet};

/// The answer that is expected of a test.
#[derive(Debug, Default)]
pub struct Expectation {
    /// Allowed, Forbidden or Required.
    pub verdict: Option<String>,
    /// All final states: variables and values, as they were written.
    pub states: Option<BTreeSet<BTreeMap<String, String>>>,
}

/// Reads what is expected, by the names of the tests: `NAME KIND` per line (`kinds.txt`),
/// `NAME,KIND` per line (CSV; a first line `test,kind` is a heading), or herd7's answers one after
/// the other.
///
/// # Errors
/// The line that is none of these.
pub fn read(text: &str) -> Result<BTreeMap<String, Expectation>> {
    let is_herd = text.lines().any(|line| line.starts_with("Test "))
        && text.lines().any(|line| line.starts_with("States "));
    if is_herd {
        of_herd(text)
    } else {
        of_kinds(text)
    }
}

fn of_kinds(text: &str) -> Result<BTreeMap<String, Expectation>> {
    let mut all = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() || number == 1 && line.replace(' ', "").eq_ignore_ascii_case("test,kind")
        {
            continue;
        }
        let (name, kind) = line
            .split_once(',')
            .or_else(|| line.split_once(char::is_whitespace))
            .ok_or_else(|| {
                Error::malformed(
                    number,
                    format!("`{line}` has no kind: `MP Allowed` would be right"),
                )
            })?;
        let kind = kind
            .trim()
            .trim_matches('"')
            .split([',', ' ', '\t'])
            .next()
            .unwrap_or_default();
        let verdict = verdict_of(kind).ok_or_else(|| {
            Error::malformed(
                number,
                format!("`{kind}` is no kind: Allowed, Forbidden and Required are"),
            )
        })?;
        all.insert(
            name.trim().trim_matches('"').to_owned(),
            Expectation {
                verdict: Some(verdict),
                ..Expectation::default()
            },
        );
    }
    Ok(all)
}

/// A verdict by its name or the beginning of it, as some lists have it.
fn verdict_of(kind: &str) -> Option<String> {
    let kind = kind.to_ascii_lowercase();
    let mut verdicts = ["Allowed", "Forbidden", "Required"].into_iter();
    let verdict = verdicts.find(|verdict| kind.starts_with(&verdict.to_ascii_lowercase()[..5]));
    verdict.map(str::to_owned)
}

fn of_herd(text: &str) -> Result<BTreeMap<String, Expectation>> {
    let mut all = BTreeMap::new();
    let mut name = None;
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let mut words = line.split_whitespace();
        match (words.next(), &name) {
            (Some("Test"), _) => {
                let test = words
                    .next()
                    .ok_or_else(|| Error::malformed(number, "`Test` is followed by a name"))?;
                all.insert(test.to_owned(), Expectation::default());
                name = Some(test.to_owned());
            }
            (Some("States"), Some(test)) => {
                let count: usize = words
                    .next()
                    .and_then(|count| count.parse().ok())
                    .ok_or_else(|| {
                        Error::malformed(number, "`States` is followed by their number")
                    })?;
                let mut states = BTreeSet::new();
                for _ in 0..count {
                    let (number, line) = lines.next().ok_or_else(|| {
                        Error::malformed(number, format!("{count} states should follow"))
                    })?;
                    states.insert(state(number, line)?);
                }
                all.entry(test.clone()).or_default().states = Some(states);
            }
            _ => {}
        }
    }
    Ok(all)
}

fn state(number: usize, line: &str) -> Result<BTreeMap<String, String>> {
    line.split(';')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let (name, value) = entry.split_once('=').ok_or_else(|| {
                Error::malformed(number, format!("`{entry}` is no variable with its value"))
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

impl Expectation {
    /// The difference between what is expected and an answer, in words; `None` where they agree.
    pub fn difference(&self, test: &Test, answer: &Answer) -> Option<String> {
        if let Some(verdict) = &self.verdict {
            let own = answer.verdict(test.quantifier);
            // `Allowed` of a `forall` says that not all executions have it.
            let agrees = own == verdict
                || test.quantifier == Quantifier::Forall
                    && verdict != "Required"
                    && own != "Required";
            if !agrees {
                return Some(format!("{own}, expected {verdict}"));
            }
        }
        let states = self.states.as_ref()?;
        let own = &answer.states;
        let theirs = states
            .iter()
            .map(|state| read_state(test, state))
            .collect::<Option<Vec<_>>>();
        let Some(theirs) = theirs else {
            return Some("its states name what the test does not have".to_owned());
        };
        // Theirs may leave out what no condition names.
        let agree = |own: &BTreeMap<Variable, u64>, theirs: &BTreeMap<Variable, u64>| {
            theirs
                .iter()
                .all(|(variable, value)| own.get(variable) == Some(value))
        };
        let more = own
            .iter()
            .filter(|own| !theirs.iter().any(|theirs| agree(own, theirs)))
            .count();
        let missing = theirs
            .iter()
            .filter(|theirs| !own.iter().any(|own| agree(own, theirs)))
            .count();
        (more + missing > 0)
            .then(|| format!("{more} states that are not expected, and {missing} that are missing"))
    }
}

fn read_state(test: &Test, state: &BTreeMap<String, String>) -> Option<BTreeMap<Variable, u64>> {
    let mut read = BTreeMap::new();
    for (name, text) in state {
        if let Some(values) = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'))
        {
            let variables = test.named(name);
            let values: Vec<u64> = values
                .split(',')
                .map(|value| test.value(value.trim()))
                .collect::<Option<_>>()?;
            if values.len() != variables.len() {
                return None;
            }
            let cut = |(variable, value)| {
                let value = test.cut(&variable, value);
                (variable, value)
            };
            read.extend(variables.into_iter().zip(values).map(cut));
            continue;
        }
        // herd7 has the name of a location in brackets, or without where it is an array's element.
        let bare = |name: &str| name.trim_matches(['[', ']']).to_owned();
        let mut observed = test.observed.iter();
        let variable = observed.find(|own| bare(&own.to_string()) == bare(name))?;
        let value = test.cut(variable, test.value(text)?);
        read.insert(variable.clone(), value);
    }
    Some(read)
}
