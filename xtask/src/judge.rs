//! `cargo xtask judge` and `cargo xtask explore`: what takes long or fetches large sources, as
//! `xtask/judges.toml` lists it.

use crate::stages::LIBRARIES;
use crate::tools::{Result, cargo, hold_known, root, table};
use std::process::Command;
use std::time::Instant;

/// A long check: its name, its question, and the words of the command that answers it with its end.
struct Judge {
    name: String,
    asks: String,
    words: Vec<String>,
}

/// The judges of a list, in their order.
fn read(list: &str) -> Result<Vec<Judge>> {
    let path = root().join("xtask/judges.toml");
    let table = table(&path)?;
    let packages = LIBRARIES
        .map(|library| format!("--package {library}"))
        .join(" ");
    let judges = table
        .get(list)
        .and_then(toml::Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let judge = |judge: &toml::Value| {
        let text = |key: &str| judge.get(key)?.as_str();
        let (name, asks) = (text("name")?.to_owned(), text("asks")?.to_owned());
        let words = text("run")?
            .replace("LIBRARIES", &packages)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        Some(Judge { name, asks, words })
    };
    judges
        .iter()
        .map(|one| {
            judge(one)
                .ok_or_else(|| format!("{}: each needs `name`, `asks` and `run`", path.display()))
        })
        .collect()
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
        let (program, arguments) = judge
            .words
            .split_first()
            .ok_or_else(|| format!("{} runs nothing", judge.name))?;
        let mut command = if program == "cargo" {
            cargo("")
        } else {
            Command::new(program)
        };
        let verdict = match command.args(arguments).current_dir(root()).status() {
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
