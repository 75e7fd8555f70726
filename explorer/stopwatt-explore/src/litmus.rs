//! `stopwatt explore litmus FILE...`: stock tests, answered by Arm's model.

use crate::printout::{Form, Printout};
use clap::{Args, value_parser};
use litmus::expected::{self, Expectation};
use litmus::{Error, ErrorKind, Test};
use miette::miette;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use stopwatt::output::Format;

/// Options of `explore litmus`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt explore litmus MP.litmus
  stopwatt explore litmus tests/*.litmus --expect tests/kinds.txt")]
pub struct LitmusOptions {
    /// Stock litmus tests for AArch64, answered by Arm's model as herd7 answers them: `.litmus`
    /// files, folders of them, or lists of them (`@all`).
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Compares the answers with a `kinds.txt`, a CSV of `test,kind`, or answers of herd7.
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Tests that need what is not modelled are named, and do not make the exit status 2.
    #[arg(long)]
    skip_unsupported: bool,
    /// Jumps backwards in a thread after which a run is left out, as herd7's -unroll. A test whose
    /// verdict could be another one with more of them has no answer.
    #[arg(long, default_value_t = ::litmus::UNROLL, value_name = "N", value_parser = value_parser!(u32).range(..=64))]
    unroll: u32,
    /// Steps of the search that each test may take; one that takes more has no answer.
    #[arg(long, default_value_t = ::litmus::LIMIT, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    steps: u64,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// A test that got an answer, and the difference from what is expected, in words.
type Answered = (Test, litmus::Answer, Option<String>);

/// The outcome of a file.
type Outcome = Result<Answered, Error>;

pub fn answer(options: &LitmusOptions) -> miette::Result<Printout> {
    let expected = options.expect.as_deref().map(read_expected).transpose()?;
    let mut files = vec![];
    for file in &options.files {
        find(file, &mut files)?;
    }
    let outcomes: Vec<Outcome> = files
        .par_iter()
        .map(|file| one(file, options, expected.as_ref()))
        .collect();
    let form = match options.format {
        Format::Json => Form::Json(in_json(&files, &outcomes)),
        Format::Term => Form::Text(in_text(&files, &outcomes, expected.is_some())),
    };
    let skipped = outcomes.iter().filter(|outcome| match outcome {
        Err(error) => !options.skip_unsupported || error.kind != ErrorKind::Unsupported,
        Ok((test, answer, _)) => expected.is_none() && answer.doubt(test).is_some(),
    });
    let answer = if let skipped @ 1.. = skipped.count() {
        Err(miette!(
            help = "the reasons are above; --skip-unsupported leaves out what is not modelled, --unroll follows loops further, --steps searches longer",
            "{skipped} of {} tests got no answer",
            outcomes.len()
        ))
    } else {
        let differs = |outcome| matches!(outcome, &Ok((_, _, Some(_))));
        Ok((!outcomes.iter().any(differs)).into())
    };
    Ok(Printout { answer, form })
}

fn read_text(path: &Path) -> miette::Result<String> {
    disk::text(path).map_err(|error| miette!("cannot read {}: {error}", path.display()))
}

fn read_expected(path: &Path) -> miette::Result<BTreeMap<String, Expectation>> {
    expected::read(&read_text(path)?).map_err(|error| miette!("{}", told(path, &error)))
}

/// An error with its file and its line.
fn told(path: &Path, error: &Error) -> String {
    let line = match error.line {
        0 => String::new(),
        line => format!(":{line}"),
    };
    let kind = match error.kind {
        ErrorKind::Unsupported => "not modelled: ",
        _ => "",
    };
    format!("{}{line}: {kind}{}", path.display(), error.what)
}

/// The tests of a file, a folder, or a list whose name begins with `@`.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> miette::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_dir() {
        let entries = std::fs::read_dir(path)
            .map_err(|error| miette!("cannot read {}: {error}", path.display()))?;
        let mut inner: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        inner.retain(|path| {
            path.is_dir()
                || path
                    .extension()
                    .is_some_and(|extension| extension == "litmus")
        });
        inner.sort();
        inner.iter().try_for_each(|path| find(path, files))
    } else if name.starts_with('@') {
        let folder = path.parent().unwrap_or(Path::new(""));
        read_text(path)?
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim())
            .filter(|line| !line.is_empty())
            .try_for_each(|line| find(&folder.join(line), files))
    } else {
        files.push(path.to_owned());
        Ok(())
    }
}

fn one(
    path: &Path,
    options: &LitmusOptions,
    expected: Option<&BTreeMap<String, Expectation>>,
) -> Outcome {
    let text = disk::text(path).map_err(|error| Error {
        kind: ErrorKind::Malformed,
        line: 0,
        what: format!("cannot be read: {error}"),
    })?;
    let mut test = litmus::parse(&text)?;
    test.unroll = options.unroll;
    test.limit = options.steps;
    let answer = litmus::answer(&test)?;
    let expected = expected.and_then(|expected| expected.get(&test.name));
    let difference = expected.and_then(|expected| expected.difference(&test, &answer));
    Ok((test, answer, difference))
}

fn in_text(files: &[PathBuf], outcomes: &[Outcome], is_compared: bool) -> String {
    let mut text = String::new();
    let (mut answered, mut differ, mut skipped) = (0, 0, 0);
    for (file, outcome) in files.iter().zip(outcomes) {
        match outcome {
            Ok((test, answer, difference)) => {
                let is_answered = is_compared || answer.doubt(test).is_none();
                answered += is_answered as usize;
                skipped += (!is_answered) as usize;
                if !is_compared {
                    text += &answer.text(test);
                    text.push('\n');
                }
                if let Some(difference) = difference {
                    differ += 1;
                    text += &format!("{} ({}): {difference}\n", test.name, file.display());
                }
            }
            Err(error) => {
                skipped += 1;
                text += &told(file, error);
                text.push('\n');
            }
        }
    }
    if is_compared {
        text += &format!(
            "{answered} answered: {} as expected, {differ} not.",
            answered - differ
        );
    } else {
        text += &format!("{answered} answered.");
    }
    if skipped > 0 {
        text += &format!(" {skipped} got no answer.");
    }
    text.push('\n');
    text
}

fn in_json(files: &[PathBuf], outcomes: &[Outcome]) -> Value {
    let one = |(file, outcome): (&PathBuf, &Outcome)| match outcome {
        Ok((test, answer, difference)) => {
            let states: Vec<Value> = answer
                .states
                .iter()
                .map(|state| {
                    let entries = state
                        .iter()
                        .map(|(name, value)| (name.to_string(), test.shown(name, *value).into()));
                    Value::Object(entries.collect())
                })
                .collect();
            let doubt = answer.doubt(test);
            let is_answered = doubt.is_none();
            json!({
                "file": file.display().to_string(), "test": test.name, "no_answer": doubt,
                "verdict": is_answered.then(|| answer.verdict(test.quantifier)), "ok": is_answered.then(|| answer.is_ok(test.quantifier)),
                "observation": answer.is_observed().then(|| answer.observation()), "positive": answer.positive, "negative": answer.negative,
                "steps": answer.steps, "states": states, "difference": difference,
            })
        }
        Err(error) => {
            let why = match error.kind {
                ErrorKind::Unsupported => "not_modelled",
                ErrorKind::Malformed => "malformed",
                ErrorKind::TooLong => "too_long",
            };
            json!({ "file": file.display().to_string(), why: error.what, "line": error.line })
        }
    };
    json!({ "tests": files.iter().zip(outcomes).map(one).collect::<Vec<_>>() })
}
