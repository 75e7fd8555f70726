//! What all of `xtask` uses: the checkout, Cargo in it, and CPU time.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The result of a step; the error is a sentence unless another type is named.
pub type Result<T = (), E = String> = std::result::Result<T, E>;

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The arguments of a command that is written as in a shell, without quotes.
pub fn words(line: &str) -> std::str::SplitWhitespace<'_> {
    line.split_whitespace()
}

/// Cargo in the checkout, with the words of a line.
pub fn cargo(line: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words(line)).current_dir(root());
    command
}

/// Holds that each of the names that a user gave is known.
///
/// # Errors
/// One is not.
pub fn hold_known(names: &[String], what: &str, known: &[&str]) -> Result {
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(format!(
            "`{unknown}` is no {what}; there are: {}",
            known.join(", ")
        )),
    }
}

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started, or fails.
pub fn check(command: &mut Command) -> Result {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("cannot start {command:?}: {error}")),
    }
}

/// Runs cargo with a line of arguments.
///
/// # Errors
/// It cannot be started, or fails.
pub fn run_cargo(line: &str) -> Result {
    check(&mut cargo(line))
}

/// Has a command find the programs of a folder before all others.
pub fn find_first<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&paths));
    command.env("PATH", std::env::join_paths(all).unwrap_or(paths))
}

/// What a command prints, once it has come to its end.
///
/// # Errors
/// It cannot be started, or fails.
pub fn said(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// Git, in the checkout, with the words of a line: what it prints.
pub fn git(line: &str) -> Result<String> {
    said(Command::new("git").args(words(line)).current_dir(root()))
}

/// Names the file of an error.
pub fn at<E: Display>(path: &Path) -> impl Fn(E) -> String {
    move |error| format!("{}: {error}", path.display())
}

/// A file's text.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(at(path))
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result {
    std::fs::write(path, text).map_err(at(path))
}

/// Makes a folder and those above it.
pub fn create(folder: &Path) -> Result {
    std::fs::create_dir_all(folder).map_err(at(folder))
}

/// Removes a folder with all that is in it.
pub fn remove(folder: &Path) -> Result {
    std::fs::remove_dir_all(folder)
        .map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

/// Copies a file.
pub fn copy(from: &Path, to: &Path) -> Result {
    std::fs::copy(from, to)
        .map(drop)
        .map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

/// The files and folders of a folder, by name.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(at(folder))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    Ok(paths)
}

/// A TOML file of the checkout.
pub fn table(path: &Path) -> Result<toml::Table> {
    read(path)?.parse().map_err(at(path))
}

/// A program below the folder that cargo builds into.
pub fn built(program: &str) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), PathBuf::from)
        .join(program)
}

/// The CPU time of all processes that this one has started and waited for, in seconds; 0 where the
/// system does not say.
pub fn cpu_seconds_of_children() -> f64 {
    seconds_of("self", 13, 2)
}

/// The sum of fields of a process's `stat`, in seconds: `count` that are in ticks of 10 ms, behind
/// the name and `skipped` others.
pub fn seconds_of(process: &str, skipped: usize, count: usize) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name may hold anything, but ends with the last parenthesis.
    let (_, behind) = stat.rsplit_once(')').unwrap_or_default();
    behind
        .split_whitespace()
        .skip(skipped)
        .take(count)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// Tests that take long, by their names as tables have them, with the reasons: those of
/// `xtask/slow.toml` that `cargo xtask judge` runs (`judged`), or those that stay (`kept`).
pub fn slow_tests(table: &str) -> Result<Vec<(String, String)>> {
    let path = root().join("xtask/slow.toml");
    let all = self::table(&path)?;
    let table = all
        .get(table)
        .and_then(toml::Value::as_table)
        .ok_or_else(|| format!("{}: there is no [{table}]", path.display()))?;
    Ok(table
        .iter()
        .filter_map(|(name, reason)| Some((name.clone(), reason.as_str()?.to_owned())))
        .collect())
}
