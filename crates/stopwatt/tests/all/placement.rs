//! `stopwatt run placement`, as a user meets it.

use crate::common::{root, stopwatt};
use recording::Recording;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// A user's own file, with a comment, a comma too many and a name that is used twice, as rt-app
/// allows.
const OWN: &str = r#"{
    "global": { "duration": 2, "stopwatt_settings": { "work": 900 } },
    "tasks": {
        // Decodes a frame.
        "decoder": { "loop": -1, "run": "$work", "timer": { "ref": "unique", "period": 20000 } },
        "logger": { "loop": -1, "sleep": 7000, "run": 200, "stopwatt_close": 3, },
        "noise": { "loop": -1, "stopwatt_sleep": { "mean": 10000 }, "run": 100 },
    },
}"#;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stopwatt"))
        .args([&["run", "placement"], arguments].concat())
        .env("NO_COLOR", "1")
        .env_remove("STOPWATT_DATA")
        .current_dir(folder)
        .output()
        .unwrap()
}

fn done(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, &[arguments, &["--format", "json"]].concat());
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The refusal of something that is wrong, in one line.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr)
        .replace('│', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn own() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("own.json"), OWN).unwrap();
    folder
}

#[test]
fn an_own_file_runs_and_every_unit_of_energy_has_an_owner() {
    let folder = own();
    let here = folder.path();
    let page = here.join("own.html");
    let json = done(
        here,
        &[
            "own.json",
            "--policies",
            "hmp,even",
            "--seeds",
            "2",
            "-o",
            "own",
            "--report",
            "own.html",
        ],
    );
    assert_eq!(
        (json["platform"].as_str(), json["task"].as_str()),
        (Some("tc2"), Some("decoder"))
    );
    let policies = json["policies"].as_array().unwrap();
    assert_eq!(
        policies
            .iter()
            .map(|policy| policy["name"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["hmp", "even"]
    );
    for policy in policies {
        let owners = policy["owners_unit_s"].as_object().unwrap();
        let sum: f64 = owners.values().map(|energy| energy.as_f64().unwrap()).sum();
        // Of two seeds the one with less energy counts as the middle.
        let low = policy["energy_unit_s"]["low"].as_f64().unwrap();
        assert!(
            (sum - low).abs() <= 1e-9 * sum && policy["middle_seed"].as_u64().unwrap() <= 2,
            "{sum} {low}"
        );
        for owner in [
            "task decoder",
            "task logger",
            "callbacks",
            "tick kept for RCU",
            "kernel",
            "interrupts",
        ] {
            assert!(owners[owner].as_f64().unwrap() > 0.0, "{owner}: {owners:?}");
        }
        assert!(
            owners
                .keys()
                .any(|owner| owner.starts_with("idle cluster-sleep, ")),
            "{owners:?}"
        );
        assert!(
            owners
                .keys()
                .any(|owner| owner.starts_with("transitions, ")),
            "{owners:?}"
        );
        let task = &policy["tasks"]["decoder"];
        // 2 s with a period of 20 ms, and two seeds.
        let periods = task["periods"].as_f64().unwrap();
        assert!((198.0..=202.0).contains(&periods), "{periods}");
        assert!(
            task["response_ms"]["p95"].as_f64().unwrap() >= 0.9,
            "{task}"
        );
        // 0.9 ms of a core of capacity 1024 in 20 ms, on big cores or on LITTLE ones.
        let busy = task["cpu_time_us_per_s"].as_f64().unwrap();
        assert!((44_000.0..=110_000.0).contains(&busy), "{busy}");
        assert!(
            (task["wake_ups_per_s"].as_f64().unwrap() - 50.0).abs() < 2.0,
            "{task}"
        );
        for by in ["share_by_cpu", "share_by_operating_point"] {
            let sum: f64 = task[by]
                .as_object()
                .unwrap()
                .values()
                .map(|share| share.as_f64().unwrap())
                .sum();
            assert!((sum - 1.0).abs() < 1e-9, "{by}: {}", task[by]);
        }
        assert!(policy["wake_ups_per_s"]["timer"].as_f64().unwrap() > 10.0);
        assert!(
            policy["energy_j"].is_null(),
            "no source says how many watts a unit is"
        );
    }
    let page = std::fs::read_to_string(page).unwrap();
    for shown in [
        "Energy by owner",
        "decoder",
        "cluster-sleep",
        "tick kept for RCU",
    ] {
        assert!(page.contains(shown), "the page does not show {shown}");
    }
}

#[test]
fn the_timeline_has_tasks_and_idle_states_of_a_second() {
    let folder = own();
    let here = folder.path();
    done(
        here,
        &["own.json", "--policies", "hmp", "--seeds", "1", "-o", "own"],
    );
    let recording = Recording::read(here.join("own")).unwrap();
    let lanes: Vec<(&str, &str)> = recording
        .header
        .lanes
        .iter()
        .map(|lane| (lane.title.as_str(), lane.begin.as_str()))
        .collect();
    let machine = [
        ("callbacks", "callbacks-waiting"),
        ("grace periods", "grace-period-runs"),
    ];
    assert_eq!(
        lanes[..2],
        [("task", "task-switch"), ("idle state", "idle-enter")]
    );
    assert_eq!(lanes[2..], machine);
    let names = |title: &str| {
        &recording
            .header
            .lanes
            .iter()
            .find(|lane| lane.title == title)
            .unwrap()
            .names
    };
    assert_eq!(
        [&names("task")[&1], &names("task")[&2]],
        ["decoder", "logger"]
    );
    assert_eq!(
        names("idle state").values().collect::<Vec<_>>(),
        ["WFI", "cluster-sleep"]
    );
    let count = |name: &str| {
        let point = recording.find_point(name);
        recording
            .events()
            .iter()
            .filter(|event| Some(event.point) == point)
            .count()
    };
    // 50 frames and some 140 lines of the log, each with at least a switch to it and one away.
    assert!(count("task-switch") > 300, "{}", count("task-switch"));
    for point in [
        "idle-enter",
        "idle-leave",
        "woken-by-timer",
        "callbacks-queued",
        "callbacks-invoked",
        "grace-period-runs",
    ] {
        assert!(count(point) > 10, "{point}: {}", count(point));
    }
    let times = || recording.events().iter().map(|event| event.time);
    assert!(times().min() >= Some(1_000_000_000) && times().max() <= Some(2_000_000_000));
    let report = Command::new(env!("CARGO_BIN_EXE_stopwatt"))
        .args(["report", "own", "--format", "perfetto"])
        .current_dir(here)
        .output()
        .unwrap();
    assert!(
        report.status.success(),
        "{}",
        String::from_utf8_lossy(&report.stderr)
    );
    let holds = |name: &[u8]| report.stdout.windows(name.len()).any(|part| part == name);
    assert!(holds(b"decoder") && holds(b"cluster-sleep"));
}

#[test]
fn two_runs_leave_the_same_bytes_and_settings_change_them() {
    let folder = own();
    let here = folder.path();
    let few = ["own.json", "--policies", "energy-aware", "--seeds", "2"];
    let bytes = |output: &str, more: &[&str]| {
        done(here, &[&few[..], &["-o", output], more].concat());
        ["measures.parquet", "events.parquet"]
            .map(|file| std::fs::read(here.join(output).join(file)).unwrap())
    };
    let first = bytes("first", &[]);
    assert_eq!(first, bytes("second", &[]));
    assert_ne!(first, bytes("third", &["--set", "work=1100"]));
    let offloaded = done(
        here,
        &[&few[..], &["--rcu", "offloaded", "-o", "fourth"]].concat(),
    );
    let owners = &offloaded["policies"][0]["owners_unit_s"];
    assert!(owners["RCU threads"].as_f64().unwrap() > 0.0, "{owners}");
    assert!(owners["tick kept for RCU"].is_null(), "{owners}");
}

#[test]
fn an_own_platform_with_watts_gives_joules() {
    let folder = own();
    let here = folder.path();
    let file =
        |name: &str| std::fs::read_to_string(root().join("data/platforms").join(name)).unwrap();
    let platform = file("tc2.toml").replace("core_power = 6997", "core_power = 69970");
    std::fs::write(here.join("board.toml"), platform).unwrap();
    let watts = "[power]\nwatts_per_unit = { value = 0.5, source = \"a test\" }\n";
    std::fs::write(
        here.join("idle.toml"),
        file("idle/tc2.toml").replacen("[power]\n", watts, 1),
    )
    .unwrap();
    let given = ["own.json", "--policies", "all-big", "--seeds", "1"];
    let usual = done(here, &[&given[..], &["-o", "usual"]].concat());
    let own = done(
        here,
        &[
            &given[..],
            &[
                "--platform",
                "board.toml",
                "--idle",
                "idle.toml",
                "-o",
                "own",
            ],
        ]
        .concat(),
    );
    let of = |json: &Value, what: &str| json["policies"][0][what]["low"].as_f64().unwrap();
    assert!(of(&own, "energy_unit_s") > 1.5 * of(&usual, "energy_unit_s"));
    assert!(
        (of(&own, "energy_j") - of(&own, "energy_unit_s") / 2.0).abs()
            < 1e-9 * of(&own, "energy_unit_s")
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_what_would_be_right() {
    let folder = own();
    let here = folder.path();
    std::fs::write(
        here.join("bad.json"),
        OWN.replace("\"sleep\"", "\"sleeps\""),
    )
    .unwrap();
    let said = refused(here, &["bad.json"]);
    assert!(
        said.contains("bad.json:6: `sleeps` is not an event")
            && said.contains("events are run, runtime, sleep"),
        "{said}"
    );

    let text = std::fs::read_to_string(root().join("data/platforms/tc2.toml")).unwrap();
    std::fs::write(
        here.join("bad.toml"),
        text.replacen("clock = \"500 MHz\"", "clock = \"500 Mhz\"", 1),
    )
    .unwrap();
    let said = refused(here, &["own.json", "--platform", "bad.toml"]);
    let line = 1 + text
        .lines()
        .position(|line| line.contains("clock = \"500 MHz\""))
        .unwrap();
    assert!(said.contains(&format!("bad.toml:{line}: ")), "{said}");

    let said = refused(here, &["own.json", "--platform", "juno-r1"]);
    assert!(
        said.contains("juno-r1.toml:") && said.contains("domain `little` has no operating points"),
        "{said}"
    );
    let idle = std::fs::read_to_string(root().join("data/platforms/idle/tc2.toml")).unwrap();
    std::fs::write(
        here.join("idle.toml"),
        idle.replace("cpus = [2, 3, 4]", "cpus = [2, 3]"),
    )
    .unwrap();
    let said = refused(here, &["own.json", "--idle", "idle.toml"]);
    assert!(
        said.contains("idle.toml:") && said.contains("there is no domain of CPUs 2..5"),
        "{said}"
    );

    assert!(
        refused(here, &["own.json", "--policies", "fastest"]).contains("there are hmp, hmp-early")
    );
    assert!(refused(here, &["own.json", "--set", "wrk=1"]).contains("did you mean work?"));
    assert!(refused(here, &["own.json", "--set", "work=x"]).contains("no whole number"));
    let said = refused(here, &["ui-rendr"]);
    assert!(said.contains("did you mean ui-render?"), "{said}");
}

#[test]
fn what_work_costs_is_shown_without_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let json = done(folder.path(), &["--operating-points"]);
    assert_eq!(json["policies"].as_array().unwrap().len(), 0);
    assert_eq!(json["operating_points"].as_array().unwrap().len(), 16);
    let top = &json["top_points"];
    // 6997 / 1024 and 1024 / 430, from the table.
    let ratio = 6997.0 / 1024.0 / (1024.0 / 430.0);
    assert!(
        (top["times_the_energy"].as_f64().unwrap() - ratio).abs() < 1e-9,
        "{top}"
    );
    assert!(
        top["times_the_energy"].as_f64().unwrap() * 1.1 > 3.0,
        "not within 10 % of the three times that are told"
    );
    assert_eq!(
        (top["fast"].as_str(), top["slow"].as_str()),
        (Some("big"), Some("little"))
    );
}

#[test]
fn the_user_interface_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let text = stopwatt(&[
        "run",
        "placement",
        "--all",
        "--policies",
        "all-big,hmp,even",
        "--seconds",
        "2",
        "--seeds",
        "2",
        "-o",
        folder.path().join("r").to_str().unwrap(),
    ]);
    let text = String::from_utf8(text.stdout).unwrap();
    for said in [
        "The modelled p95 of render is ",
        "takes the least energy",
        "the integral",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn tasks_stand_beside_the_published_joules_and_the_model_beats_a_constant() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("r");
    let given = [
        "run",
        "placement",
        "--tasks",
        "10,20,30,40,50",
        "--platform",
        "juno-r2-a72",
        "--rules",
        "eas,off",
        "--seeds",
        "3",
    ];
    let run = stopwatt(
        &[
            &given[..],
            &["--format", "json", "-o", output.to_str().unwrap()],
        ]
        .concat(),
    );
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let board = &json["boards"][0];
    assert_eq!(
        (board["unit"].as_str(), board["published"][0].as_f64()),
        (Some("J"), Some(6.57))
    );
    let rms = |name: &str| {
        let predictors = board["predictors"].as_array().unwrap();
        let found = predictors
            .iter()
            .find(|predictor| predictor["name"] == name);
        found.unwrap_or_else(|| panic!("{name}"))["rms_percent"]
            .as_f64()
            .unwrap()
    };
    let constant = rms("a constant per task");
    assert!((constant - 5.57).abs() < 0.01, "{constant}");
    assert!(rms("eas, 300") < constant, "{}", rms("eas, 300"));
    let scale = board["predictors"][0]["scale"].as_f64().unwrap();
    assert!(
        (0.9..1.1).contains(&scale),
        "joules are right without a scale, too: {scale}"
    );
    assert_eq!(
        board["rules"][0]["gain_percent"].as_array().unwrap().len(),
        5
    );
    // Other tasks than the published ones have no figures beside them.
    let given = [
        "run",
        "placement",
        "--platform",
        "juno-r2-a72",
        "--duty",
        "6",
        "--seeds",
        "1",
        "--seconds",
        "1",
    ];
    let other = folder.path().join("other");
    let run = stopwatt(
        &[
            &given[..],
            &[
                "--tasks",
                "2,4",
                "--format",
                "json",
                "-o",
                other.to_str().unwrap(),
            ],
        ]
        .concat(),
    );
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(
        json["published_source"].is_null()
            && json["boards"][0]["predictors"]
                .as_array()
                .unwrap()
                .is_empty()
    );
}

#[test]
fn every_board_runs_with_energy_that_adds_up() {
    let folder = tempfile::tempdir().unwrap();
    for board in [
        "juno-r1-a57",
        "juno-r2-a57",
        "juno-r2-a72",
        "hikey960",
        "exynos5422",
    ] {
        let given = [
            "--platform",
            board,
            "--frequency",
            "schedutil",
            "--seeds",
            "1",
            "--seconds",
            "1",
            "-o",
            board,
        ];
        let json = done(folder.path(), &given);
        let recording = Recording::read(folder.path().join(board)).unwrap();
        assert!(
            recording.header.complaints.is_empty(),
            "{board}: {:?}",
            recording.header.complaints
        );
        assert!(
            json["policies"][0]["energy_j"]["median"].as_f64().unwrap() > 0.0,
            "{board}: in joules"
        );
    }
}

#[test]
fn equal_tasks_that_cannot_run_are_refused() {
    for (given, said) in [
        (
            &["placement", "--tasks", "20,10"][..],
            "rising whole numbers",
        ),
        (
            &["placement", "--tasks", "2", "--rules", "eas-5"],
            "eas, eas-6.0, off",
        ),
        (
            &["placement", "--tasks", "2", "--platform", "juno-r9"],
            "there is no platform",
        ),
        (
            &["placement", "--tasks", "2", "--platform", "juno-r1"],
            "has no operating points",
        ),
        (
            &["placement", "--tasks", "2", "--policies", "hmp"],
            "--policies means nothing here",
        ),
        (&["placement", "--duty", "10"], "give --tasks, too"),
    ] {
        let output = stopwatt(&[&["run"], given].concat());
        assert_eq!(output.status.code(), Some(2), "{given:?}");
        let error = String::from_utf8_lossy(&output.stderr).replace('│', " ");
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(error.contains(said), "{given:?}: {error}");
    }
}

#[test]
fn late_periods_lost_signals_and_deadlocks_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let put = |tasks: &str| {
        let text = format!("{{ \"tasks\": {{ {tasks} }}, \"global\": {{ \"duration\": 2 }} }}");
        std::fs::write(here.join("w.json"), text).unwrap();
    };
    let few = ["w.json", "--policies", "all-big", "--seeds", "1"];
    put(
        r#""late": { "run": 12000, "timer": { "ref": "unique", "period": 10000 }, "resume": "nobody" }"#,
    );
    let json = done(here, &few);
    let late = &json["policies"][0]["tasks"]["late"];
    assert!(
        late["missed_periods"].as_f64().unwrap() > 150.0
            && late["missed_periods"] == late["periods"],
        "{late}"
    );
    let notes = json["notes"].to_string();
    assert!(
        notes.contains("Task late resumes nobody") && notes.contains("the signal is lost"),
        "{notes}"
    );

    put(
        r#""a": { "lock": "x", "run": 1000, "lock": "y" }, "b": { "lock": "y", "run": 1000, "lock": "x" }"#,
    );
    let output = run(here, &few);
    let error = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("there is a deadlock, whose tasks never run again: ")
            && error.contains("waits for the mutex"),
        "{error}"
    );

    put(r#""m": { "mem": 100000, "sleep": 900 }"#);
    let error = refused(here, &few);
    assert!(
        error.contains("`mem` writes to memory, and it is not said how fast")
            && error.contains("--memory-bytes-per-us")
    );
    let json = done(
        here,
        &[&few[..], &["--memory-bytes-per-us", "1000"]].concat(),
    );
    let busy = json["policies"][0]["tasks"]["m"]["cpu_time_us_per_s"]
        .as_f64()
        .unwrap();
    assert!(
        (70_000.0..=110_000.0).contains(&busy),
        "100 us in each ms: {busy}"
    );
}
