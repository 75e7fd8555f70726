//! `stopwatt run rcu-energy`, as a user meets it.

mod common;

use common::{root, stopwatt};
use serde_json::Value;
use std::path::Path;

fn run(arguments: &[&str], folder: &Path) -> Value {
    let output = folder.join("recording");
    let output = output.to_str().unwrap();
    let said = stopwatt(&[&["run", "rcu-energy", "--replace", "--format", "json", "-o", output], arguments].concat());
    assert!(said.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
    serde_json::from_slice(&said.stdout).unwrap()
}

/// The setting that `--explain` names comes out: cyclictest with one thread and 100 Hz, beside busy
/// kernel threads, is a cell that can be reached.
#[test]
fn a_setting_that_explain_names_gives_the_published_figure() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(root().join("platforms/energy/rcu-2013.toml")).unwrap();
    // The curves are over all seeds; two are enough here.
    let ranges = folder.path().join("ranges.toml");
    std::fs::write(&ranges, text.replacen("central_seeds = 8", "central_seeds = 2", 1)).unwrap();
    let common =
        ["--ranges", ranges.to_str().unwrap(), "--draws", "0", "--benchmarks", "cyclictest", "--set", "hz=100"];
    let common = [&common[..], &["--set", "cyclictest.command=-t1", "--set", "bound.gap=300"]].concat();
    let explained = run(&[&common[..], &["--explain"]].concat(), folder.path());
    let cells = explained["explained"].as_array().unwrap();
    assert_eq!(cells.len(), 2, "the published benefits of cyclictest");
    let named = cells.iter().find_map(|cell| {
        let value = cell["transition"]["value"].as_f64()?;
        Some((cell["configuration"].clone(), value, cell["published_energy_benefit_percent"].as_f64()?))
    });
    let (configuration, value, published) = named.expect("one of the two can be reached");
    let set = format!("transition={value}");
    let json = run(&[&common[..], &["--set", &set]].concat(), folder.path());
    let cell = json["cells"].as_array().unwrap().iter().find(|cell| cell["configuration"] == configuration).unwrap();
    let median = cell["energy_benefit_percent"]["median"].as_f64().unwrap();
    assert!((median - published).abs() <= 0.3, "{set}: {median} and not {published}");
    let late = json["effects"]["latency_us"]["rows"].as_array().unwrap();
    assert_eq!(late.len(), 4, "the reference and three configurations");
    for row in late {
        let [p50, p99, p999] = ["p50", "p99", "p999"].map(|key| row[key].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= p99 && p99 <= p999, "{row}");
    }
    let down = &json["effects"]["big_cluster_down"][0]["share"]["reference"];
    assert!((0.0..=1.0).contains(&down.as_f64().unwrap()), "{down}");
}

#[test]
fn without_callbacks_nothing_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let json = run(&["--draws", "2", "--benchmarks", "audio,andebench8", "--set", "callbacks.rate=0"], folder.path());
    for cell in json["cells"].as_array().unwrap().iter().filter(|cell| cell["configuration"] != "reference") {
        for benefit in ["energy_benefit_percent", "time_benefit_percent"] {
            for end in ["low", "median", "high"] {
                assert_eq!(cell[benefit][end].as_f64(), Some(0.0), "{cell}");
            }
        }
        assert_eq!((&cell["verdict"], &cell["used_in_fit"]), (&"undecided".into(), &false.into()));
    }
    let scale = json["cells"].as_array().unwrap().iter().find(|cell| cell["used_in_fit"] == true).unwrap();
    assert_eq!((&scale["benchmark"], &scale["configuration"]), (&"andebench8".into(), &"reference".into()));
}

#[test]
fn each_hypothesis_is_tried_alone_and_none_changes_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let few = ["--draws", "2", "--benchmarks", "cyclictest,andebench8"];
    let plain = run(&few, folder.path());
    assert!(plain["hypotheses"].is_null(), "only where asked for");
    let json = run(&[&few[..], &["--hypotheses"]].concat(), folder.path());
    assert_eq!(json["cells"], plain["cells"]);
    let tried = json["hypotheses"].as_array().unwrap();
    let names: Vec<&str> = tried.iter().map(|of| of["hypothesis"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "none",
            "frequency governor",
            "more callbacks",
            "wake-ups of big cores",
            "a tick prevents cluster sleep",
            "idle base"
        ]
    );
    for of in tried {
        assert_eq!(of["energy_published"].as_u64(), Some(4), "two benchmarks with two published benefits each: {of}");
        assert!(of["about"].as_str().is_some_and(|about| about.len() > 20), "{of}");
    }
    // The base is sized by the power of cyclictest's reference, and says so.
    let base = tried.last().unwrap();
    assert_eq!(base["fitted_to"].as_u64(), Some(1));
    assert!((base["cyclictest_power_w"].as_f64().unwrap() - 0.559).abs() < 0.001, "{base}");
    let held = |of: &Value| of["medians_of_published_percent"].as_f64().unwrap();
    assert!(held(base).abs() <= held(&tried[0]).abs(), "a base shrinks every percentage: {base} {}", tried[0]);
}
