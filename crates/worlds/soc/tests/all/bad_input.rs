//! Configuration that is wrong: the error names the file, the line and what would be right.

use document::{Document, Error};
use miette::Diagnostic;
use proptest::prelude::*;
use soc::config::{Platform, Sources};
use std::path::Path;

fn text(name: &str) -> String {
    std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../data/platforms")
            .join(name),
    )
    .unwrap()
}

fn platform(from: &str, to: &str) -> Error {
    let whole = text("juno-r1.toml");
    assert!(
        whole.contains(from),
        "the platform file no longer has `{from}`"
    );
    Platform::read(&Document::new("juno-r1.toml", whole.replacen(from, to, 1))).unwrap_err()
}

/// The message and the help in one.
fn said(error: &Error) -> String {
    format!(
        "{error} / {}",
        error
            .help()
            .map(|help| help.to_string())
            .unwrap_or_default()
    )
}

#[track_caller]
fn says(error: &Error, parts: &[&str]) {
    let said = said(error);
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

#[test]
fn an_unknown_key_is_refused_with_those_there_are() {
    says(
        &platform("channels = 1", "chanels = 1"),
        &["juno-r1.toml:", "unknown field `chanels`", "channels"],
    );
}

#[test]
fn a_wrong_or_missing_unit_is_refused_with_the_right_ones() {
    says(
        &platform("\"650 MHz\"", "\"650 KiB\""),
        &["juno-r1.toml:", "`KiB` is not a unit of a frequency", "MHz"],
    );
    says(
        &platform("\"40 us\"", "\"60\""),
        &["juno-r1.toml:", "has no unit", "us"],
    );
    says(
        &platform("\"40 us\"", "60"),
        &["juno-r1.toml:", "with its unit"],
    );
}

#[test]
fn negative_and_impossible_figures_are_refused() {
    says(
        &platform("\"40 us\"", "\"-60 us\""),
        &["juno-r1.toml:", "negative"],
    );
    says(
        &platform("\"50 MHz\"", "\"0 Hz\""),
        &["juno-r1.toml:", "too small"],
    );
    says(
        &platform("channels = 1", "channels = 0"),
        &["juno-r1.toml:", "1 to 64"],
    );
    says(
        &platform("\"64 B\"", "\"63 B\""),
        &["juno-r1.toml:", "power of two"],
    );
    says(
        &platform("l1_data = \"32 KiB\"", "l1_data = \"1024 GiB\""),
        &["juno-r1.toml:13", "L1 data cache", "up to 16 MiB"],
    );
    says(
        &platform("l2 = \"1 MiB\"", "l2 = \"2 GiB\""),
        &["juno-r1.toml:", "L2 cache", "up to 1024 MiB"],
    );
}

#[test]
fn operating_points_that_make_no_sense_are_refused() {
    let tc2 = |from: &str, to: &str| {
        let whole = text("tc2.toml");
        assert!(
            whole.contains(from),
            "the platform file no longer has `{from}`"
        );
        Platform::read(&Document::new("tc2.toml", whole.replacen(from, to, 1))).unwrap_err()
    };
    says(
        &tc2("capacity = 512", "capacity = 426"),
        &[
            "tc2.toml:",
            "`big` are out of order",
            "both clock and capacity rise",
        ],
    );
    says(
        &tc2("clock = \"600 MHz\"", "clock = \"400 MHz\""),
        &["tc2.toml:", "out of order"],
    );
    says(
        &tc2("capacity = 426", "capacity = 0"),
        &["tc2.toml:", "1 to 1000000"],
    );
    says(
        &tc2("core_power = 2021", "core_power = 2000001"),
        &["tc2.toml:", "above 1000000 units"],
    );
    says(
        &tc2("domain_power = 7920", "cluster_power = 7920"),
        &["tc2.toml:", "unknown field `cluster_power`", "domain_power"],
    );
    let system = "name = \"system\"\noperating_point = [{ clock = \"1 MHz\", capacity = 1, core_power = 1, domain_power = 1 }]\n";
    says(
        &tc2("name = \"system\"\n", system),
        &["tc2.toml:", "has operating points, but no cores"],
    );
}

#[test]
fn a_tree_that_is_none_is_refused() {
    says(
        &platform(
            "name = \"system\"\n",
            "name = \"system\"\nparent = \"little\"\n",
        ),
        &["juno-r1.toml:", "cycle"],
    );
    says(
        &platform("parent = \"system\"", "parent = \"sistem\""),
        &["juno-r1.toml:", "there is no domain `sistem`", "system"],
    );
    says(
        &platform("parent = \"system\"\n", ""),
        &["juno-r1.toml:", "second root"],
    );
    says(
        &platform("core = \"cortex-a57\"", "core = \"cortex-a99\""),
        &["juno-r1.toml:", "cortex-a99", "cortex-a53"],
    );
    says(
        &platform("cluster = 0", "cluster = 1"),
        &["juno-r1.toml:", "two clusters 1"],
    );
    says(
        &platform("state = [2, 2, 0]", "state = [2, 2]"),
        &["juno-r1.toml:", "has 2 levels", "3"],
    );
}

fn juno(release: &str, costs: &str) -> Sources {
    Sources {
        platform: Document::new("juno-r1.toml", text("juno-r1.toml")),
        release: Document::new("release.toml", release),
        costs: Document::new("costs.toml", costs),
    }
}

#[test]
fn wrong_releases_and_costs_are_refused() {
    let (release, costs) = (
        text("juno-r1/releases/juno-2017.toml"),
        text("juno-r1/costs/juno-2017.toml"),
    );
    assert!(juno(&release, &costs).machine().is_ok());
    let wrong = |release: &str, costs: &str| juno(release, costs).machine().unwrap_err();
    says(
        &wrong(&release.replace("[0, 0]", "[7, 0]"), &costs),
        &["release.toml:", "no CPU 0 in cluster 7"],
    );
    says(
        &wrong(&release.replace("\"bakery\"", "\"ticket\""), &costs),
        &["release.toml:", "coherent"],
    );
    says(
        &wrong(&release.replace("inside-locks", "inside"), &costs),
        &["release.toml:", "outside-locks"],
    );
    says(
        &wrong(&release, &costs.replace("take = \"", "take = \"-")),
        &["costs.toml:", "negative"],
    );
    says(
        &wrong(
            &release,
            &costs.replace("cores.cortex-a57", "cores.cortex-a72"),
        ),
        &["no costs", "cortex-a57"],
    );
    says(
        &wrong(
            &release,
            &costs.replace("flush_port_share = 0.", "flush_port_share = 7."),
        ),
        &["costs.toml:", "share"],
    );
}

#[test]
fn settings_that_fit_nowhere_are_refused() {
    let sources = juno(
        &text("juno-r1/releases/juno-2017.toml"),
        &text("juno-r1/costs/juno-2017.toml"),
    );
    let set = |key: &str, value: &str| {
        let mut changed = sources.clone();
        changed.set(key, value).and_then(|()| changed.machine())
    };
    assert_eq!(set("scp.channels", "2").unwrap().platform.scp_channels, 2);
    assert_eq!(
        set("topology.domain.little.cores", "8")
            .unwrap()
            .platform
            .topology
            .cpus
            .len(),
        10
    );
    assert_eq!(
        set("costs.scp.core_off", "90 us")
            .unwrap()
            .costs
            .scp
            .core_off,
        90_000_000
    );
    says(
        &set("scp.chanels", "2").unwrap_err(),
        &["unknown field `chanels`"],
    );
    says(&set("scp.channels", "two").unwrap_err(), &["juno-r1.toml:"]);
    says(
        &set("topology.clusters", "many").unwrap_err(),
        &["not a shape", "16x4"],
    );
    says(&set("..", "2").unwrap_err(), &["not a key"]);
    says(&set("name.x", "2").unwrap_err(), &["not in a table"]);
    says(
        &set("topology.domain.huge.cores", "2").unwrap_err(),
        &["no element `huge`"],
    );
}

#[test]
fn a_missing_file_is_named() {
    says(
        &Document::open(Path::new("/nowhere/at/all.toml")).unwrap_err(),
        &["/nowhere/at/all.toml", "cannot read"],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any line dropped, doubled or spoilt: the file is read or refused, and never a panic.
    #[test]
    fn a_damaged_platform_file_never_panics(line in 0usize..120, how in 0u8..5, noise in "[ -~]{0,12}") {
        let whole = text("juno-r1.toml");
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        let at = line % lines.len();
        match how {
            0 => { lines.remove(at); }
            1 => lines.insert(at, lines[at].clone()),
            2 => lines[at].push_str(&noise),
            3 => { let keep = lines[at].len() / 2; lines[at].truncate(keep); }
            _ => lines[at] = lines[at].replace(|c: char| c.is_ascii_digit(), &noise),
        }
        let damaged = Document::new("damaged.toml", lines.join("\n"));
        if let Err(error) = Platform::read(&damaged) {
            prop_assert!(error.to_string().contains("damaged.toml"), "{}", error);
        }
    }
}
