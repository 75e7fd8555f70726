//! `run forward --find-rate`: rates and latencies over interfaces that the command makes. Needs
//! root and `ip`; where the test may not, it says so.

use crate::common::stopwatt;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// True if a test that needs network namespaces can run; if not, says so under the test's name.
fn may_run(test: &str) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let is_root = status.lines().any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"));
    if !is_root {
        eprintln!("SKIPPED {test}: network namespaces need root");
    }
    is_root
}

#[test]
fn rates_and_latencies_of_drivers_as_json() {
    if !may_run("rates_and_latencies_of_drivers_as_json") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    let given = "run forward --find-rate --drivers packet,kernel,af-xdp,tap --windows 2 --window 60 --trials 1 --precision 20 \
                 --flows 7 --format json -o";
    let arguments: Vec<&str> = given.split_whitespace().chain([to.to_str().unwrap()]).collect();
    let output = stopwatt(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let drivers = result["drivers"].as_array().unwrap();
    assert_eq!(
        drivers.iter().map(|driver| driver["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["packet", "kernel", "af-xdp", "tap"]
    );
    for driver in drivers {
        let number = |key: &str| driver[key].as_f64().unwrap_or_else(|| panic!("{key} in {driver}"));
        assert!(number("offered_mpps") > 0.001 && number("mpps") > 0.001, "{driver}");
        assert!(number("mpps") <= number("offered_mpps") * 1.0001, "{driver}");
        assert!((0.0..=1.0).contains(&number("loss_ratio")));
        assert!(driver["windows"]["scatters"].is_boolean());
        // Without another processor the two share one.
        assert_eq!(driver["generates_on"], "0");
        for found in ["ndr_mpps", "pdr_mpps"] {
            let [lower, upper] = [0, 1].map(|n| driver[found][n].as_f64());
            assert!(lower.is_some() || upper.is_some(), "{driver}");
            assert!(lower.zip(upper).is_none_or(|(lower, upper)| lower < upper), "{driver}");
        }
        for load in ["10", "50", "90"] {
            let there = &driver["latency_us_at_percent_of_pdr"][load];
            let at = ["p50", "p99", "p999", "p9999", "max"].map(|name| there[name].as_f64().unwrap());
            assert!(at[0] > 0.0 && at.is_sorted() && at[4] < 5e6, "{there}");
        }
    }
    assert!(drivers[0]["mode"].as_str().unwrap().contains("TPACKET_V2"));
    for (driver, mode) in [(2, "AF_XDP"), (2, "native mode, copy mode"), (3, "TAP")] {
        assert!(drivers[driver]["mode"].as_str().unwrap().contains(mode), "{}", drivers[driver]["mode"]);
    }
    assert_eq!(result["threads"][0]["driver"], "packet");
    assert!(result["latency_us"]["p9999"].is_number());
    let text = String::from_utf8(stopwatt(&["report", to.to_str().unwrap()]).stdout).unwrap();
    for expected in ["At full load, Mpps", "Highest rate, Mpps", "p99.99"] {
        assert!(text.contains(expected), "{expected} is missing in:\n{text}");
    }
}

/// The program's own forwarder, as a program that somebody else wrote.
#[test]
fn a_program_of_the_users_is_measured_like_the_others() {
    if !may_run("a_program_of_the_users_is_measured_like_the_others") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let config = r#"
        [[interface]]
        name = "in0"
        addresses = ["10.0.1.1/24"]
        [[interface]]
        name = "out0"
        addresses = ["10.0.2.1/24"]
        [[neighbour]]
        address = "10.0.2.2"
        interface = "out0"
        mac = "02:fe:00:00:00:bb"
        [[route]]
        prefix = "20.0.0.0/8"
        via = "10.0.2.2"
    "#;
    std::fs::write(folder.path().join("forward.toml"), config).unwrap();
    let forwarder = format!("{} forward --config forward.toml", env!("CARGO_BIN_EXE_stopwatt"));
    let measured = |forwarder: &str| {
        let given =
            "--drivers command --windows 1 --window 60 --trials 1 --precision 20 --format json --replace --forwarder";
        let mut command = started(folder.path());
        command.args(given.split_whitespace()).arg(forwarder).output().unwrap()
    };
    let output = measured(&forwarder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["drivers"][0]["name"], "command");
    assert_eq!(result["drivers"][0]["mode"], forwarder.as_str());
    assert!(result["drivers"][0]["mpps"].as_f64().unwrap() > 0.001, "{result}");

    let output = measured("echo no such port");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    for expected in ["echo no such port", "ended", "printed last:"] {
        assert!(said.contains(expected), "{expected} is missing in:\n{said}");
    }
}

#[test]
fn a_plain_run_has_the_same_keys() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    let output = stopwatt(&[
        "run",
        "dataplane",
        "--windows",
        "2",
        "--window",
        "30",
        "--format",
        "json",
        "-o",
        to.to_str().unwrap(),
    ]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["drivers"][0]["name"], "memory");
    let at = ["p50", "p99", "p999", "p9999"].map(|name| result["latency_us"][name].as_f64().unwrap());
    assert!(at[0] > 0.0 && at.is_sorted(), "{at:?}");
    assert!(result["threads"][0]["mpps"].is_number());
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    for (given, expected) in [
        ("--loss 1", "--loss means nothing here"),
        ("--find-rate --config forward.toml", "--config means nothing here"),
        ("--find-rate --drivers kernel,dpdk", "`dpdk` is no driver"),
        ("--find-rate --drivers packet,packet", "there twice"),
        ("--find-rate --loss 0", "no percentage from 0.01 to 50"),
        ("--find-rate --drivers packet,command", "driver `command` has no command"),
        ("--find-rate --forwarder true", "without the driver `command`"),
        ("--forwarder true", "--forwarder means nothing here"),
    ] {
        let arguments: Vec<&str> = ["run", "forward"].into_iter().chain(given.split_whitespace()).collect();
        let output = stopwatt(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

/// The commands written before rates were searched by the forwarder.
#[test]
fn the_old_spelling_means_the_same() {
    for (old, expected) in [
        (&["run", "dataplane", "--find-rate", "--drivers", "kernel,dpdk"][..], "`dpdk` is no driver"),
        (&["--quiet", "run", "dataplane", "--find-rate", "--busy"], "--busy means nothing here"),
        (&["dataplane"], "a forwarder needs a configuration"),
        (&["run", "dataplane", "--drivers", "packet"], "unexpected argument"),
    ] {
        let output = stopwatt(old);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{old:?}: {said}");
    }
}

fn started(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
    command.args(["run", "forward", "--find-rate", "-o", "recorded"]).current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).env("NO_COLOR", "1");
    command
}

#[test]
fn whoever_is_not_root_is_told_so() {
    if !may_run("whoever_is_not_root_is_told_so") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Nobody in particular.
    let output = started(folder.path()).uid(65534).output();
    let Ok(output) = output else {
        eprintln!("SKIPPED whoever_is_not_root_is_told_so: another user may not start the program where it lies");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!output.status.success() && said.contains("needs root"), "{said}");
}

/// The network namespaces that a process's threads are in.
fn namespaces(pid: u32) -> HashSet<PathBuf> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return HashSet::new() };
    threads.filter_map(|thread| fs::read_link(thread.ok()?.path().join("ns/net")).ok()).collect()
}

/// The three namespaces of a search, once it sends; `None` if it does not come to that.
fn of_search(pid: u32) -> Option<HashSet<PathBuf>> {
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        let mut made = namespaces(pid);
        made.remove(&own);
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
        let names = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
        if made.len() == 3 && names.into_iter().any(|name| name.trim() == "generator") {
            return Some(made);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

#[test]
fn nothing_is_left_after_ctrl_c_and_after_a_kill() {
    if !may_run("nothing_is_left_after_ctrl_c_and_after_a_kill") {
        return;
    }
    for signal in ["-INT", "-KILL"] {
        let folder = tempfile::tempdir().unwrap();
        let child = started(folder.path()).spawn().unwrap();
        let made = of_search(child.id());
        let start = Instant::now();
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let made = made.unwrap_or_else(|| panic!("no generator came: {output:?}"));
        assert!(!output.status.success() && start.elapsed() < Duration::from_secs(5), "{output:?}");
        if signal == "-INT" {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("nothing was kept"), "{said}");
        }
        assert!(!folder.path().join("recorded").exists());
        // Nobody is in the namespaces, and nothing is mounted that would keep them.
        let processes =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        for process in processes {
            assert!(namespaces(process).is_disjoint(&made), "process {process} is still there");
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        for namespace in &made {
            assert!(!mounts.contains(namespace.to_str().unwrap()), "{} is kept", namespace.display());
        }
    }
}
