//! What all of `xtask` uses: the checkout, Cargo in it, and CPU time.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Cargo, in the checkout.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started, or fails.
pub fn check(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("cannot start {command:?}: {error}")),
    }
}

/// What a command prints, once it has come to its end.
///
/// # Errors
/// It cannot be started, or fails.
pub fn said(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("cannot start {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// Git, in the checkout: what it prints.
pub fn git(arguments: &[&str]) -> Result<String, String> {
    said(Command::new("git").args(arguments).current_dir(root()))
}

/// A file's text.
pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Makes a folder and those above it.
pub fn create(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Copies a file.
pub fn copy(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::copy(from, to)
        .map(drop)
        .map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

/// The files and folders of a folder, by name.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    Ok(paths)
}

/// A TOML file of the checkout.
pub fn table(path: &Path) -> Result<toml::Table, String> {
    read(path)?
        .parse()
        .map_err(|error| format!("{}: {error}", path.display()))
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
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may hold anything but ends with the last parenthesis: fields 16 and
    // 17, in ticks of 10 ms.
    let fields = stat
        .rsplit_once(')')
        .map_or("", |(_, behind)| behind)
        .split_whitespace()
        .skip(13)
        .take(2);
    fields
        .filter_map(|field| field.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// Tests that take long, by their names as tables have them, with the reasons: those of
/// `xtask/slow.toml` that `cargo xtask judge` runs (`judged`), or those that stay (`kept`).
pub fn slow_tests(table: &str) -> Result<Vec<(String, String)>, String> {
    let path = root().join("xtask/slow.toml");
    let all = self::table(&path)?;
    let missing = || format!("{}: there is no [{table}]", path.display());
    let table = all
        .get(table)
        .and_then(toml::Value::as_table)
        .ok_or_else(missing)?;
    let reason =
        |(name, reason): (&String, &toml::Value)| Some((name.clone(), reason.as_str()?.to_owned()));
    Ok(table.iter().filter_map(reason).collect())
}
