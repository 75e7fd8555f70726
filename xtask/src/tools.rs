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
    let output = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// A program below the folder that cargo builds into.
pub fn built(program: &str) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join(program)
}

/// The CPU time of all processes that this one has started and waited for, in seconds; 0 where the
/// system does not say.
pub fn cpu_seconds_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may hold anything but ends with the last parenthesis: fields 16 and
    // 17, in ticks of 10 ms.
    let fields = stat.rsplit_once(')').map_or("", |(_, behind)| behind).split_whitespace().skip(13).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Tests that take long, by their names as tables have them, with the reasons: those of
/// `xtask/slow.toml` that `cargo xtask judge` runs (`judged`), or those that stay (`kept`).
pub fn slow_tests(table: &str) -> Result<Vec<(String, String)>, String> {
    let path = root().join("xtask/slow.toml");
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
    let all: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(&error))?;
    let table =
        all.get(table).and_then(toml::Value::as_table).ok_or_else(|| wrong(&format!("there is no [{table}]")))?;
    let reason = |(name, reason): (&String, &toml::Value)| Some((name.clone(), reason.as_str()?.to_owned()));
    Ok(table.iter().filter_map(reason).collect())
}
