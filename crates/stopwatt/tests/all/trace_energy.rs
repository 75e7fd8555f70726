//! `stopwatt run trace-energy`, and what belongs to it, as a user meets them.

use crate::common::{error_of, root, stopwatt};
use serde_json::Value;
use std::path::Path;

fn told(trace: &Path, more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("energy");
    let fixed = [
        "run",
        "trace-energy",
        trace.to_str().unwrap(),
        "--platform",
        "hikey960",
    ];
    let rest = ["--format", "json", "-o", output.to_str().unwrap()];
    let output = stopwatt(&[&fixed[..], &rest, more].concat());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn owner<'v>(told: &'v Value, name: &str) -> &'v Value {
    let owners = told["owners"].as_array().unwrap();
    owners
        .iter()
        .find(|of| of["name"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn tasks_of_a_trace_own_what_they_took() {
    let trace = root().join("docs/examples/two-tasks.trace");
    let told = told(&trace, &[]);
    let [render, audio] = ["render", "audio"].map(|name| owner(&told, name));
    // 8 and 2 ms at 1.844 GHz, each alone in its cluster.
    for (of, ms) in [(render, 8.0), (audio, 2.0)] {
        assert!(
            (of["cpu_s"].as_f64().unwrap() - ms / 1e3).abs() < 2e-5,
            "{of}"
        );
        let joules = of["energy"][0].as_f64().unwrap();
        assert!(
            (joules - ms / 1e3 * (0.24544 + 0.06416)).abs() < 1e-5,
            "{of}"
        );
        assert_eq!(of["energy"][0], of["energy"][1]);
    }
    for end in 0..2 {
        let all = told["owners"].as_array().unwrap().iter();
        let sum: f64 = all.map(|of| of["energy"][end].as_f64().unwrap()).sum();
        let total = told["energy"][end].as_f64().unwrap();
        assert!((sum - total).abs() <= 1e-12 * total, "{sum} {total}");
    }
}

#[test]
fn energy_is_divided_by_wake_ups_of_a_task_and_by_marks() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("marks.trace");
    let text = std::fs::read_to_string(root().join("docs/examples/two-tasks.trace")).unwrap();
    let mark = "          render-101   [000] d..2  10.001000: tracing_mark_write: B|101|frame\n\
                \x20         render-101   [000] d..2  10.002000: tracing_mark_write: E|101\n\
                \x20         render-101   [000] d..2  10.003000: sched_wakeup: comm=audio pid=102 prio=120 target_cpu=000\n";
    let at = text.find("          render-101").unwrap();
    std::fs::write(&trace, [&text[..at], mark, &text[at..]].concat()).unwrap();
    for work in ["frame", "audio"] {
        assert_eq!(told(&trace, &["--per", work])["work"][1], 1, "{work}");
    }
    let output = stopwatt(&[
        "run",
        "trace-energy",
        trace.to_str().unwrap(),
        "--platform",
        "hikey960",
        "--per",
        "pixel",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error_of(&output).contains("frame"), "{}", error_of(&output));
}

#[test]
fn what_the_command_needs_is_asked_for() {
    let trace = root().join("docs/examples/two-tasks.trace");
    let trace = trace.to_str().unwrap();
    for (arguments, said) in [
        (&["run", "trace-energy"][..], "no trace"),
        (&["run", "trace-energy", trace], "--platform"),
        (
            &["run", "trace-energy", trace, "--platform", "juno-r1"],
            "operating_point",
        ),
    ] {
        let output = stopwatt(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(error_of(&output).contains(said), "{}", error_of(&output));
    }
}

#[test]
fn a_board_is_told_how_to_record_what_is_needed() {
    let output = stopwatt(&["capture", "trace", "--print"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for event in ["power:cpu_frequency", "\"power/cpu_idle\"", "\"rcu/*\""] {
        assert!(text.contains(event), "{event} in {text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let tracefs = folder.path().to_str().unwrap();
    let output = stopwatt(&["capture", "trace", "--tracefs", tracefs, "--", "true"]);
    assert!(!output.status.success() && error_of(&output).contains("--print"));
}

/// Runs of a task for some microseconds are compared by its energy; what a trace does not tell may
/// be the same on both sides, and one run a side proves nothing.
#[test]
fn traces_are_compared_by_owner_and_ranges_that_overlap_are_unclear() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, us: u64| {
        let at = |ns: u64| format!("{}.{:06}", 100 + ns / 1_000_000, ns % 1_000_000);
        let text = format!(
            "    <idle>-0  [000] d..1. {}: cpu_frequency: state=533000 cpu_id=0\n\
             \x20   <idle>-0  [000] d..1. {}: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=work next_pid=7 next_prio=120\n\
             \x20     work-7  [000] d..1. {}: sched_switch: prev_comm=work prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
             \x20   <idle>-0  [000] d..1. {}: cpu_idle: state=1 cpu_id=0\n\
             \x20   <idle>-0  [000] d..1. {}: cpu_idle: state=4294967295 cpu_id=0\n",
            at(0),
            at(1),
            at(1 + us),
            at(2 + us),
            at(20_000)
        );
        let trace = folder.path().join(format!("{name}.txt"));
        std::fs::write(&trace, text).unwrap();
        let recording = folder.path().join(name);
        let recording = recording.to_str().unwrap().to_owned();
        let trace = trace.to_str().unwrap();
        let output = stopwatt(&[
            "run",
            "trace-energy",
            trace,
            "--platform",
            "hikey960",
            "-o",
            &recording,
        ]);
        assert!(output.status.success());
        recording
    };
    let [a, b] = [("a", 1_000), ("b", 1_500)]
        .map(|(side, us)| [0, 1, 2].map(|number| run(&format!("{side}{number}"), us + number * 4)));
    let compare = |arguments: &[&str]| {
        let output = stopwatt(&[&["compare", "--format", "json"], arguments].concat());
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let verdicts = |owner: &str| -> Vec<String> {
            let rows = json["rows"].as_array().unwrap().iter();
            let rows = rows.filter(|row| row["row"] == owner);
            rows.map(|row| row["changes"][0]["verdict"].as_str().unwrap().to_owned())
                .collect()
        };
        (
            output.status.code(),
            verdicts("work"),
            verdicts("everything"),
        )
    };
    let all = [&a[0], &a[1], &a[2], "--with", &b[0], &b[1], &b[2]].map(|of: &str| of);
    let worse = vec!["worse".to_owned(); 2];
    let unclear = vec!["unclear".to_owned(); 2];
    assert_eq!(compare(&all), (Some(1), worse, unclear));
    let (code, work, _) = compare(&[&a[0], &b[0]]);
    assert_eq!((code, work), (Some(3), vec!["too-few-runs".to_owned(); 2]));
}
