//! No published figure is reachable from the code that predicts it: the dependency graph makes it impossible.

use std::process::Command;

/// Crates that a crate depends on, in any way but for its tests.
fn depends_on(name: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--package",
            name,
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn what_predicts_cannot_reach_the_references() {
    for name in [
        "experiments",
        "soc",
        "procedures",
        "psci",
        "points",
        "engine",
        "recording",
        "causes",
        "dataplane-experiments",
        "import",
        "comparison",
    ] {
        let found = depends_on(name);
        assert!(found.contains(&name.to_owned()), "cargo tree no longer prints what this test reads");
        for forbidden in ["references", "calibrate", "report", "stopwatt"] {
            assert!(!found.contains(&forbidden.to_owned()), "`{name}` depends on `{forbidden}`");
        }
    }
}

#[test]
fn only_calibrate_report_and_the_command_reach_the_references() {
    for name in ["calibrate", "report", "stopwatt"] {
        assert!(depends_on(name).contains(&"references".to_owned()), "`{name}` no longer needs this test");
    }
}

#[test]
fn the_engine_knows_nothing_of_arm() {
    let found = depends_on("engine");
    for forbidden in ["psci", "soc", "procedures", "points"] {
        assert!(!found.contains(&forbidden.to_owned()), "the engine depends on `{forbidden}`");
    }
}
