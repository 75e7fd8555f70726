//! Narrow terminals: no line that a command prints is wider than COLUMNS says, but for words that
//! cannot be broken.

use crate::common::root;
use std::path::Path;
use std::process::Command;

/// Runs a command in a terminal of `columns` and returns the lines that are wider, with the
/// command.
fn too_wide(columns: usize, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_stopwatt"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .env("COLUMNS", columns.to_string())
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.code().is_some_and(|code| code != 2),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.is_empty(), "{arguments:?} prints nothing");
    // A word that is too long by itself, such as a path, cannot be helped.
    let is_one_word = |line: &str| line.split_whitespace().count() == 1;
    let wide = |line: &&str| line.chars().count() > columns && !is_one_word(line);
    text.lines()
        .filter(wide)
        .map(|line| format!("{columns}, {}: {line}", arguments.join(" ")))
        .collect()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (first, second, placement, idle, strides) =
        (place("a"), place("b"), place("p"), place("i"), place("s"));
    let trace = "crates/record/import/data/guest.trace";
    let few = ["--iterations", "3", "--free-seeds", "2"];
    let mut wide = Vec::new();
    for columns in [60, 80] {
        let mut run = |arguments: &[&str]| wide.extend(too_wide(columns, arguments));
        run(&["list"]);
        let latency = ["run", "psci-latency", "--platform", "juno-r1", "--replace"];
        run(&[
            &latency[..],
            &few,
            &["--release", "juno-v2.11", "-o", &first],
        ]
        .concat());
        run(&[
            &latency[..],
            &few,
            &["--release", "juno-v2.12", "-o", &second],
        ]
        .concat());
        run(&["report", &first]);
        run(&["compare", &first, &second, "--all"]);
        for second in [
            "topology.clusters=1..3",
            "psci.scp_send=inside-locks,outside-locks",
        ] {
            let keys = ["--vary", "scp.channels=1,2", "--vary", second];
            run(&[&["what-if", "psci-latency", "--iterations", "2"], &keys[..]].concat());
        }
        run(&[
            "run",
            "prefetch",
            "--world",
            "sim",
            "--platform",
            "macchiatobin",
            "--replace",
            "-o",
            &strides,
        ]);
        run(&["report", &strides]);
        run(&[
            "run",
            "idle-replay",
            trace,
            "--platform",
            "juno-r2",
            "--replace",
            "-o",
            &idle,
        ]);
        run(&["report", &idle]);
        let short = ["--seeds", "1", "--policies", "hmp,even", "--seconds", "1"];
        run(&[
            &[
                "run",
                "placement",
                "--platform",
                "tc2",
                "--replace",
                "-o",
                &placement,
            ],
            &short[..],
        ]
        .concat());
        run(&["report", &placement]);
    }
    assert!(
        wide.is_empty(),
        "{} lines are too wide:\n{}",
        wide.len(),
        wide.join("\n")
    );
}

/// What a report prints in a terminal of some columns, line by line, without colours.
fn on_a_terminal(columns: usize, stored: &Path, recording: &str) -> Vec<String> {
    let line = format!(
        "stty columns {columns} rows 24; exec {} report {recording}",
        env!("CARGO_BIN_EXE_stopwatt")
    );
    let mut script = Command::new("script");
    let output = script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(stored)
        .env("TERM", "xterm")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace('\r', "");
    assert!(text.contains('\x1b'), "a terminal has colours: {text}");
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    let plain = parts.fold(first, |plain, part| {
        plain + part.split_once('m').map_or("", |(_, words)| words)
    });
    plain.lines().map(str::to_owned).collect()
}

#[test]
fn every_story_has_one_screen() {
    let stored = root().join("crates/results/report/tests/recordings");
    let mut wrong = Vec::new();
    for folder in std::fs::read_dir(&stored).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        for columns in [80, 100, 120] {
            let lines = on_a_terminal(columns, &stored, &name);
            let wide = lines.iter().any(|line| line.chars().count() > columns);
            // An answer goes over whole lines: it is broken once.
            let answer = lines
                .first()
                .is_some_and(|line| line.ends_with(['.', ')']) || line.len() + 30 > columns);
            let more = lines
                .iter()
                .position(|line| line.starts_with("More with --all"));
            let ends = more
                .is_some_and(|more| lines[more..].last().unwrap() == &format!("Recording: {name}"));
            let is_right = lines.len() <= 20 && answer && ends && !wide;
            wrong.extend(
                (!is_right).then(|| format!("{name}, {columns} columns:\n{}\n", lines.join("\n"))),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
