//! `stopwatt claims`: what published documents state, line by line, and whether it holds here.

use crate::Answer;
use crate::data::Data;
use crate::output;
use console::Console;
use itertools::Itertools;
use miette::{IntoDiagnostic, WrapErr, miette};
use published::claims::{Claim, Claims, Shown};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Options of `claims`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  stopwatt claims
  stopwatt claims psci-2017
  stopwatt claims psci-2017 --check")]
pub struct ClaimsOptions {
    /// The document; without one all are listed.
    #[arg(value_name = "DOCUMENT")]
    document: Option<String>,
    /// Run the commands, and compare each figure and each verdict with what they print today; exit
    /// status 1 if one no longer holds.
    #[arg(long)]
    check: bool,
    /// With --check: the commands that take longer than 3 s as well.
    #[arg(long, requires = "check")]
    long: bool,
    /// The way to print the statements.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// A way to print statements.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Lines for people.
    Term,
    /// A table of a page.
    Markdown,
    /// For machines.
    Json,
}

/// A document by its name.
type Named = (String, Claims);

/// What the commands of a document print today, or why one prints nothing.
type Printed<'c> = BTreeMap<&'c str, Result<Value, String>>;

/// Prints the statements that were asked for, and checks them.
pub fn run(console: &Console, data: &Data, options: &ClaimsOptions) -> miette::Result<Answer> {
    let files = data.claims();
    let names = Claims::names(&files)?;
    let chosen = match &options.document {
        Some(name) if !names.contains(name) => {
            return Err(miette!(
                help = format!("name one of {}", names.join(", ")),
                "there is no document `{name}`"
            ));
        }
        Some(name) => vec![name.clone()],
        None => names,
    };
    let read = |name: String| Ok((name.clone(), Claims::read(&files, &name)?));
    let documents: Vec<Named> = chosen
        .into_iter()
        .map(read)
        .collect::<miette::Result<_>>()?;
    let failures = if options.check {
        check(console, data, &documents, options.long)?
    } else {
        Vec::new()
    };
    match options.format {
        Format::Json => output::print_json(console, &as_json(&documents, &failures))?,
        Format::Markdown => {
            let pages = documents.iter().map(|(_, of)| as_markdown(of));
            console.print(pages.collect_vec().concat().as_bytes())?;
        }
        Format::Term => {
            let lines = documents.iter().map(|of| as_text(of, options));
            output::print_text(console, &lines.collect_vec().concat())?;
        }
    }
    for failure in &failures {
        console.note(failure);
    }
    Ok(if failures.is_empty() {
        Answer::Yes
    } else {
        Answer::No
    })
}

/// Runs the commands of some documents, each once, and returns a sentence for each statement that no
/// longer holds.
fn check(
    console: &Console,
    data: &Data,
    documents: &[Named],
    with_long: bool,
) -> miette::Result<Vec<String>> {
    let folder = tempfile::tempdir()
        .into_diagnostic()
        .wrap_err("cannot make a folder for the recordings")?;
    let mut failures = Vec::new();
    for (name, document) in documents {
        let mut printed = Printed::new();
        for claim in &document.claims {
            let Some(shown) = document.command(claim) else {
                continue;
            };
            if shown.is_long && !with_long {
                continue;
            }
            let output = printed.entry(&shown.run).or_insert_with(|| {
                console.tell(&shown.run);
                shows(shown, data, folder.path())
            });
            let checked = match output {
                Ok(output) => claim.check(output).map(drop),
                Err(why) => Err(why.clone()),
            };
            if let Err(why) = checked {
                failures.push(format!(
                    "{name}, {}: {} {why} (`{}`)",
                    claim.place, claim.says, shown.run
                ));
            }
        }
    }
    Ok(failures)
}

/// What a command prints for machines, the last of several things; its recordings go to a folder.
fn shows(shown: &Shown, data: &Data, folder: &Path) -> Result<Value, String> {
    let words = |error: std::io::Error| error.to_string();
    let own = std::env::current_exe().map_err(words)?;
    let mut path = OsString::from(own.parent().unwrap_or(Path::new(".")));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command
        .args(["-c", &shown.run])
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .current_dir(folder)
        .stdin(Stdio::null());
    if let Ok(folder) = data.folder() {
        command.env("STOPWATT_DATA", folder);
    }
    let output = command.output().map_err(words)?;
    let last = serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter()
        .last();
    match last {
        Some(Ok(value)) => Ok(value),
        _ => Err(format!(
            "its command prints no JSON: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// A figure with its unit, of a number some digits, behind a comma.
fn figure(claim: &Claim) -> Option<String> {
    let number = |value: &Value| match value {
        Value::Number(number) if number.is_f64() => {
            report::figure(number.as_f64().unwrap_or_default()).to_string()
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let figure = claim.figure.as_ref().map(number);
    figure.map(|figure| format!(", {figure} {}", claim.unit).trim_end().to_owned())
}

/// The statements by verdict: "42 agree".
fn counts(document: &Claims) -> String {
    let counts = document.claims.iter().counts_by(|claim| claim.verdict);
    let sorted = counts.into_iter().sorted();
    sorted
        .map(|(verdict, count)| format!("{} {count}", verdict.name()))
        .join(", ")
}

fn as_text((name, document): &Named, options: &ClaimsOptions) -> String {
    let mut out = format!("{name}: {}\n  {}\n", document.title, counts(document));
    if options.document.is_none() {
        return out;
    }
    let mut place = "";
    for claim in &document.claims {
        if std::mem::replace(&mut place, &claim.place) != claim.place {
            let _ = writeln!(out, "\n{place}");
        }
        let _ = writeln!(out, "  {}\n    {}", claim.says, came_to(claim));
        if let Some(shown) = document.command(claim) {
            let _ = writeln!(out, "    {}", shown.run);
        }
    }
    out
}

/// The verdict with its figure and its reason.
fn came_to(claim: &Claim) -> String {
    let why = Some(&claim.why).filter(|why| !why.is_empty());
    let why = why.map(|why| format!(": {why}"));
    format!(
        "{}{}{}",
        claim.verdict.name(),
        figure(claim).unwrap_or_default(),
        why.unwrap_or_default()
    )
}

fn as_markdown(document: &Claims) -> String {
    let mut out = format!(
        "## {}\n\n{}\n\n| place | statement | what came of it | command |\n|---|---|---|---|\n",
        document.title, document.source
    );
    for claim in &document.claims {
        let shown = document.command(claim);
        let by = shown.map(|shown| format!("`{}`", shown.run));
        let cells = [
            claim.place.clone(),
            claim.says.clone(),
            came_to(claim),
            by.unwrap_or_default(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out + "\n"
}

fn as_json(documents: &[Named], failures: &[String]) -> Value {
    let claim = |document: &Claims, claim: &Claim| {
        json!({
            "place": claim.place, "says": claim.says, "verdict": claim.verdict.name(), "figure": claim.figure,
            "unit": claim.unit, "why": claim.why, "command": document.command(claim).map(|shown| &shown.run),
        })
    };
    let document = |(name, of): &Named| {
        json!({
            "name": name, "title": of.title, "source": of.source,
            "claims": of.claims.iter().map(|one| claim(of, one)).collect_vec(),
        })
    };
    json!({ "documents": documents.iter().map(document).collect_vec(), "failures": failures })
}
