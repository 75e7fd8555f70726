//! `stopwatt run rcu-energy`, as a user meets it.

use crate::common::stopwatt;
use serde_json::Value;
use std::path::Path;

fn run(arguments: &[&str], folder: &Path) -> Value {
    let output = folder.join("recording");
    let output = output.to_str().unwrap();
    let said = stopwatt(
        &[
            &[
                "run",
                "rcu-energy",
                "--replace",
                "--format",
                "json",
                "-o",
                output,
            ],
            arguments,
        ]
        .concat(),
    );
    assert!(
        said.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&said.stderr)
    );
    serde_json::from_slice(&said.stdout).unwrap()
}

#[test]
fn without_callbacks_nothing_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let few = ["--draws", "3", "--benchmarks", "audio,andebench8,sysbench"];
    let json = run(
        &[&few[..], &["--set", "callbacks.rate=0"]].concat(),
        folder.path(),
    );
    for cell in json["cells"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cell| cell["configuration"] != "reference")
    {
        for benefit in ["energy_benefit_percent", "time_benefit_percent"] {
            for end in ["low", "median", "high"] {
                assert_eq!(cell[benefit][end].as_f64(), Some(0.0), "{cell}");
            }
        }
        assert_eq!(
            (&cell["verdict"], &cell["used_in_fit"]),
            (&Value::Null, &false.into())
        );
    }
    let late = json["effects"]["latency_us"]["rows"].as_array().unwrap();
    for row in late {
        let [p50, p99, p999] = ["p50", "p99", "p999"].map(|key| row[key].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= p99 && p99 <= p999, "{row}");
    }
    let down = &json["effects"]["big_cluster_down"][0]["share"]["reference"];
    assert!((0.0..=1.0).contains(&down.as_f64().unwrap()), "{down}");
    let by_threads = &json["without_a_fit"]["sysbench_reference"]["by_threads"];
    assert!(
        by_threads.as_array().is_some_and(|rows| rows.len() > 1),
        "{by_threads}"
    );
    let scale = json["cells"]
        .as_array()
        .unwrap()
        .iter()
        .find(|cell| cell["used_in_fit"] == true)
        .unwrap();
    assert_eq!(
        (&scale["benchmark"], &scale["configuration"]),
        (&"andebench8".into(), &"reference".into())
    );
}

#[test]
fn lazy_callbacks_save_wake_ups_and_stand_beside_what_was_published() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("lazy");
    let lazy = |arguments: &[&str]| {
        let common = [
            "run",
            "rcu-lazy",
            "--replace",
            "--format",
            "json",
            "-o",
            output.to_str().unwrap(),
            "--draws",
            "6",
        ];
        let said = stopwatt(&[&common[..], arguments].concat());
        assert!(
            said.status.success(),
            "{}",
            String::from_utf8_lossy(&said.stderr)
        );
        serde_json::from_slice::<Value>(&said.stdout).unwrap()
    };
    let json = lazy(&[]);
    let of = |json: &Value, name: &str, key: &str| {
        let all = json["configurations"].as_array().unwrap();
        let found = all
            .iter()
            .find(|of| of["name"] == name)
            .unwrap_or_else(|| panic!("no {name}"));
        found[key]["median"]
            .as_f64()
            .unwrap_or_else(|| panic!("{name} {key}: {found}"))
    };
    let wake_ups = |name| of(&json, name, "wake_ups_per_s");
    assert!(
        wake_ups("lazy") < wake_ups("offloaded") && wake_ups("no-callbacks") <= wake_ups("lazy")
    );
    assert!(of(&json, "lazy", "deepest_percent") > of(&json, "offloaded", "deepest_percent"));
    let (saved, bound) = (
        of(&json, "lazy", "saved_percent"),
        of(&json, "no-callbacks", "saved_percent"),
    );
    assert!(0.0 < saved && saved <= bound + 1.0, "{saved} and {bound}");
    assert!(of(&json, "lazy", "power_mw") > 0.0, "the board has watts");
    let published = json["published"].as_array().unwrap();
    assert_eq!(
        (published.len(), json["published_saves_percent"][0].as_f64()),
        (3, Some(5.0))
    );
    // Without callbacks there is nothing to be lazy about.
    let silent = lazy(&["--set", "callbacks.rate=0"]);
    assert_eq!(of(&silent, "lazy", "saved_percent"), 0.0);
    let refused = stopwatt(&["run", "rcu-lazy", "--set", "callbacks.rates=1"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && error.contains("there is callbacks.rate"),
        "{error}"
    );
}

#[test]
fn doses_too_short_for_lazy_callbacks_are_refused() {
    let refused = stopwatt(&["run", "rcu-doses", "--lazy"]);
    let error = String::from_utf8_lossy(&refused.stderr)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(
        error.contains("doses of 3 s") && error.contains("--seconds 12"),
        "{error}"
    );
}
