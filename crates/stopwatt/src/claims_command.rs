//! `stopwatt claims`: what published documents state, line by line, and whether it holds here.

use crate::Answer;
use crate::data::Data;
use crate::output::Format;
use console::Console;
use itertools::Itertools;
use miette::{IntoDiagnostic, Result, WrapErr, bail};
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

/// A document by its name.
type Named = (String, Claims);

/// What the commands of a document print today, or why one prints nothing.
type Printed<'c> = BTreeMap<&'c str, Result<Value, String>>;

/// Prints the statements that were asked for, and checks them.
pub fn run(console: &Console, data: &Data, options: &ClaimsOptions) -> Result<Answer> {
    let files = data.claims();
    let names = Claims::names(&files)?;
    let chosen = match &options.document {
        Some(name) if !names.contains(name) => {
            bail!(
                help = format!("name one of {}", names.join(", ")),
                "there is no document `{name}`"
            );
        }
        Some(name) => vec![name.clone()],
        None => names,
    };
    let documents: Vec<Named> = chosen
        .into_iter()
        .map(|name| Ok((name.clone(), Claims::read(&files, &name)?)))
        .collect::<Result<_>>()?;
    let failures = if options.check {
        check(console, data, &documents, options.long)?
    } else {
        Vec::new()
    };
    options.format.print(
        console,
        || as_json(&documents, &failures),
        || documents.iter().map(|of| as_text(of, options)).collect(),
    )?;
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
) -> Result<Vec<String>> {
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

/// The statements by verdict: "42 agree".
fn counts(document: &Claims) -> String {
    document
        .claims
        .iter()
        .counts_by(|claim| claim.verdict)
        .into_iter()
        .sorted()
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

/// The verdict with its figure, of a number some digits, and its reason.
fn came_to(claim: &Claim) -> String {
    let mut told = claim.verdict.name().to_owned();
    match &claim.figure {
        Some(Value::Number(number)) if number.is_f64() => {
            told += &format!(", {}", report::figure(number.as_f64().unwrap_or_default()));
        }
        Some(Value::String(text)) => told += &format!(", {text}"),
        Some(other) => told += &format!(", {other}"),
        None => {}
    }
    if claim.figure.is_some() && !claim.unit.is_empty() {
        told += &format!(" {}", claim.unit);
    }
    if !claim.why.is_empty() {
        told += &format!(": {}", claim.why);
    }
    told
}

fn as_json(documents: &[Named], failures: &[String]) -> Value {
    let claim = |document: &Claims, claim: &Claim| {
        json!({
            "place": claim.place, "says": claim.says, "verdict": claim.verdict.name(), "figure": claim.figure,
            "unit": claim.unit, "why": claim.why, "command": document.command(claim).map(|shown| &shown.run),
        })
    };
    json!({ "documents": documents.iter().map(|(name, of)| {
        json!({
            "name": name, "title": of.title, "source": of.source,
            "claims": of.claims.iter().map(|one| claim(of, one)).collect_vec(),
        })
    }).collect_vec(), "failures": failures })
}
