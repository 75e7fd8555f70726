//! `stopwatt what-if`, as a user meets it.

use crate::common::stopwatt;
use serde_json::Value;

const VARY: [&str; 6] = [
    "what-if",
    "psci-latency",
    "--vary",
    "scp.channels=1,2",
    "--vary",
    "topology.clusters=1..3",
];

#[test]
fn every_combination_has_a_row_and_more_channels_help() {
    let output = stopwatt(&[&VARY[..], &["--format", "json"]].concat());
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "progress is silent where there is no terminal"
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let points = json["points"].as_array().unwrap();
    let of = |channels: &str, clusters: &str| {
        let found = points.iter().find(|point| {
            point["settings"]["scp.channels"] == channels
                && point["settings"]["topology.clusters"] == clusters
        });
        found.unwrap_or_else(|| panic!("{channels} channels, {clusters} clusters"))
    };
    assert_eq!(points.len(), 6);
    for (clusters, cpus) in [("1", 4), ("2", 8), ("3", 12)] {
        let (one, two) = (of("1", clusters), of("2", clusters));
        assert_eq!(
            (one["cpus"].as_u64(), two["cpus"].as_u64()),
            (Some(cpus), Some(cpus))
        );
        assert!(
            two["longest"].as_f64() < one["longest"].as_f64(),
            "{one} {two}"
        );
        assert!(
            one["shortest"].as_f64() <= one["median"].as_f64()
                && one["median"].as_f64() <= one["longest"].as_f64()
        );
    }
    assert_eq!(
        stopwatt(&[&VARY[..], &["--format", "json"]].concat()).stdout,
        output.stdout,
        "the same each time"
    );
}

#[test]
fn a_page_has_the_answer_and_a_curve_for_each_choice() {
    let output = stopwatt(&[&VARY[..], &["--iterations", "2", "--format", "html"]].concat());
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(
        page.starts_with("<!DOCTYPE html>") && !page.contains("http:"),
        "{page}"
    );
    let answer = &page[page.find("class=headline").unwrap()..][..400];
    assert!(
        answer.contains("With channels=2 instead of 1, the longest powerdown takes")
            && answer.contains("% less, in all 3 combinations of the rest."),
        "{answer}"
    );
    let curves = page.matches("<polyline class=m").count();
    assert_eq!(curves, 2, "one channel and two");
}

#[test]
fn people_get_a_table_and_a_chart_that_fit() {
    let printed =
        String::from_utf8_lossy(&stopwatt(&[&VARY[..], &["--all"]].concat()).stdout).into_owned();
    for part in [
        "scp.channels",
        "hung on",
        "longest powerdown against cores (us)",
        "channels=1",
        "channels=2",
        "cores from 4 to 12",
    ] {
        assert!(printed.contains(part), "`{part}` is not in:\n{printed}");
    }
    assert!(
        printed.lines().all(|line| line.chars().count() <= 100),
        "{printed}"
    );
}

#[test]
fn the_question_of_the_message_order_is_explained_by_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    let of = |order: &str| {
        let path = folder.path().join(order).to_str().unwrap().to_owned();
        let order = format!("psci.scp_send={order}");
        let output = stopwatt(&[
            "run",
            "psci-latency",
            "--release",
            "v2.12",
            "--case",
            "suspend-deepest",
            "--mode",
            "parallel",
            "--set",
            &order,
            "--set",
            "topology.clusters=2",
            "-o",
            &path,
        ]);
        assert!(output.status.success(), "{output:?}");
        path
    };
    let output = stopwatt(&[
        "compare",
        &of("inside-locks"),
        &of("outside-locks"),
        "--format",
        "json",
    ]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(
        rows.len(),
        48,
        "8 CPUs, three metrics, of one order and over the seeds"
    );
    let inputs: Vec<_> = json["inputs_that_differ"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| &input["input"])
        .collect();
    assert_eq!(inputs, ["psci.scp_send", "set psci.scp_send"], "{json:#}");
    let shorter_lock_wait = rows.iter().filter(|row| {
        row["changes"][0]["causes_us"]["lock-wait"]["change"]
            .as_f64()
            .is_some_and(|change| change < -50.0)
    });
    assert!(
        shorter_lock_wait.count() > 0,
        "nobody waits for the SCP behind a cluster's lock"
    );
}

#[test]
fn what_cannot_be_varied_is_said() {
    let wrong: [(&[&str], &str); 11] = [
        (&["--vary", "scp.channels"], "nothing to vary"),
        (&["--vary", "scp.chanels=1,2"], "unknown field `chanels`"),
        (&["--vary", "scp.channels=4..1"], "no range"),
        (
            &["--vary", "scp.channels=1", "--case", "suspend"],
            "`suspend` is no value of --case",
        ),
        (
            &["--vary", "scp.channels=1", "--metric", "latency"],
            "has no latency",
        ),
        (
            &["--vary", "scp.channels=1", "--metric", "powrdown"],
            "did you mean powerdown?",
        ),
        (&["--vary", "scp.channels=1,2,1"], "`1` stands twice"),
        (
            &["--vary", "scp.channels=1", "--set", "scp.channels=2"],
            "`scp.channels` is set and varied",
        ),
        (&["--vary", "scp.channels=0"], "cannot set scp.channels=0"),
        (&["--vary", "topology.clusters=0"], "topology.clusters=0"),
        (&[], "--vary"),
    ];
    for (arguments, message) in wrong {
        let output = stopwatt(&[&["what-if", "psci-latency"][..], arguments].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let flat = error
            .replace('│', " ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            output.status.code() == Some(2) && flat.contains(message),
            "{arguments:?}: {error}"
        );
    }
}
