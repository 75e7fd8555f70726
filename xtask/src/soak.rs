//! The forwarder for a long time: it loses nothing that no counter names, and needs no more memory
//! at the end than at the beginning.

use std::path::Path;
use std::process::Command;

/// The tests that can last: package, file of tests, test.
const TESTS: [[&str; 3]; 2] = [
    ["forwarder", "workers", "ten_thousand_route_changes"],
    ["forwarder-experiments", "namespaces", "under_full_load"],
];

/// Runs them for a number of seconds each: those that are given, or ten minutes.
pub fn run(given: &[String]) -> Result<(), String> {
    let seconds = match given {
        [] => 600,
        [text] => text.parse::<u32>().map_err(|_| format!("`{text}` is no number of seconds, such as 600"))?,
        _ => return Err("soak takes a number of seconds at most".to_owned()),
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for [package, tests, test] in TESTS {
        println!("== {package}, {tests}: {seconds} s");
        let mut command = Command::new(&cargo);
        command.args(["test", "--release", "--package", package, "--test", tests, "--", "--nocapture", test]);
        let status = command.current_dir(&root).env("STOPWATT_SOAK_SECONDS", seconds.to_string()).status();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("{package} ended with {status}")),
            Err(error) => return Err(format!("cannot start {}: {error}", cargo.display())),
        }
    }
    Ok(())
}
