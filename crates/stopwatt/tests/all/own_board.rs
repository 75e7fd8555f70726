//! The example of a board of one's own, as its chapter of the documents has it: files alone make it
//! run, fit and report.

use crate::common::stopwatt_on;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/server-board")
}

/// The output of the command, which must succeed.
fn printed(data: &Path, arguments: &[&str]) -> String {
    let output = stopwatt_on(data, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The cells of a run with these settings.
fn cells(settings: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording");
    let mut arguments = vec!["run", "psci-latency", "--platform", "example-server", "--format", "json"];
    arguments.extend(["--free-seeds", "0", "--iterations", "3", "-o", recording.to_str().unwrap()]);
    for setting in settings {
        arguments.extend(["--set", setting]);
    }
    let json: Value = serde_json::from_str(&printed(&example(), &arguments)).unwrap();
    json["cells"].as_array().unwrap().clone()
}

/// The longest of a metric in a case, in microseconds.
fn longest(cells: &[Value], case: &str, mode: &str, metric: &str) -> f64 {
    let of_case = cells.iter().filter(|cell| cell["case"] == case && cell["mode"] == mode && cell["metric"] == metric);
    // CPUs change places from one iteration to the next.
    of_case.map(|cell| cell["max"].as_f64().unwrap()).fold(0.0, f64::max)
}

#[test]
fn the_costs_of_the_example_are_what_a_fit_gives_and_the_fit_is_good() {
    let said = printed(&example(), &["calibrate", "--platform", "example-server", "--check"]);
    assert!(said.contains("the fit passes"), "{said}");
    let chapter = std::fs::read_to_string(example().join("../../platforms.md")).unwrap();
    let flat = chapter.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("0.03 us rms over 37 cells, which are 9 distinct values and determine 6.6 of the 18 parameters")
    );
    assert!(said.contains("37 cells used, rms residual 0.03 us"), "{said}");
    assert!(said.contains("9 distinct values for 18 parameters, of which they determine 6.6"), "{said}");
}

#[test]
fn the_example_is_listed_runs_and_is_reported() {
    assert!(printed(&example(), &["list"]).contains("example-server"));
    let folder = tempfile::tempdir().unwrap();
    let (recording, page) = (folder.path().join("recording"), folder.path().join("board.html"));
    let (recording, shown) = (recording.to_str().unwrap(), page.to_str().unwrap());
    let run = ["run", "psci-latency", "--platform", "example-server", "-o", recording, "--all", "--report", shown];
    let said = printed(&example(), &run);
    assert!(said.contains("Accuracy\n") && !said.contains("bad fit"), "{said}");
    assert!(std::fs::read_to_string(page).unwrap().contains("example-1"));
}

#[test]
fn a_suspend_sends_the_scp_a_message_only_where_the_release_says_so() {
    let waits = |settings: &[&str], case: &str, mode: &str| {
        let cells = cells(settings);
        let downs =
            cells.iter().filter(|cell| cell["case"] == case && cell["mode"] == mode && cell["metric"] == "powerdown");
        downs.filter(|cell| cell["causes"]["scp-wait"].as_f64().unwrap_or(0.0) > 0.0).count()
    };
    // As the example has it: the three CPUs that are turned off send one each.
    assert_eq!(waits(&[], "suspend-deepest", "parallel"), 0);
    assert_eq!(waits(&[], "cpu-off", "serial"), 3);
    // Of a cluster, its last man alone; of a core, everybody; of nothing, nobody.
    let cluster = ["firmware.scp_messages.suspend=[1]"];
    assert_eq!(waits(&cluster, "suspend-deepest", "parallel"), 2);
    assert_eq!(waits(&cluster, "suspend-level0", "parallel"), 0);
    assert_eq!(waits(&["firmware.scp_messages.suspend=[0]"], "suspend-level0", "parallel"), 4);
    assert_eq!(waits(&["firmware.scp_messages.off=[]"], "cpu-off", "serial"), 0);
}

#[test]
fn a_coherent_power_down_has_costs() {
    let usual = cells(&[]);
    let request = longest(&usual, "suspend-level0", "serial", "cache_flush");
    assert!((0.1..0.3).contains(&request), "{request}");
    // Hardware flushes after the WFI, so who goes down sees nothing of it; who waits for the SCP
    // behind it does.
    let behind = |settings: &[&str]| {
        let mut all = vec!["firmware.scp_messages.suspend=[0, 1]"];
        all.extend(settings);
        longest(&cells(&all), "suspend-level0", "parallel", "powerdown")
    };
    let (fast, slow) = (behind(&[]), behind(&["costs.cores.neoverse-n1.hardware_flush_line=4 ns"]));
    // Of the four, the last waits for three flushes of 17408 lines, each line 3 ns slower.
    assert!((slow - fast - 3.0 * 17408.0 * 0.003).abs() < 5.0, "{fast} and {slow}");
    let parallel = |settings: &[&str]| {
        let mut all = vec!["firmware.scp_messages.suspend=[1]", "topology.domain.cluster1.cores=1"];
        all.extend(settings);
        longest(&cells(&all), "suspend-deepest", "parallel", "powerdown")
    };
    // The cluster of one goes down first; the other's last man waits for its L3.
    let (small, large) = (parallel(&[]), parallel(&["topology.domain.cluster1.l3=4 MiB"]));
    assert!(large - small > 30.0, "{small} and {large}");
}

#[test]
fn clusters_of_one_two_and_eight_run_every_case() {
    for (shape, cpus) in [("3x1", 3), ("2x2", 4), ("1x8", 8)] {
        let cells = cells(&[&format!("topology.clusters={shape}")]);
        // Three metrics in five cases, and one in the sixth.
        assert_eq!(cells.len(), cpus * 16, "{shape}");
    }
}

#[test]
fn what_does_not_go_together_is_refused_with_the_settings() {
    for (settings, said) in [
        (&["firmware.scp_messages.suspend=[3]"][..], "there is no power level 3"),
        (&["psci.hardware_coherency=false", "psci.lock=bakery"], "software does not flush the private L2"),
        (&["topology.domain.cluster0.l2=1 MiB"], "and the cluster has another"),
        (&["psci.l2_flush.suspend=[1]"], "flush nothing"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let recording = folder.path().join("recording");
        let mut arguments =
            vec!["run", "psci-latency", "--platform", "example-server", "-o", recording.to_str().unwrap()];
        settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
        let output = stopwatt_on(&example(), &arguments);
        let error = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        let error = error.replace("│ ", "");
        assert!(!output.status.success() && error.contains(said), "{settings:?}: {error}");
        assert!(settings.iter().all(|setting| error.contains(setting)), "{error}");
        assert!(!recording.exists());
    }
}
