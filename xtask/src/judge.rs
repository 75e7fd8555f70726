//! `cargo xtask judge` and `cargo xtask explore`: what takes long or fetches large sources, as
//! `xtask/judges.toml` lists it.

use crate::stages::LIBRARIES;
use crate::tools::{Result, at, cargo, hold_known, root, table, words};
use serde::Deserialize;
use std::process::Command;
use std::time::Instant;

/// A long check.
#[derive(Deserialize)]
struct Judge {
    name: String,
    /// Its question.
    asks: String,
    /// The words of the command that answers it with its end.
    run: String,
}

/// The judges of a list, in their order.
fn read(list: &str) -> Result<Vec<Judge>> {
    let path = root().join("xtask/judges.toml");
    table(&path)?
        .remove(list)
        .map_or(Ok(Vec::new()), toml::Value::try_into)
        .map_err(at(&path))
}

/// Runs the named judges of a list, or all, and prints a table of verdicts.
///
/// # Errors
/// A judge is unknown, or one of those that ran said no.
pub fn run(list: &str, names: &[String]) -> Result {
    let judges = read(list)?;
    let known: Vec<&str> = judges.iter().map(|judge| judge.name.as_str()).collect();
    hold_known(names, "judge", &known)?;
    let mut verdicts = Vec::new();
    for judge in judges
        .iter()
        .filter(|judge| names.is_empty() || names.contains(&judge.name))
    {
        println!("== {}: {}", judge.name, judge.asks);
        let begin = Instant::now();
        let packages = LIBRARIES.map(|library| format!("--package {library}"));
        let line = judge.run.replace("LIBRARIES", &packages.join(" "));
        let mut words = words(&line);
        let program = words
            .next()
            .ok_or_else(|| format!("{} runs nothing", judge.name))?;
        let mut command = if program == "cargo" {
            cargo("")
        } else {
            Command::new(program)
        };
        let verdict = match command.args(words).current_dir(root()).status() {
            Ok(status) if status.success() => "yes".to_owned(),
            Ok(status) => format!("no ({status})"),
            Err(error) => format!("not run: {error}"),
        };
        verdicts.push((judge, verdict, begin.elapsed().as_secs_f64()));
    }
    println!("{:10} {:>8} {:24} question", "judge", "seconds", "verdict");
    for (judge, verdict, seconds) in &verdicts {
        println!(
            "{:10} {seconds:8.0} {verdict:24} {}",
            judge.name, judge.asks
        );
    }
    let against = verdicts
        .iter()
        .filter(|(_, verdict, _)| verdict != "yes")
        .count();
    if against == 0 {
        Ok(())
    } else {
        Err(format!("{against} of {} did not say yes", verdicts.len()))
    }
}
