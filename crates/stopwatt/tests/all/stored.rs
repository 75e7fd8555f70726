//! What an earlier version left and printed: recordings that are read for ever, keys of JSON and
//! options that stay. `docs/stability.md` says what may change, and how.

use crate::common::{root, stopwatt};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn stored() -> PathBuf {
    root().join("crates/stopwatt/tests/stored/0.1")
}

/// The folders of recordings and data sets, by name.
fn recordings() -> Vec<PathBuf> {
    let entries = fs::read_dir(stored().join("recordings")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// The keys of a value, each with the kind of its value; a list has those of all its members. A key
/// that differs from recording to recording is one of a map, whose values have numbers.
fn keys(at: &str, value: &Value, found: &mut BTreeSet<String>) {
    let kind = match value {
        // It may be there another time.
        Value::Null => return,
        Value::Bool(_) => "true or false",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    found.insert(format!("{at}: {kind}"));
    match value {
        Value::Array(members) => members
            .iter()
            .for_each(|member| keys(&format!("{at}[]"), member, found)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, field)| keys(&format!("{at}.{key}"), field, found)),
        _ => {}
    }
}

fn json(arguments: &[&str]) -> Value {
    let output = stopwatt(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0 | 1 | 3)),
        "{arguments:?}: {said}"
    );
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// What is printed of the stored recordings today, by key.
fn printed() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for folder in recordings() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        keys(
            &format!("report {name}"),
            &json(&["report", folder.to_str().unwrap(), "--format", "json"]),
            &mut found,
        );
    }
    let latency = stored().join("recordings/psci-latency");
    let of = |release: &str| format!("{}@{release}", latency.display());
    let compared = json(&[
        "compare",
        &of("juno-v2.11"),
        &of("juno-v2.12"),
        "--format",
        "json",
    ]);
    keys("compare psci-latency", &compared, &mut found);
    let sweep = stored().join("recordings/sweep");
    assert!(json(&["report", sweep.to_str().unwrap(), "--format", "json"]).is_object());
    let what_if = [
        "what-if",
        "psci-latency",
        "--vary",
        "scp.channels=1,2",
        "--free-seeds",
        "2",
        "--format",
        "json",
    ];
    keys("what-if sweep", &json(&what_if), &mut found);
    found
}

/// The lines of a stored list that are not among today's.
fn gone(list: &Path, today: &BTreeSet<String>) -> Vec<String> {
    if std::env::var_os("STOPWATT_STORE").is_some() {
        let lines: Vec<&str> = today.iter().map(String::as_str).collect();
        fs::write(list, lines.join("\n") + "\n").unwrap();
    }
    let text = fs::read_to_string(list).unwrap();
    text.lines()
        .filter(|line| !today.contains(*line))
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_earlier_versions_recordings_are_read_and_their_json_has_all_its_keys() {
    assert!(recordings().len() > 5);
    let gone = gone(&stored().join("keys.txt"), &printed());
    assert!(
        gone.is_empty(),
        "the JSON lacks what version 0.1 printed:\n{}",
        gone.join("\n")
    );
}

#[test]
fn an_earlier_versions_recordings_are_told_in_every_form() {
    for folder in recordings() {
        for form in ["term", "markdown", "html", "csv"] {
            let output = stopwatt(&["report", folder.to_str().unwrap(), "--format", form]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && !output.stdout.is_empty(),
                "{} as {form}: {said}",
                folder.display()
            );
        }
    }
}

/// The commands below one, with the options of each.
fn options(command: &[&str], found: &mut BTreeSet<String>) {
    let output = stopwatt(&[command, &["--help"]].concat());
    let help = String::from_utf8(output.stdout).unwrap();
    let name = command.join(" ");
    for line in help
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-'))
    {
        let long = line
            .split([' ', ',', '='])
            .find(|word| word.starts_with("--"));
        found.extend(long.map(|long| format!("{name} {long}")));
    }
    let listed = help.split("\nCommands:\n").nth(1).into_iter();
    let listed = listed.flat_map(|rest| rest.lines().take_while(|line| !line.is_empty()));
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for below in names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
    {
        options(&[command, &[below]].concat(), found);
    }
}

#[test]
fn an_earlier_versions_commands_and_options_are_there() {
    let mut found = BTreeSet::new();
    let commands = [
        "run", "what-if", "sweep", "capture", "tune", "count", "payload", "explore", "report",
        "list",
    ];
    let more = [
        "doctor",
        "compare",
        "import",
        "calibrate",
        "calibrate-prefetch",
        "calibrate-core",
        "completions",
        "man",
    ];
    for command in commands.iter().chain(&more) {
        options(&[command], &mut found);
    }
    let gone = gone(&stored().join("options.txt"), &found);
    assert!(
        found.len() > 100 && gone.is_empty(),
        "options of version 0.1 are gone:\n{}",
        gone.join("\n")
    );
}
