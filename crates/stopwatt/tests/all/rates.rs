//! `run find-rate`: what it refuses. Whether it finds rates is judged (`cargo xtask judge rates`):
//! it needs root.

use crate::common::stopwatt;
use serde_json::Value;

#[test]
fn a_plain_run_has_the_keys_of_rates() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r").display().to_string();
    let run = [
        "run",
        "dataplane",
        "--windows",
        "2",
        "--window",
        "30",
        "--format",
        "json",
        "-o",
        &to,
    ];
    let result: Value = serde_json::from_slice(&stopwatt(&run).stdout).unwrap();
    assert_eq!(result["drivers"][0]["name"], "memory");
    let at =
        ["p50", "p99", "p999", "p9999"].map(|name| result["latency_us"][name].as_f64().unwrap());
    assert!(at[0] > 0.0 && at.is_sorted(), "{at:?}");
    assert!(result["threads"][0]["mpps"].is_number());
}

#[test]
fn settings_that_do_not_go_together_and_names_of_earlier_versions_are_refused() {
    for (given, expected) in [
        ("run find-rate --drivers kernel,dpdk", "`dpdk` is no driver"),
        ("run find-rate --drivers packet,packet", "there twice"),
        ("run find-rate --loss 0", "no percentage from 0.01 to 50"),
        (
            "run find-rate --drivers packet,command",
            "driver `command` has no command",
        ),
        (
            "run find-rate --forwarder true",
            "without the driver `command`",
        ),
        ("run find-rate --buffers 256", "less than two frames"),
        ("run dataplane --find-rate", "stopwatt run find-rate"),
        ("run forward --find-rate", "find-rate: the router has left"),
        (
            "forward --config forward.toml",
            "find-rate: the router has left",
        ),
    ] {
        let output = stopwatt(&given.split_whitespace().collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{given}: {said}");
    }
}
