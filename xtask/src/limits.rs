//! The limits of the house: how much code there is, how large the program is, how long builds and
//! tests take. `xtask/limits.toml` has them, and CONTRIBUTING.md shows them.

use crate::tools::{self, entries, git};
use std::path::Path;

/// Lines of a function above which it is counted.
const LONG_FUNCTION: usize = 70;

/// A limit of `xtask/limits.toml`.
struct Limit {
    name: String,
    /// The words for a reader.
    what: String,
    limit: f64,
    aim: f64,
}

/// Reads the limits.
fn read(root: &Path) -> Result<Vec<Limit>, String> {
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
        let found = what.zip(number("limit")).zip(number("aim"));
        let ((what, limit), aim) = found.ok_or_else(|| {
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
/// A value is above its limit, a limit rose and no ADR names it, or CONTRIBUTING.md shows others.
pub fn check(root: &Path, bytes: u64, seconds: Option<f64>) -> Result<(), String> {
    let (lines, long) = count(root)?;
    println!(
        "{} functions have more than {LONG_FUNCTION} lines",
        long.len()
    );
    let mut wrong = Vec::new();
    let limits = read(root)?;
    for limit in &limits {
        let value = match limit.name.as_str() {
            "lines" => Some(lines as f64),
            "program-bytes" => Some(bytes as f64),
            "long-functions" => Some(long.len() as f64),
            "release-seconds" => seconds,
            _ => None,
        };
        wrong.extend(value.and_then(|value| held(limit, value)));
        if limit.name == "long-functions" && long.len() as f64 > limit.limit {
            wrong.extend(long.iter().cloned());
        }
    }
    wrong.extend(shown(root, &limits)?);
    wrong.extend(raised(root, &limits)?);
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
pub fn tell_seconds(root: &Path, name: &str, seconds: f64) -> Result<(), String> {
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

/// Lines of product code, and the functions of more than [`LONG_FUNCTION`] lines, by file and line.
fn count(root: &Path) -> Result<(usize, Vec<String>), String> {
    let listed = git(&["ls-files", "*.rs"])?;
    let is_product = |name: &&str| {
        !["/tests/", "/benches/", "/examples/"]
            .iter()
            .any(|folder| name.contains(folder))
    };
    let (mut lines, mut long) = (0, Vec::new());
    for name in listed
        .lines()
        .filter(is_product)
        .filter(|name| root.join(name).exists())
    {
        let text = tools::read(&root.join(name))?;
        let tests = text
            .find("\n#[cfg(test)]\nmod tests")
            .or_else(|| text.find("\n#[cfg(test)]\npub(crate) mod tests"));
        let product = &text[..tests.unwrap_or(text.len())];
        lines += product
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("//"))
            .count();
        long.extend(
            long_functions(product)
                .into_iter()
                .map(|(line, length)| format!("{name}:{line}: {length} lines")),
        );
    }
    Ok((lines, long))
}

/// The functions that are too long: the line at which each begins, and its lines. In rustfmt's form
/// a function ends at the first closing brace that stands as far in as its `fn`.
fn long_functions(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let indent = line.len() - line.trim_start().len();
        let is_function = line
            .trim_start()
            .split(' ')
            .take_while(|word| !word.contains('('))
            .any(|word| word == "fn")
            && !line.trim_start().starts_with("//");
        if is_function && !line.ends_with(['}', ';']) {
            open.push((indent, number));
        } else if line.trim() == "}"
            && let Some(&(_, begin)) = open.last().filter(|(of, _)| *of == indent)
        {
            open.pop();
            if number - begin + 1 > LONG_FUNCTION {
                found.push((begin, number - begin + 1));
            }
        }
        // A declaration without a body, over several lines, ends with a semicolon.
        if line.trim_end().ends_with(");")
            && open
                .last()
                .is_some_and(|(of, begin)| *of == indent && *begin < number)
        {
            open.pop();
        }
    }
    found
}

/// The limits as CONTRIBUTING.md shows them.
fn table(limits: &[Limit]) -> String {
    let row = |limit: &Limit| {
        format!(
            "| {} | {:.0} | {:.0} |\n",
            limit.what, limit.limit, limit.aim
        )
    };
    format!(
        "| figure | limit | aim |\n| ------ | ----- | --- |\n{}",
        limits.iter().map(row).collect::<String>()
    )
}

/// A complaint if CONTRIBUTING.md shows other limits.
fn shown(root: &Path, limits: &[Limit]) -> Result<Option<String>, String> {
    let text = tools::read(&root.join("CONTRIBUTING.md"))?;
    let wanted = table(limits);
    let wrong = || {
        format!("CONTRIBUTING.md does not show the limits as xtask/limits.toml has them:\n{wanted}")
    };
    Ok((!text.contains(&wanted)).then(wrong))
}

/// Complaints about limits that are above what they once were, unless a decision names the figure.
fn raised(root: &Path, limits: &[Limit]) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for commit in git(&["log", "--format=%H", "--", "xtask/limits.toml"])?.lines() {
        let Ok(text) = git(&["show", &format!("{commit}:xtask/limits.toml")]) else {
            continue;
        };
        let Ok(table) = text.parse::<toml::Table>() else {
            continue;
        };
        for limit in limits {
            let before = table
                .get(&limit.name)
                .and_then(|value| value.get("limit")?.as_integer());
            if before.is_some_and(|before| (before as f64) < limit.limit)
                && !is_decided(root, limit)?
            {
                let before = before.unwrap_or_default();
                wrong.push(format!(
                    "{}: the limit was {before}; an ADR that names {:.0} may raise it",
                    limit.what, limit.limit
                ));
            }
        }
    }
    wrong.dedup();
    Ok(wrong)
}

/// True if a decision names a limit and its figure.
fn is_decided(root: &Path, limit: &Limit) -> Result<bool, String> {
    let mut texts = entries(&root.join("docs/adr"))?
        .into_iter()
        .filter_map(|path| tools::read(&path).ok());
    let figure = format!("{:.0}", limit.limit);
    Ok(texts.any(|text| text.contains(&limit.name) && text.contains(&figure)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_functions_are_found_and_declarations_and_short_ones_are_not() {
        let body = |lines: usize| "        work();\n".repeat(lines);
        let text = format!(
            "trait A {{\n    fn declared(\n        a: u8,\n    );\n}}\nimpl B {{\n    pub fn long() {{\n{}    }}\n    fn short() {{\n{}    }}\n}}\n",
            body(69),
            body(68)
        );
        assert_eq!(long_functions(&text), [(7, 71)]);
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
