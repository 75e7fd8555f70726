//! Laws of an answer: what a command says of one input follows from what it says of another, over
//! generated inputs.

mod cpuidle;
mod idle;
mod idle_bounds;
mod measured;
mod placement;
mod psci;
mod sweeps;
mod vpp;
mod what_if;

use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

/// The exit status of a command, and all that it prints, which runs in this process.
fn asked(arguments: &[&str]) -> (u8, String) {
    let console = console::Console::kept();
    let result = stopwatt::command(arguments.iter().map(OsString::from), &console);
    let status = result.map_or_else(
        |error| {
            console.error(&error);
            2
        },
        stopwatt::Answer::status,
    );
    let output = console.output();
    let printed = String::from_utf8_lossy(&output.printed).into_owned();
    (status, printed + &output.noted)
}

/// The same of a command that must be done.
fn said(arguments: &[&str]) -> String {
    let (status, text) = asked(arguments);
    assert_eq!(status, 0, "{arguments:?}: {text}");
    text
}

/// What it prints for machines.
fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&said(&[arguments, &["--format", "json"]].concat())).unwrap()
}

/// Writes an input file; its path.
fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The first screen of a recording in one line: its story, without the recording's name.
fn told(recording: &str) -> String {
    let text = said(&["report", recording]);
    let told = text.split("Recording: ").next().unwrap_or_default();
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first sentence of a text, and the first number behind a word of it.
fn first_number(text: &str, behind: &str) -> f64 {
    let at = text
        .find(behind)
        .unwrap_or_else(|| panic!("no `{behind}` in {text}"));
    let rest = text[at + behind.len()..].trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().unwrap()
}

/// True if a printed figure, with three digits, is a value.
fn is_printed(printed: f64, value: f64) -> bool {
    (printed - value).abs() <= 0.0051 * value.abs() + 1e-9
}
