//! `stopwatt run idle-replay` and `idle-clock`, as a user meets them.

use crate::common::{root, stopwatt, stopwatt_in};
use serde_json::Value;
use std::path::Path;

/// A trace of our guest on QEMU.
const TRACE: &str = "crates/record/import/data/guest.trace";

fn run(arguments: &[&str], output: &Path) -> Value {
    let output = output.to_str().unwrap();
    let said = stopwatt(&[&["run"], arguments, &["--format", "json", "-o", output]].concat());
    assert!(
        said.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&said.stderr)
    );
    serde_json::from_slice(&said.stdout).unwrap()
}

fn states<'j>(json: &'j Value, governor: &str) -> &'j [Value] {
    let row = json["governors"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == governor);
    row.unwrap_or_else(|| panic!("{governor}: {json}"))["states"]
        .as_array()
        .unwrap()
}

/// A trace of stays of 12 us in a deep state, which interrupts end while the next timer is 100 us
/// away; and a platform for it.
fn short_stays(first: &str, power: &str, folder: &Path) -> [String; 2] {
    let mut text = format!("# tracer: nop\n{first}");
    let mut line = |at: u32, what: &str| {
        text += &format!("          <idle>-0       [000] d..1. 100.{at:06}: {what}\n");
    };
    let armed = |us: u32| {
        format!(
            "hrtimer_start: hrtimer=00000000aa function=tick_nohz_handler expires=100{us:06}000 softexpires=100{us:06}000 mode=ABS"
        )
    };
    line(99_000, &armed(99_500));
    line(
        99_501,
        "hrtimer_expire_entry: hrtimer=00000000aa function=tick_nohz_handler now=100099500000",
    );
    line(99_502, &armed(103_500));
    for number in 0..500_u32 {
        let at = 100_000 + number * 36;
        for (after, what) in [
            (0, "cpu_idle: state=2 cpu_id=0"),
            (12, "cpu_idle: state=4294967295 cpu_id=0"),
            (13, "irq_handler_entry: irq=150 name=eth0"),
            (14, "irq_handler_exit: irq=150 ret=handled"),
            (
                15,
                "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=20 next_prio=120",
            ),
            (
                30,
                "sched_switch: prev_comm=w prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
            ),
            (31, "tick_stop: success=1 dependency=NONE"),
            (32, "hrtimer_cancel: hrtimer=00000000aa"),
            (33, &armed(at + 136)),
        ] {
            line(at + after, what);
        }
    }
    let state = |name: &str, exit: u32, residency: u32, power: u32| {
        format!(
            "[[domain.state]]\nname = \"{name}\"\nentry_us = 0\nexit_us = {exit}\nresidency_us = {residency}\ncore_power = {power}\ndomain_power = 0\n\
             source = \"a test\"\n"
        )
    };
    let trip = "[[domain.state.round_trip]]\ncore_unit_us = 4900\ndomain_unit_us = 0\nsource = \"a test\"\n";
    let platform = format!(
        "name = \"server\"\ntitle = \"a server\"\n[power]\n{power}\n[[domain]]\nname = \"a\"\ncpus = [0]\ncore_active = 100\ndomain_active = 0\nsource = \
         \"a test\"\n{}{}{}{trip}",
        state("C0", 0, 0, 90),
        state("C1", 1, 1, 50),
        state("C2", 41, 123, 10)
    );
    let paths = ["short.trace", "server.toml"].map(|name| folder.join(name));
    std::fs::write(&paths[0], text).unwrap();
    std::fs::write(&paths[1], platform).unwrap();
    paths.map(|path| path.to_str().unwrap().to_owned())
}

/// The next timer is nearer than the deep state's target residency: menu of 6.6 would not have gone
/// so deep, and the recording is not explained.
#[test]
fn no_saving_is_claimed_where_the_kernel_did_what_its_governor_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let sourced = "source = \"a data sheet\"";
    let of = |first: &str, power: &str, governors: &[&str]| {
        let [trace, platform] = short_stays(first, power, folder.path());
        let arguments = [
            &["idle-replay", &trace, "--platform", &platform, "--replace"],
            governors,
        ]
        .concat();
        run(&arguments, &folder.path().join("replay"))
    };
    let named = of(
        "# kernel-release: 6.6.50\n# idle-governor: menu\n",
        sourced,
        &[],
    );
    assert_eq!(named["own_governor"], "menu@6.6.50");
    let outside = named["verdict"]["outside"].as_array().unwrap();
    assert!(
        outside
            .iter()
            .any(|one| one["state"] == "C2" && one["recorded"] == 500.0),
        "{outside:?}"
    );
    assert!(
        named["verdict"]["saving"].is_null() && named["verdict"]["is_certain"] == false,
        "{}",
        named["verdict"]
    );
    assert!(
        named["verdict"]["less"]["low"].as_f64().unwrap() > 0.5,
        "{}",
        named["verdict"]
    );
    // Another governor may well have chosen so.
    let other = of("", sourced, &["--governors", "menu@6.6.50"]);
    assert!(
        other["verdict"]["saving"]["low"].as_f64().unwrap() > 0.5,
        "{}",
        other["verdict"]
    );
    // Without a source of powers nothing is said of energy first.
    let assumed = of(
        "",
        "source = \"none\"\nassumed = \"all\"",
        &["--governors", "menu@6.6.50"],
    );
    assert!(
        assumed["powers_sourced"] == false && assumed["verdict"]["less"].is_null(),
        "{}",
        assumed["verdict"]
    );
    assert_eq!(assumed["verdict"]["best"], "menu@6.6.50");
}

#[test]
fn a_trace_is_replayed_with_its_kernels_governor_and_those_of_a_current_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let json = run(
        &["idle-replay", TRACE, "--platform", "qemu-virt"],
        &folder.path().join("replay"),
    );
    let count = |what: &str| json["intervals"][what].as_u64().unwrap();
    let all = count("known") + count("bounded") + count("unknown");
    assert!(count("known") > all / 2, "{}", json["intervals"]);
    let governors = json["governors"].as_array().unwrap();
    let names: Vec<&str> = governors
        .iter()
        .map(|governor| governor["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["recorded", "menu@6.1", "menu@7.1", "teo@7.1", "oracle"]
    );
    assert_eq!(json["own_governor"], "menu@6.1");
    assert_eq!(json["powers_sourced"], false);
    // The kernel did what its own governor may have done.
    assert_eq!(json["verdict"]["outside"], serde_json::json!([]));
    let end = |figure: &Value, end: &str| figure.as_f64().or_else(|| figure[end].as_f64()).unwrap();
    for (recorded, own) in states(&json, "recorded")
        .iter()
        .zip(states(&json, "menu@6.1"))
    {
        let (count, own) = (end(&recorded["entered"], "low"), &own["entered"]);
        assert!(
            end(own, "low") <= count && count <= end(own, "high"),
            "{recorded} and {own}"
        );
    }
    for governor in governors {
        assert!(governor["energy_j"].is_null(), "qemu-virt has no powers");
        assert!(governor["delay_us"]["p50"].is_u64() || governor["delay_us"]["p50"].is_object());
        for state in governor["states"].as_array().unwrap() {
            for key in ["entered", "above", "below", "residency_us"] {
                assert!(
                    state[key].is_number() || state[key]["low"].is_number(),
                    "{}: {state}",
                    governor["name"]
                );
            }
        }
    }
    // The traced kernel's own row counts every interval once, but for those that the trace does not
    // end.
    let unfinished = json["unknown_because"]["the interval has no end in the trace"]
        .as_u64()
        .unwrap_or(0);
    let entered: u64 = governors[0]["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|state| state["entered"].as_u64().unwrap())
        .sum();
    assert_eq!(entered + unfinished, all);
}

/// The change that was argued about in 2025 came to 6.1.141 and went in 6.1.158.
#[test]
fn governors_of_releases_are_replayed_by_the_changes_that_each_has() {
    let folder = tempfile::tempdir().unwrap();
    let dated = [
        "menu@6.1.140",
        "menu@6.1.150",
        "menu@6.1.158",
        "teo@6.12.117",
    ];
    let json = run(
        &["idle-replay", TRACE, "--governors", &dated.join(",")],
        &folder.path().join("replay"),
    );
    let governors = json["governors"].as_array().unwrap();
    let row = |name: &str| {
        let row = governors.iter().find(|governor| governor["name"] == name);
        row.unwrap_or_else(|| panic!("{name}: {json}"))["states"].clone()
    };
    assert_ne!(row("menu@6.1.140"), row("menu@6.1.150"));
    assert_eq!(
        row("menu@6.1.140"),
        row("menu@6.1.158"),
        "nothing is refused here, so the revert is all"
    );
    let listed = stopwatt(&[
        "list",
        "governors",
        "menu@6.12.117",
        "teo@6.6",
        "--format",
        "json",
    ]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(
        [
            &listed["governors"][0]["judged"],
            &listed["governors"][1]["judged"]
        ],
        [true, false]
    );
    let commits = |row: &Value| {
        row["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["commit"].clone())
            .collect()
    };
    let commits: Vec<Value> = commits(&listed["governors"][0]);
    assert!(
        commits.contains(&"fa3fa55de0d6".into()) && !commits.contains(&"85975daeaa4d".into()),
        "{commits:?}"
    );
    for (name, said) in [
        ("menu@5.4", "from Linux 5.10 on"),
        ("tea@6.1", "menu@6.12.117 and teo@6.6"),
        ("teo@x", "is no release of Linux"),
        ("mneu", "there are: menu@3.10"),
    ] {
        for command in [
            &["run", "idle-replay", "--governors", name][..],
            &["list", "governors", name],
        ] {
            let refused = stopwatt(command);
            let error = String::from_utf8_lossy(&refused.stderr)
                .replace("\n        ", " ")
                .replace("\n  │ ", " ");
            assert_eq!(refused.status.code(), Some(2), "{error}");
            assert!(error.contains(said), "{command:?}: {error}");
        }
    }
}

#[test]
fn joules_need_a_sourced_size_of_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let of = |platform: &str, output: &str| {
        run(
            &["idle-replay", TRACE, "--platform", platform],
            &folder.path().join(output),
        )
    };
    let without = of("tc2", "without");
    let text = std::fs::read_to_string(root().join("data/platforms/idle/tc2.toml")).unwrap();
    let with = text.replacen(
        "[power]\n",
        "[power]\nwatts_per_unit = { value = 0.5, source = \"a test\" }\n",
        1,
    );
    let file = folder.path().join("with.toml");
    std::fs::write(&file, with).unwrap();
    let with = of(file.to_str().unwrap(), "with");
    for (without, with) in without["governors"]
        .as_array()
        .unwrap()
        .iter()
        .zip(with["governors"].as_array().unwrap())
    {
        assert!(without["energy_j"].is_null());
        for end in ["low", "high"] {
            let units = without["energy_unit_s"][end].as_f64().unwrap();
            assert!((with["energy_j"][end].as_f64().unwrap() - units / 2.0).abs() <= units * 1e-12);
        }
    }
    // The traced kernel had other states than this board, so what it chose is told in words alone.
    assert!(
        without["governors"]
            .as_array()
            .unwrap()
            .iter()
            .all(|governor| governor["name"] != "recorded")
    );
    assert!(
        without["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note.as_str().unwrap().contains("had other states than tc2"))
    );
}

#[test]
fn the_same_trace_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    run(&["idle-replay", TRACE], &a);
    run(&["idle-replay", TRACE], &b);
    let read = |folder: &Path| std::fs::read(folder.join("measures.parquet")).unwrap();
    assert_eq!(read(&a), read(&b));
}

#[test]
fn without_a_trace_the_sample_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (named, sample) = (folder.path().join("named"), folder.path().join("sample"));
    let (named, sample) = (
        run(&["idle-replay", TRACE], &named),
        run(&["idle-replay"], &sample),
    );
    assert_eq!(named["governors"], sample["governors"]);
    assert!(
        sample.to_string().contains("No trace was named"),
        "{sample}"
    );
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let said = |arguments: &[&str]| {
        let output = stopwatt(&[&["run"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let error = said(&["idle-replay", "nowhere.trace"]);
    assert!(error.contains("nowhere.trace is not there"), "{error}");
    let error = said(&["idle-replay", TRACE, "--platform", "juno-r3"]);
    assert!(
        error.contains("did you mean juno-r1?") && error.contains("qemu-virt"),
        "{error}"
    );
    let error = said(&["idle-replay", TRACE, "--governors", "menu@6.1,tea"]);
    assert!(
        error.contains("`tea`") && error.contains("menu@6.1, menu@7.1"),
        "{error}"
    );
    let error = said(&["idle-clock", TRACE]);
    assert!(error.contains("--world sim"), "{error}");
}

#[test]
fn clocks_of_this_machine_are_timed() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "idle-clock",
        "--rounds",
        "3",
        "--reads",
        "200",
        "--threads",
        "2",
    ];
    let json = run(&arguments, &folder.path().join("clock"));
    let clocks = json["clocks"].as_array().unwrap();
    assert_eq!(clocks.len(), 14);
    for clock in clocks {
        let figure = |key: &str| clock[key].as_f64().unwrap();
        assert!(
            figure("min_ns") <= figure("average_ns") && figure("average_ns") <= figure("max_ns"),
            "{clock}"
        );
        assert!(figure("stddev_ns") >= 0.0 && matches!(clock["threads"].as_u64(), Some(1 | 2)));
    }
    assert_eq!(json["divisions"].as_array().unwrap().len(), 6);
    assert_eq!(json["shift_bias"].as_f64(), Some(0.023_437_5));
}

#[test]
fn the_same_clock_and_the_same_division_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let json = run(
        &["idle-clock", "--world", "sim", TRACE],
        &folder.path().join("clock"),
    );
    let changes = json["changes"].as_array().unwrap();
    let same: Vec<&Value> = changes
        .iter()
        .filter(|change| change["with"] == changes[0]["with"])
        .collect();
    assert!(same.len() >= 9 && same.len() < changes.len());
    assert!(
        same.iter()
            .all(|change| change["changed_choices"] == 0.0 && change["changed_energy"] == 0.0)
    );
    assert!(changes.iter().any(|change| change["changed_energy"] != 0.0));
    // Two reads a sleep, each by the difference of the published averages.
    assert_eq!(json["saving_per_sleep_ns"].as_f64(), Some(82.0));
}

/// A range of limits is told by the limits in it from which on another state is left, whether a
/// run or a what-if asks; a state that is switched off is entered by none that is told so.
#[test]
fn limits_have_rows_beside_what_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let base = [
        "idle-replay",
        "--governors",
        "menu@7.1",
        "--latency-limit",
        "10..2000",
        "--disable",
        "cpu-sleep",
    ];
    let json = run(&base, &folder.path().join("run"));
    let limits = json["limits"].as_array().unwrap();
    let of = |limit: &Value| {
        (
            limit["latency_us"].as_u64().unwrap(),
            limit["left"].as_array().unwrap().len(),
        )
    };
    assert_eq!(
        limits.iter().map(of).collect::<Vec<_>>(),
        [(10, 1), (1500, 1), (1600, 2)],
        "{limits:?}"
    );
    for limit in limits {
        let (name, left) = (
            limit["name"].as_str().unwrap(),
            limit["left"].as_array().unwrap(),
        );
        for state in states(&json, name)
            .iter()
            .filter(|state| !left.contains(&state["name"]))
        {
            assert_eq!(state["entered"], 0, "{name}: {state}");
        }
    }
    assert!(
        states(&json, "menu@7.1")
            .iter()
            .any(|state| state["name"] == "cpu-sleep"),
        "{json}"
    );
    let what_if = [
        "what-if",
        "idle-replay",
        "--governors",
        "menu@7.1",
        "--vary",
        "latency-limit=10..2000",
    ];
    let said = stopwatt_in(
        folder.path(),
        &[&what_if[..], &["--format", "json"]].concat(),
    );
    let varied: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(
        varied["limits"].as_array().map(Vec::len),
        Some(3),
        "{varied}"
    );
}

/// Limits, s2idle and disabling are about the states of power domains as well.
#[test]
fn limits_are_those_of_power_domains_too() {
    let folder = tempfile::tempdir().unwrap();
    let json = |arguments: &[&str]| {
        let base = [
            "idle-replay",
            "--platform",
            "sc7180",
            "--governors",
            "menu@7.1",
        ];
        run(
            &[&base, arguments].concat(),
            &folder.path().join(arguments.concat()),
        )
    };
    let states = |us: &str| json(&["--wakeup-limit", us])["s2idle"][1].clone();
    // Entry and exit: rail-power-down 2 380 us at most, cx-retention 8 200, aoss-sleep 9 825.
    assert_eq!(states("1000"), "WFI");
    assert_eq!(states("5000"), "rail-power-down");
    assert_eq!(states("9000"), "rail-power-down, cx-retention");
    assert_eq!(states("10000"), "rail-power-down, aoss-sleep");

    let limited = json(&["--latency-limit", "3000..20000"]);
    let limits = limited["limits"].as_array().unwrap();
    let turns: Vec<_> = limits.iter().map(|of| &of["latency_us"]).collect();
    assert_eq!(turns, [3_000, 5_800, 8_200, 9_825]);
    let left = |of: &Value| of["left"].as_array().unwrap().len();
    assert_eq!(limits.iter().map(left).collect::<Vec<_>>(), [3, 4, 5, 6]);
    // Under a limit that no state of the domain keeps, it stays on for certain.
    let domains = limited["power_domains"].as_array().unwrap();
    let of = |us: u64| {
        let name = format!("menu@7.1 <= {us} us");
        let domain = domains.iter().find(|domain| domain["governor"] == *name);
        domain.unwrap()["states"][0]["entered"].clone()
    };
    assert_eq!(of(3_000), 0);

    let without = json(&["--disable", "aoss-sleep"]);
    let left = without["limits"][0]["left"].as_array().unwrap();
    assert!(left.contains(&"cx-retention".into()) && !left.contains(&"aoss-sleep".into()));
}

/// The answer is about each power domain, wherever the file has it.
#[test]
fn each_power_domain_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("run");
    let fixed = ["run", "idle-replay", "--platform", "qemu-virt-osi", "-o"];
    let said = stopwatt(&[&fixed[..], &[output.to_str().unwrap()]].concat());
    let said = String::from_utf8(said.stdout).unwrap();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for domain in ["cluster", "system"] {
        let told = format!("power domain {domain} enters ");
        assert!(words.contains(&told), "{told}: {words}");
    }
}

/// Nothing is recorded of a CPU that has no idle states, or never enters one, and what was disabled
/// for that is enabled again.
#[test]
fn wake_ups_that_cannot_be_measured_are_refused_and_states_are_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let output = format!("{path}/out");
    let capture = |cpu: &str| {
        let options = ["--gaps", "20", "--rounds", "2", "-o", &output];
        let said = stopwatt(
            &[
                &["capture", "wake", "--sysfs", path, "--cpu", cpu],
                &options[..],
            ]
            .concat(),
        );
        assert!(!said.status.success() && !Path::new(&output).exists());
        crate::common::error_of(&said)
    };
    assert!(capture("0").contains("counts no idle states"));
    let file = |name: &str| folder.path().join("cpu0/cpuidle/state0").join(name);
    std::fs::create_dir_all(file("")).unwrap();
    for (name, content) in [
        ("name", "WFI"),
        ("usage", "5"),
        ("time", "700"),
        ("disable", "1"),
        ("latency", "1"),
        ("residency", "1"),
    ] {
        std::fs::write(file(name), content).unwrap();
    }
    assert!(capture("0").contains("came out of an idle state"));
    assert_eq!(std::fs::read_to_string(file("disable")).unwrap(), "1");
    assert!(capture("7").contains("counts no idle states"));
}
