//! The limits of the house: what code and documents weigh, how large the program is, how long builds
//! and tests take. `xtask/limits.toml` has them, and CONTRIBUTING.md shows them.

use crate::tools::{self, Result, at, git};
use crate::weight::weigh;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A limit of `xtask/limits.toml`.
#[derive(Deserialize)]
struct Limit {
    /// The words for a reader.
    what: String,
    limit: u64,
    aim: u64,
}

/// Limits by name.
type Limits = BTreeMap<String, Limit>;

/// Reads the limits.
fn read(root: &Path) -> Result<Limits> {
    let path = root.join("xtask/limits.toml");
    tools::table(&path)?.try_into().map_err(at(&path))
}

/// Holds the source and a program of `bytes`, built from nothing in `seconds` of CPU time if that
/// is known, to the limits, and prints each value beside its limit.
///
/// # Errors
/// A value is above its limit, a limit rose, or CONTRIBUTING.md shows others.
pub fn check(root: &Path, bytes: u64, seconds: Option<f64>) -> Result {
    let weight = weigh(root)?;
    let mut wrong = Vec::new();
    let limits = read(root)?;
    for (name, limit) in &limits {
        let value = match name.as_str() {
            "rust-tokens" => weight.rust,
            "explorer-tokens" => weight.explorer,
            "python-tokens" => weight.python,
            "c-tokens" => weight.c,
            "script-tokens" => weight.script,
            "document-words" => weight.words,
            "program-bytes" => bytes as usize,
            "release-seconds" => {
                wrong.extend(seconds.and_then(|seconds| held(name, limit, seconds)));
                continue;
            }
            _ => continue,
        };
        wrong.extend(held(name, limit, value as f64));
    }
    wrong.extend(shown(root, &limits)?);
    wrong.extend(raised(&limits)?);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// Tells the CPU seconds of `quick` or of `test` beside their limit.
///
/// # Errors
/// There is no such limit.
pub fn tell_seconds(root: &Path, name: &str, seconds: f64) -> Result {
    let limits = read(root)?;
    let limit = limits
        .get(name)
        .ok_or_else(|| format!("limits.toml has no [{name}]"))?;
    held(name, limit, seconds);
    Ok(())
}

/// Prints a value beside its limit; the complaint if it is above. Seconds are no complaint: a busy
/// or slow machine takes twice as many, and `cargo xtask judge build` compares in turn.
fn held(name: &str, Limit { what, limit, aim }: &Limit, value: f64) -> Option<String> {
    println!("{value:.0} now; the limit is {limit} and the aim {aim}: {what}");
    let is_above = value > *limit as f64;
    if is_above && name.ends_with("-seconds") {
        println!(
            "  above the limit: the machine is busy or slow, or a change costs as much; `cargo xtask judge build` tells"
        );
        return None;
    }
    is_above.then(|| format!("{what}: {value:.0} is above the limit of {limit}"))
}

/// The limits as CONTRIBUTING.md shows them.
fn table(limits: &Limits) -> String {
    let rows = limits
        .values()
        .map(|Limit { what, limit, aim }| format!("| {what} | {limit} | {aim} |\n"));
    format!(
        "| figure | limit | aim |\n| ------ | ----- | --- |\n{}",
        rows.collect::<String>()
    )
}

/// A complaint if CONTRIBUTING.md shows other limits.
fn shown(root: &Path, limits: &Limits) -> Result<Option<String>> {
    let text = tools::read(&root.join("CONTRIBUTING.md"))?;
    let wanted = table(limits);
    Ok((!text.contains(&wanted)).then(|| {
        format!("CONTRIBUTING.md does not show the limits as xtask/limits.toml has them:\n{wanted}")
    }))
}

/// The limit whose appearance in `limits.toml` began the history that counts.
const FIRST: &str = "rust-tokens";

/// Complaints about limits that an earlier commit had lower, or had at all.
fn raised(limits: &Limits) -> Result<Vec<String>> {
    let log = git("log --format=%H -- xtask/limits.toml")?;
    let texts = log
        .lines()
        .filter_map(|commit| git(&format!("show {commit}:xtask/limits.toml")).ok());
    let wrong: BTreeSet<_> = texts.flat_map(|text| rose(limits, &text)).collect();
    Ok(wrong.into_iter().collect())
}

/// Complaints about limits that are above those of an earlier commit's text, or are gone.
fn rose(limits: &Limits, before: &str) -> Vec<String> {
    let table: toml::Table = before.parse().unwrap_or_default();
    if !table.contains_key(FIRST) {
        return Vec::new();
    }
    let complaint = |(name, value): (&String, &toml::Value)| {
        let before = value.get("limit")?.as_integer()?;
        match limits.get(name) {
            None => Some(format!("{name}: the limit of {before} is gone")),
            Some(Limit { what, limit, .. }) if *limit as i64 > before => Some(format!(
                "{what}: the limit was {before} and is {limit}; a limit only falls"
            )),
            Some(_) => None,
        }
    };
    table.iter().filter_map(complaint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_rose_or_is_gone_is_a_complaint_and_one_that_fell_is_none() {
        let limit = Limit {
            what: "tokens".to_owned(),
            limit: 100,
            aim: 90,
        };
        let limits = Limits::from([(FIRST.to_owned(), limit)]);
        let rose = |text: &str| rose(&limits, text).len();
        assert_eq!(rose("[rust-tokens]\nlimit = 99"), 1);
        assert_eq!(rose("[rust-tokens]\nlimit = 100"), 0);
        assert_eq!(rose("[rust-tokens]\nlimit = 100\n[other]\nlimit = 1"), 1);
        assert_eq!(rose("[other]\nlimit = 1"), 0, "before this history began");
    }

    #[test]
    fn a_value_above_a_limit_is_a_complaint_and_seconds_are_none() {
        let limit = Limit {
            what: "it".to_owned(),
            limit: 100,
            aim: 90,
        };
        let held = |name: &str, value| held(name, &limit, value);
        assert!(held("lines", 101.0).is_some() && held("lines", 100.0).is_none());
        assert!(held("quick-seconds", 1000.0).is_none());
    }
}
