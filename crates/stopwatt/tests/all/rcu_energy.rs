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
