//! `stopwatt explore`: what it finds can be run again, shown and refused.

use crate::common;
use std::path::Path;
use std::process::{Command, Output};

fn stopwatt(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(common::PROGRAM);
    command
        .args(arguments)
        .env("NO_COLOR", "1")
        .env("STOPWATT_DATA", common::root())
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// What `stopwatt report` prints; the arguments that are no options are files of the folder.
fn reported(folder: &Path, arguments: &[&str]) -> String {
    let console = console::Console::kept();
    let path = |word: &&str| match word.starts_with('-') {
        true => word.into(),
        false => folder.join(word).into_os_string(),
    };
    let words = std::iter::once("report".into()).chain(arguments.iter().map(path));
    let answer = stopwatt::command(words, &console);
    assert_eq!(answer.unwrap(), stopwatt::Answer::Yes);
    String::from_utf8(console.output().printed).unwrap()
}

#[test]
fn what_is_found_is_said_in_sentences_runs_again_and_stands_on_a_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| text(&stopwatt(folder.path(), arguments));
    let (code, out, _) = run(&[
        "psci",
        "--fault",
        "rejected-cpu-on",
        "--seed",
        "16",
        "--all",
        "-o",
        "f",
    ]);
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("(entry-point)") && out.contains("stopwatt explore replay f"),
        "{out}"
    );

    let (code, again, _) = run(&["replay", "f"]);
    assert_eq!(code, Some(1));
    assert!(
        again.contains("(entry-point)") && again.contains("The same "),
        "{again}"
    );
    let (_, json, _) = run(&["replay", "f", "--format", "json"]);
    assert!(
        json.contains("\"same\": true") && json.contains("\"invariant\": \"entry-point\""),
        "{json}"
    );

    let shown = reported(folder.path(), &["f"]);
    assert!(
        shown.contains("(entry-point)") && shown.contains("deviation"),
        "{shown}"
    );
    reported(folder.path(), &["f", "-o", "f.html"]);
    let page = std::fs::read_to_string(folder.path().join("f.html")).unwrap();
    assert!(
        page.contains("CPU_ON of CPU") && page.contains("1. another process goes first"),
        "the page has no lanes"
    );
}

#[test]
fn the_other_library_is_explored_alike() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| text(&stopwatt(folder.path(), arguments));
    let (code, out, _) = run(&[
        "rcu",
        "--fault",
        "timer-not-set-again",
        "--mode",
        "lazy",
        "--all",
        "-o",
        "f",
    ]);
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("no timer is set (soon-enough)") && out.contains("replaces pointer"),
        "{out}"
    );
    let (code, again, _) = run(&["replay", "f"]);
    assert_eq!(code, Some(1));
    assert!(again.contains("The same "), "{again}");
    reported(folder.path(), &["f", "-o", "f.html"]);
    let (code, out, _) = run(&[
        "rcu",
        "--cpus",
        "3",
        "--schedules",
        "500",
        "--format",
        "json",
    ]);
    assert_eq!(code, Some(0), "{out}");
    let (code, _, error) = run(&["rcu", "--mode", "lasy"]);
    assert!(
        code == Some(2) && error.contains("offload-modern"),
        "{error}"
    );
    std::fs::write(
        folder.path().join("s.toml"),
        "leaf_fanout = 1\ncpus = [[{ read = 3 }], []]",
    )
    .unwrap();
    let (code, _, error) = run(&["rcu", "--scenario", "s.toml"]);
    assert!(
        code == Some(2) && error.contains("the pointer of action 0 of CPU 0 is 3"),
        "{error}"
    );
}

#[test]
fn without_a_fault_nothing_is_found_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let output = stopwatt(
        folder.path(),
        &[
            "psci",
            "--cpus",
            "3",
            "--schedules",
            "3000",
            "--format",
            "json",
        ],
    );
    let (code, out, _) = text(&output);
    assert_eq!(code, Some(0), "{out}");
    assert!(
        out.contains("\"schedules\": 3000") && out.contains("\"found\": null"),
        "{out}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn litmus_files_that_cannot_be_read_do_not_end_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let test = "AArch64 A\n{ 0:X0=x; }\nP0 ;\nMOV W1,#1 ;\nSTR W1,[X0] ;\nexists x=1;\n";
    for (name, text) in [
        ("a.litmus", "AArch64 a\n"),
        ("b.litmus", test),
        ("c.litmus", "X86 c\n"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let (code, out, error) = text(&stopwatt(folder.path(), &["litmus", "."]));
    assert_eq!(code, Some(2), "{out}{error}");
    for told in [
        "Observation A Always 1 0",
        "a.litmus:1: ",
        "c.litmus:1: not modelled: ",
    ] {
        assert!(out.contains(told), "{told}: {out}");
    }
}

#[test]
fn what_cannot_be_done_is_2_and_says_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    let refused = |scenario: Option<&str>, arguments: &[&str], says: &str| {
        if let Some(scenario) = scenario {
            std::fs::write(&path, scenario).unwrap();
        }
        let (code, out, error) = text(&stopwatt(folder.path(), arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {out}{error}");
        let error = error
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace("│ ", "");
        assert!(error.contains(says), "{arguments:?}: {error}");
        assert!(!folder.path().join("recordings").exists());
    };
    let psci = ["psci", "--scenario", "s.toml"];
    refused(
        None,
        &["psci", "--fault", "rejected-cpu"],
        "did you mean rejected-cpu-on?",
    );
    refused(None, &["psci", "--cpus", "0"], "0 is not in 1..=16");
    refused(None, &["psci", "--cpus", "65536"], "65536");
    refused(None, &["psci", "--schedules", "0"], "0 is not in");
    refused(
        None,
        &["psci", "--strategy", "luck"],
        "few:N and dpor are right",
    );
    refused(None, &["psci", "--for", "soon"], "60s or 5m would be right");
    refused(None, &psci, "s.toml");
    refused(
        Some("cpus = [[{ on = 7 }], [], [], [], [], []]"),
        &psci,
        "names CPU 7, and there are CPUs 0 to 5",
    );
    refused(
        Some("cpus = []"),
        &psci,
        "a scenario has 1 to 16 CPUs, not 0",
    );
    refused(
        Some("cpus = [\n  [\"of\"]]"),
        &psci,
        "s.toml:2: unknown variant `of`",
    );
    refused(
        Some("cpus = [[\"off\"], []]"),
        &["psci", "--scenario", "s.toml", "--cpus", "4"],
        "the scenario has 2 CPUs",
    );
    refused(None, &["replay", "nowhere"], "nowhere");
}

#[test]
fn a_schedule_that_does_not_fit_is_refused_and_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| text(&stopwatt(folder.path(), arguments));
    assert_eq!(
        run(&[
            "psci",
            "--fault",
            "early-off",
            "--machine",
            "leaves",
            "--schedules",
            "20000",
            "-o",
            "f"
        ])
        .0,
        Some(1)
    );
    let header = folder.path().join("f/recording.toml");
    let whole = std::fs::read_to_string(&header).unwrap();
    let sources = whole.find("sources = ").unwrap();
    let own: String = whole[sources..].chars().skip(11).take(16).collect();
    for (from, to, says) in [
        (
            own.as_str(),
            "0000000000000000",
            "whose sources are 0000000000000000",
        ),
        ("format = 2", "format = 9", "has format 9"),
        ("subject = \"psci\"", "subject = \"tea\"", "`tea`"),
        (
            "fault = \"early-off\"",
            "fault = \"late-off\"",
            "there is no fault `late-off`",
        ),
        ("invariant = ", "invariants = ", "the schedule:"),
        (
            "ticket = false",
            "ticket = true",
            "ticket locks need a machine that stays coherent",
        ),
        (
            "steps = 10000",
            "steps = 4294967295",
            "a run may make 1000 to 10000000 operations",
        ),
    ] {
        std::fs::write(&header, whole.replace(from, to)).unwrap();
        let (code, out, error) = run(&["replay", "f"]);
        assert_eq!(code, Some(2), "{from}: {out}");
        let error = error
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace("│ ", "");
        assert!(error.contains(says), "{from}: {error}");
    }
    std::fs::write(&header, whole.replace(&own, "0000000000000000")).unwrap();
    assert_eq!(run(&["replay", "f", "--anyway"]).0, Some(1));
}

#[test]
fn a_library_that_does_not_boot_is_found_by_every_strategy() {
    let folder = tempfile::tempdir().unwrap();
    for strategy in ["random", "dpor"] {
        let arguments = [
            "psci",
            "--fault",
            "no-clean",
            "--strategy",
            strategy,
            "-o",
            "f",
            "--replace",
            "--all",
        ];
        let (code, out, _) = text(&stopwatt(folder.path(), &arguments));
        assert_eq!(code, Some(1), "{strategy}: {out}");
        assert!(
            out.contains("CPU 0 calls CPU_ON of CPU 1"),
            "{strategy}: {out}"
        );
        let (code, again, _) = text(&stopwatt(folder.path(), &["replay", "f"]));
        assert_eq!(code, Some(1), "{strategy}");
        assert!(again.contains("The same "), "{strategy}: {again}");
    }
}
