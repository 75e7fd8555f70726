//! The limits of the house: what code and documents weigh, how large the program is, how long builds
//! and tests take. `xtask/limits.toml` has them, and CONTRIBUTING.md shows them.

use crate::tools::{self, Result, git};
use crate::weight::weigh;
use std::collections::BTreeSet;
use std::path::Path;

/// A limit of `xtask/limits.toml`.
struct Limit {
    name: String,
    /// The words for a reader.
    what: String,
    limit: f64,
    aim: f64,
}

/// Reads the limits.
fn read(root: &Path) -> Result<Vec<Limit>> {
    let path = root.join("xtask/limits.toml");
    let table = tools::table(&path)?;
    let limit = |(name, value): (String, toml::Value)| {
        let number = |key: &str| {
            value
                .get(key)
                .and_then(|value| value.as_integer().map(|value| value as f64))
        };
        let what = value
            .get("what")
            .and_then(toml::Value::as_str)
            .map(str::to_owned);
        let ((what, limit), aim) =
            what.zip(number("limit"))
                .zip(number("aim"))
                .ok_or_else(|| {
                    format!(
                        "{}: [{name}] needs `what`, `limit` and `aim`",
                        path.display()
                    )
                })?;
        Ok(Limit {
            name,
            what,
            limit,
            aim,
        })
    };
    table.into_iter().map(limit).collect()
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
    for limit in &limits {
        let value = match limit.name.as_str() {
            "rust-tokens" => weight.rust,
            "explorer-tokens" => weight.explorer,
            "python-tokens" => weight.python,
            "c-tokens" => weight.c,
            "script-tokens" => weight.script,
            "document-words" => weight.words,
            "program-bytes" => bytes as usize,
            "release-seconds" => {
                wrong.extend(seconds.and_then(|seconds| held(limit, seconds)));
                continue;
            }
            _ => continue,
        };
        wrong.extend(held(limit, value as f64));
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
        .iter()
        .find(|limit| limit.name == name)
        .ok_or_else(|| format!("limits.toml has no [{name}]"))?;
    held(limit, seconds);
    Ok(())
}

/// Prints a value beside its limit; the complaint if it is above. Seconds are no complaint: a busy
/// or slow machine takes twice as many, and `cargo xtask judge build` compares in turn.
fn held(limit: &Limit, value: f64) -> Option<String> {
    println!(
        "{value:.0} now; the limit is {:.0} and the aim {:.0}: {}",
        limit.limit, limit.aim, limit.what
    );
    let is_above = value > limit.limit;
    if is_above && limit.name.ends_with("-seconds") {
        println!(
            "  above the limit: the machine is busy or slow, or a change costs as much; `cargo xtask judge build` tells"
        );
        return None;
    }
    is_above.then(|| {
        format!(
            "{}: {value:.0} is above the limit of {:.0}",
            limit.what, limit.limit
        )
    })
}

/// The limits as CONTRIBUTING.md shows them.
fn table(limits: &[Limit]) -> String {
    format!(
        "| figure | limit | aim |\n| ------ | ----- | --- |\n{}",
        limits
            .iter()
            .map(|limit| {
                format!(
                    "| {} | {:.0} | {:.0} |\n",
                    limit.what, limit.limit, limit.aim
                )
            })
            .collect::<String>()
    )
}

/// A complaint if CONTRIBUTING.md shows other limits.
fn shown(root: &Path, limits: &[Limit]) -> Result<Option<String>> {
    let text = tools::read(&root.join("CONTRIBUTING.md"))?;
    let wanted = table(limits);
    Ok((!text.contains(&wanted)).then(|| {
        format!("CONTRIBUTING.md does not show the limits as xtask/limits.toml has them:\n{wanted}")
    }))
}

/// The limit whose appearance in `limits.toml` began the history that counts.
const FIRST: &str = "rust-tokens";

/// Complaints about limits that an earlier commit had lower, or had at all.
fn raised(limits: &[Limit]) -> Result<Vec<String>> {
    let log = git("log --format=%H -- xtask/limits.toml")?;
    let texts = log
        .lines()
        .filter_map(|commit| git(&format!("show {commit}:xtask/limits.toml")).ok());
    let wrong: BTreeSet<_> = texts.flat_map(|text| rose(limits, &text)).collect();
    Ok(wrong.into_iter().collect())
}

/// Complaints about limits that are above those of an earlier commit's text, or are gone.
fn rose(limits: &[Limit], before: &str) -> Vec<String> {
    let table: toml::Table = before.parse().unwrap_or_default();
    if !table.contains_key(FIRST) {
        return Vec::new();
    }
    let limit_of = |name: &str| limits.iter().find(|limit| limit.name == *name);
    let complaint = |(name, value): (&String, &toml::Value)| {
        let before = value.get("limit")?.as_integer()?;
        match limit_of(name) {
            None => Some(format!("{name}: the limit of {before} is gone")),
            Some(limit) if limit.limit > before as f64 => Some(format!(
                "{}: the limit was {before} and is {:.0}; a limit only falls",
                limit.what, limit.limit
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
        let limits = [Limit {
            name: FIRST.to_owned(),
            what: "tokens".to_owned(),
            limit: 100.0,
            aim: 90.0,
        }];
        let rose = |text: &str| rose(&limits, text).len();
        assert_eq!(rose("[rust-tokens]\nlimit = 99"), 1);
        assert_eq!(rose("[rust-tokens]\nlimit = 100"), 0);
        assert_eq!(rose("[rust-tokens]\nlimit = 100\n[other]\nlimit = 1"), 1);
        assert_eq!(rose("[other]\nlimit = 1"), 0, "before this history began");
    }

    #[test]
    fn a_value_above_a_limit_is_a_complaint_and_seconds_are_none() {
        let limit = |name: &str| Limit {
            name: name.to_owned(),
            what: "it".to_owned(),
            limit: 100.0,
            aim: 90.0,
        };
        assert!(held(&limit("lines"), 101.0).is_some() && held(&limit("lines"), 100.0).is_none());
        assert!(held(&limit("quick-seconds"), 1000.0).is_none());
    }
}
