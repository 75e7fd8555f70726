//! `stopwatt compare`, as a user and a CI job meet it.

use crate::common::stopwatt;
use recording::{Header, Recording};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Records releases of Juno into a folder of its own.
fn record(folder: &Path, name: &str, more: &[&str]) -> String {
    let path = folder.join(name).to_str().unwrap().to_owned();
    let arguments = [
        "run",
        "psci-latency",
        "--iterations",
        "3",
        "--free-seeds",
        "0",
        "-o",
        &path,
    ];
    let output = stopwatt(&[&arguments[..], more].concat());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    path
}

#[test]
fn a_recording_does_not_differ_from_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = record(folder.path(), "r", &[]);
    let output = stopwatt(&["compare", &path, &path, "--threshold", "0"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output).contains("No regression: 288 unchanged of 288"),
        "{}",
        text(&output)
    );
}

#[test]
fn v2_11_and_v2_12_differ_by_their_sessions_and_the_printed_changes_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = record(folder.path(), "r", &[]);
    let (a, b) = (format!("{path}@juno-v2.11"), format!("{path}@juno-v2.12"));
    let output = stopwatt(&["compare", &a, &b, "--all"]);
    assert_eq!(
        output.status.code(),
        Some(3),
        "two sessions of one release differ by as much"
    );
    let printed = text(&output);
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("`stopwatt run psci-latency --release juno-v2.12"),
        "{words}"
    );
    for part in [
        "exact: a world that repeats itself",
        "costs.scp.take",
        "another order",
        "suspend-level0 serial: powerdown (us)",
        "sessions: the costs of A and B were fitted to two sessions of a board",
        "21 changes are printed, 0 follow from the tables",
        "+2011.59 %",
    ] {
        assert!(printed.contains(part), "`{part}` is not in:\n{printed}");
    }
    assert!(!printed.contains('\u{1b}'), "NO_COLOR is respected");
    let widest = printed.lines().map(|line| line.chars().count()).max();
    assert!(
        widest <= Some(100),
        "without a terminal lines have at most 100 columns, not {widest:?}"
    );

    let json: Value =
        serde_json::from_slice(&stopwatt(&["compare", &a, &b, "--format", "json"]).stdout).unwrap();
    assert_eq!(
        json["published_changes"]["not_remade"]
            .as_array()
            .unwrap()
            .len(),
        21
    );
    assert_eq!(json["rows"].as_array().unwrap().len(), 96);
    assert_eq!(
        (json["outcome"].as_str(), json["regression"].as_bool()),
        (Some("cannot-be-judged"), Some(false))
    );
    let moved = json["sessions"][0]["board_costs_moved"].as_array().unwrap();
    assert!(
        moved.iter().any(|cost| cost["cost"] == "scp.take"),
        "{moved:?}"
    );

    let page = text(&stopwatt(&["compare", &a, &b, "--format", "html"]));
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.len() < report::MOST_BYTES,
        "{} bytes",
        page.len()
    );
    let answer = &page[page.find("class=headline").unwrap()..];
    let answer = &answer[..answer.find("</p>").unwrap()];
    for part in [
        "The CPUs came in another order in juno-v2.12, so 16 rows are not judged",
        "two measurements of one release differ by up to",
        "so it may be the board",
    ] {
        assert!(answer.contains(part), "`{part}` is not in {answer}");
    }
    let table = &page[page
        .find("<h3>suspend-level0 serial: powerdown (us)")
        .unwrap()..];
    let picture = &table[table.find("<figure").unwrap()..table.find("</figure>").unwrap()];
    // A line for each recording and CPU, and a point for each of the three iterations.
    let count = |class: &str| picture.matches(&format!("<i class=\"{class} m")).count();
    assert_eq!((count("range"), count("point")), (12, 36), "{picture}");
    assert!(
        picture.contains("3 values from") && !page.contains("http:"),
        "{picture}"
    );
    // The SCP was in another state, so it is told as the cause of no row.
    for row in json["rows"].as_array().unwrap() {
        assert_ne!(row["changes"][0]["main_cause"], "scp-wait", "{row}");
    }
}

/// Two runs on the costs of one session, one of them with a faster SCP.
#[test]
fn causes_and_critical_paths_of_one_session_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let release = ["--release", "juno-v2.12", "--order", "declared"];
    let a = record(folder.path(), "a", &release);
    let b = record(
        folder.path(),
        "b",
        &[&release[..], &["--set", "costs.scp.take=60 us"]].concat(),
    );
    let json: Value =
        serde_json::from_slice(&stopwatt(&["compare", &a, &b, "--format", "json"]).stdout).unwrap();
    assert_eq!(json["sessions"].as_array().unwrap().len(), 0);
    let page = text(&stopwatt(&["compare", &a, &b, "--format", "html"]));
    let answer = &page[page.find("class=headline").unwrap()..];
    let answer = &answer[..answer.find("</p>").unwrap()];
    for part in ["mostly SCP wait", "The slowest CPU of", "of it the SCP"] {
        assert!(answer.contains(part), "`{part}` is not in {answer}");
    }
    let table = &page[page
        .find("<h3>suspend-level0 serial: powerdown (us)")
        .unwrap()..];
    // What a path hangs on adds up, and stands on the page with what changed most.
    let tables = json["critical_paths"].as_array().unwrap();
    assert!(!tables.is_empty());
    let us = |path: &Value, part: &str| path["parts"][part].as_f64().unwrap_or(0.0);
    for path in tables
        .iter()
        .flat_map(|table| table["paths"].as_array().unwrap())
    {
        let sum: f64 = path["parts"]
            .as_object()
            .unwrap()
            .keys()
            .map(|part| us(path, part))
            .sum();
        assert!((sum - path["us"].as_f64().unwrap()).abs() < 0.01, "{path}");
    }
    let is_shown = |of: &&Value| {
        of["case"] == "suspend-level0" && of["mode"] == "serial" && of["metric"] == "powerdown"
    };
    let paths = &tables.iter().find(is_shown).unwrap()["paths"];
    let whole = paths[1]["us"].as_f64().unwrap() - paths[0]["us"].as_f64().unwrap();
    let said = &table[table
        .find("Critical path of the slowest CPU (1.0) ")
        .unwrap()..][..150];
    assert!(
        said.contains(&format!("(1.0) {whole:+.2} us (")),
        "{whole}: {said}"
    );
    let of_scp = us(&paths[1], "scp") - us(&paths[0], "scp");
    assert!(
        said.contains(&format!("): the SCP {of_scp:+.2} (")),
        "{of_scp}: {said}"
    );
    let level0 = json["rows"].as_array().unwrap().iter().filter(|row| {
        row["case"] == "suspend-level0"
            && row["mode"] == "serial"
            && row["metric"] == "powerdown"
            && row["row"] != "1.0"
    });
    for row in level0 {
        let change = &row["changes"][0];
        assert_eq!(
            (change["verdict"].as_str(), change["how"]["kind"].as_str()),
            (Some("better"), Some("exact")),
            "{row}"
        );
        assert_eq!(change["main_cause"], "scp-wait", "{row}");
    }
}

#[test]
fn exit_status_threshold_and_policy_decide_what_a_ci_job_sees() {
    let folder = tempfile::tempdir().unwrap();
    let release = ["--release", "juno-v2.12", "--order", "declared"];
    let base = record(folder.path(), "base", &release);
    let take = [&release[..], &["--set", "costs.scp.take=83.5 us"]].concat();
    let slower = record(folder.path(), "slower", &take);
    let code = |more: &[&str]| {
        stopwatt(&[&["compare", &base, &slower][..], more].concat())
            .status
            .code()
    };
    assert_eq!(code(&[]), Some(1), "3 % more of the SCP");
    assert_eq!(code(&["--threshold", "5%"]), Some(0));
    let policy = folder.path().join("policy.toml");
    let policy_path = policy.to_str().unwrap();
    std::fs::write(
        &policy,
        "threshold = 10.0\n[[rule]]\ncase = \"suspend-level0\"\nmode = \"serial\"\nthreshold = 1.0\n",
    )
    .unwrap();
    assert_eq!(code(&["--policy", policy_path]), Some(1));
    std::fs::write(
        &policy,
        "[[rule]]\nmetric = \"powerdown\"\nignore = true\n[[rule]]\nmetric = \"wakeup\"\nbetter = \"neither\"\n",
    )
    .unwrap();
    assert_eq!(code(&["--policy", policy_path]), Some(0));
    assert_eq!(
        code(&["--metric", "latency", "--metric", "cache_flush"]),
        Some(0)
    );

    std::fs::write(&policy, "treshold = 10.0\n").unwrap();
    for wrong in [
        vec!["--policy", policy_path],
        vec!["--threshold", "-1"],
        vec!["--metric", "none"],
        vec!["no such recording"],
    ] {
        let output = stopwatt(&[&["compare", &base, &slower][..], &wrong].concat());
        assert_eq!(
            output.status.code(),
            Some(2),
            "{wrong:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.stdout.is_empty());
    }
    let said = String::from_utf8(stopwatt(&["compare", &base, &slower, "--metric", "none"]).stderr)
        .unwrap();
    let said = said
        .replace('│', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        said.contains("no recording has the measure `none`")
            && said.contains("powerdown, time_in_state"),
        "{said}"
    );
}

/// A bound needs no base, and its status, its text, its JSON and its XML say one thing.
#[test]
fn a_bound_decides_in_place_of_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, us) in [("a", 1800), ("b", 2200)] {
        let table = format!("case,metric,value,unit\ndomain-sleep,wake-up,{us},us\n");
        std::fs::write(path("table.csv"), table).unwrap();
        let imported = stopwatt(&["import", "csv", &path("table.csv"), "-o", &path(name)]);
        assert!(imported.status.success());
    }
    let policy = path("policy.toml");
    for (bound, sides, status, outcome) in [
        ("wake-up of domain-sleep <= 2 ms", &["a"][..], 0, "held"),
        ("wake-up of domain-sleep <= 2 ms", &["b", "a"], 0, "held"),
        (
            "wake-up of domain-sleep <= 2 ms",
            &["a", "b"],
            1,
            "exceeded",
        ),
        (
            "wake-up of cpu-sleep <= 2 ms",
            &["a", "b"],
            3,
            "cannot-be-judged",
        ),
    ] {
        std::fs::write(&policy, format!("bounds = [{bound:?}]\n")).unwrap();
        let sides: Vec<String> = sides.iter().map(|side| path(side)).collect();
        let printed = |format: &str| {
            let mut of = vec!["compare", "--policy", &policy, "--format", format];
            of.extend(sides.iter().map(String::as_str));
            let output = stopwatt(&of);
            assert_eq!(output.status.code(), Some(status), "{bound} {sides:?}");
            text(&output)
        };
        let json: Value = serde_json::from_str(&printed("json")).unwrap();
        assert_eq!(json["outcome"], outcome);
        assert_eq!(json["bounds"][0]["bound"], bound);
        assert_eq!(
            printed("junit").matches("<failure ").count(),
            usize::from(status > 0)
        );
        assert!(printed("term").contains(bound) && printed("html").contains("domain-sleep"));
    }
    std::fs::write(&policy, "\nbounds = [\"above < 8 %\"]\n").unwrap();
    let output = stopwatt(&["compare", &path("a"), "--policy", &policy]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("policy.toml:2") && said.contains("is no bound"),
        "{said}"
    );
}

#[test]
fn junit_says_what_the_comparison_says() {
    let folder = tempfile::tempdir().unwrap();
    let case = [
        "--release",
        "juno-v2.12",
        "--case",
        "suspend-deepest",
        "--mode",
        "serial",
    ];
    let base = record(folder.path(), "base", &case);
    let slower = record(
        folder.path(),
        "slower",
        &[&case[..], &["--set", "costs.scp.take=100 us"]].concat(),
    );
    let printed = |format: &[&str]| {
        let output = stopwatt(&[&["compare", &base, &slower, "--format"], format].concat());
        assert_eq!(
            output.status.code(),
            Some(1),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text(&output)
    };
    let json: Value = serde_json::from_str(&printed(&["json"])).unwrap();
    let worse = |row: &&Value| row["changes"][0]["verdict"] == "worse";
    let (rows, failed) = (
        json["rows"].as_array().unwrap(),
        json["rows"]
            .as_array()
            .unwrap()
            .iter()
            .filter(worse)
            .count(),
    );
    assert!(
        failed > 0 && failed < rows.len(),
        "{failed} of {}",
        rows.len()
    );

    let junit = printed(&["junit"]);
    assert!(
        junit.contains(&format!("tests=\"{}\" failures=\"{failed}\"", rows.len())),
        "{junit}"
    );
    assert_eq!(junit.matches("<failure ").count(), failed, "{junit}");
}

#[test]
fn the_base_may_lie_in_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let case = [
        "--release",
        "juno-v2.12",
        "--case",
        "suspend-level0",
        "--mode",
        "serial",
    ];
    let repository = folder.path().join("repository");
    std::fs::create_dir_all(repository.join("ci")).unwrap();
    let base = record(&repository.join("ci"), "base", &case);
    let git = |arguments: &[&str]| {
        let who = [
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ];
        let output = Command::new("git")
            .args(who)
            .args(arguments)
            .current_dir(&repository)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "base"]);
    std::fs::remove_dir_all(&base).unwrap();
    let today = record(folder.path(), "today", &case);
    let compare = |named: &str| {
        let command = Command::new(env!("CARGO_BIN_EXE_stopwatt"))
            .args(["compare", named, &today, "--threshold", "0"])
            .current_dir(&repository)
            .output();
        command.unwrap()
    };
    let output = compare("HEAD:ci/base@v2.12");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text(&output).contains("No regression"), "{}", text(&output));
    for wrong in ["HEAD:ci/absent", "absent:ci/base", "--help:x"] {
        let output = compare(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    let said = String::from_utf8_lossy(&compare("absent:ci/base").stderr).into_owned();
    assert!(
        said.contains("there is no folder `absent:ci/base`"),
        "{said}"
    );
}

#[test]
fn a_board_log_stands_beside_the_simulation_and_more_than_two_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let simulated = record(folder.path(), "simulated", &["--release", "juno-v2.12"]);
    let published = folder.path().join("published").to_str().unwrap().to_owned();
    let output = stopwatt(&[
        "import",
        "csv",
        "data/published/juno-psci.csv",
        "--platform",
        "juno-r1",
        "-o",
        &published,
    ]);
    assert!(output.status.success());
    let (old, new) = (
        format!("{published}@juno-v2.11"),
        format!("{published}@juno-v2.12"),
    );
    let output = stopwatt(&["compare", &simulated, &old, &new, "--format", "json"]);
    assert_eq!(
        output.status.code(),
        Some(3),
        "one value per row is no evidence"
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        json["rows"].as_array().unwrap().len(),
        96,
        "every case and name matches"
    );
    assert!(
        json["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["changes"].as_array().unwrap().len() == 2)
    );
    assert!(
        json["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("worlds differ"),
        "{}",
        json["warnings"]
    );
    let output = stopwatt(&["compare", &simulated, &old, &new, "--all"]);
    assert!(
        text(&output).contains("│ row ") && text(&output).contains("C/A"),
        "{}",
        text(&output)
    );
}

/// Recordings of UART logs, one for each run, of six CPUs in two tests; times are `by` as long, and
/// scatter by a few parts in a thousand.
fn logs(folder: &Path, name: &str, runs: u32, by: u32) -> Vec<String> {
    let log = |run: u32| {
        let mut text = String::new();
        for (test, number) in [("susp_deep_serial", 0), ("cpu_susp_serial", 1)] {
            for cpu in 0..6_u32 {
                let of = |usual: u32| {
                    usual * by + (run * 7 + cpu * 3 + number * 5 + usual / 1000) % 11 * usual / 4000
                };
                let (cluster, core) = if cpu < 2 { (0, cpu) } else { (1, cpu - 2) };
                let [down, up, flush] = [100_000, 20_000, 5_000].map(of);
                text += &format!(
                    "<RT_INSTR:test_rt_instr_{test}\t{cluster}\t{core}\t{down}\t{up}\t{flush}/>\n"
                );
            }
        }
        text
    };
    let import = |run: u32| {
        let [from, to] =
            [format!("{name}-{run}.log"), format!("{name}/{run}")].map(|path| folder.join(path));
        std::fs::write(&from, log(run)).unwrap();
        let [from, to] = [from, to].map(|path| path.to_str().unwrap().to_owned());
        let output = stopwatt(&["import", "rt-instr", &from, "-o", &to]);
        assert!(
            output.status.success() && text(&output).contains("3 runs a side"),
            "{}",
            text(&output)
        );
        to
    };
    (1..=runs).map(import).collect()
}

/// Ten times slower: one run a side cannot tell, three can, as words or as folders.
#[test]
fn too_few_runs_are_an_outcome_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (base, slower, same) = (
        logs(folder.path(), "base", 3, 1),
        logs(folder.path(), "slower", 3, 10),
        logs(folder.path(), "same", 3, 1),
    );
    let policy = folder.path().join("policy.toml");
    let policy = policy.to_str().unwrap();
    let one = |more: &[&str]| stopwatt(&[&["compare", &base[0], &slower[0]], more].concat());
    let said = text(&one(&[]));
    assert!(
        said.starts_with("36 of 36 rows are 10 times slower in slower/1, large and unproven"),
        "{said}"
    );
    let junit = |output: Output| {
        text(&output)
            .matches("<failure type=\"cannot-be-judged\"")
            .count()
    };
    for (unjudged, status, failures) in [("tell", 3, 36), ("fail", 1, 36), ("pass", 0, 0)] {
        std::fs::write(
            policy,
            format!("threshold = 2.0\nunjudged = \"{unjudged}\"\n"),
        )
        .unwrap();
        assert_eq!(one(&["--policy", policy]).status.code(), Some(status));
        assert_eq!(
            junit(one(&["--policy", policy, "--format", "junit"])),
            failures,
            "{unjudged}"
        );
    }
    let with = |base: &[String], other: &[String]| {
        let words: Vec<&str> = base.iter().map(String::as_str).collect();
        let other: Vec<&str> = other.iter().map(String::as_str).collect();
        stopwatt(&[&["compare"][..], &words, &["--with"], &other].concat())
    };
    assert_eq!(with(&base[..2], &slower[..2]).status.code(), Some(3));
    let worse = with(&base, &slower);
    assert_eq!(worse.status.code(), Some(1));
    assert!(
        text(&worse).starts_with("Powerdown is 10 times slower in slower in 12 of 12 rows"),
        "{}",
        text(&worse)
    );
    assert_eq!(with(&base, &same).status.code(), Some(0));
    assert!(
        text(&with(&base, &same)).starts_with("Nothing changed"),
        "{}",
        text(&with(&base, &same))
    );
    let sides =
        ["base", "slower"].map(|side| folder.path().join(side).to_str().unwrap().to_owned());
    let folders = stopwatt(&["compare", &sides[0], &sides[1], "--format", "json"]);
    let json: Value = serde_json::from_slice(&folders.stdout).unwrap();
    assert_eq!(
        (folders.status.code(), json["outcome"].as_str()),
        (Some(1), Some("regression"))
    );
    assert_eq!(
        (
            &json["recordings"][0]["runs"],
            &json["in_common"][0]["verdict"]
        ),
        (&3.into(), &"worse".into())
    );
}

/// A recording of `psci-calls --firmware` in which PSCI_VERSION takes this number of instructions.
fn counted(folder: &Path, name: &str, instructions: f64) -> String {
    let mut header = Header::new("psci-calls", "qemu", "instructions");
    header.time.counter_hz = Some(62_500_000);
    header.repeatable = Some(true);
    let mut recording = Recording::new(header);
    let series = recording.series("firmware", "psci-calls", "serial");
    let others = [
        ("CPU_ON", 1088.0 + instructions / 100.0),
        ("power-down level 0, early out", 231.0 + instructions),
    ];
    for (call, value) in [("PSCI_VERSION", instructions)].into_iter().chain(others) {
        let subject = recording.name(call);
        recording
            .measure(series, 0, "call", "instructions", value)
            .subject = Some(subject);
    }
    let path = folder.join(name);
    recording.write(&path).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The gate of a firmware project's CI: one instruction more fails it, and the policy of the
/// documents lets CPU_ON move by a tick.
#[test]
fn one_instruction_more_in_a_call_is_a_regression() {
    let folder = tempfile::tempdir().unwrap();
    let [before, same, after] = [("before", 177.0), ("same", 177.0), ("after", 178.0)]
        .map(|(name, value)| counted(folder.path(), name, value));
    let policy = folder.path().join("ci.toml");
    std::fs::write(
        &policy,
        "threshold = 0.0\n[[rule]]\nrow = \"CPU_ON\"\nleast = 16.0\n",
    )
    .unwrap();
    let compare = |other: &str| {
        stopwatt(&[
            "compare",
            &before,
            other,
            "--policy",
            policy.to_str().unwrap(),
        ])
    };
    assert_eq!(compare(&same).status.code(), Some(0));
    let worse = compare(&after);
    assert_eq!(worse.status.code(), Some(1));
    let printed = text(&worse).replace('\n', " ");
    assert!(
        printed.contains("Regression: 2 worse, 1 changed below the threshold of 3"),
        "{printed}"
    );
}

/// A price of an instruction is told only where it foretold a release better than "as before".
#[test]
fn a_change_of_calls_is_told_in_time_of_a_board_where_releases_bear_that_out() {
    let folder = tempfile::tempdir().unwrap();
    let [before, after] = [("before", 100.0), ("after", 150.0)]
        .map(|(name, value)| counted(folder.path(), name, value));
    let on = |board: &[&str]| stopwatt(&[&["compare", &before, &after, "--on"], board].concat());
    let juno = text(&on(&["juno-r1"])).replace('\n', " ");
    assert!(juno.contains("What the change takes on juno-r1 cannot be told: from v2.9 to v2.12"));
    assert!(
        juno.contains("held 5 of 12") && juno.contains("\"as before\" held 9"),
        "{juno}"
    );
    assert!(!juno.contains("us longer"), "{juno}");
    let json = on(&["juno-r1", "--format", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let trial = &json["on_board"]["trial"];
    assert_eq!((&trial["met"], &trial["of"]), (&5.into(), &12.into()));
    let other = text(&on(&["hikey960"])).replace('\n', " ");
    assert!(
        other.contains("on hikey960 cannot be told: of no two releases"),
        "{other}"
    );
    let [nowhere, wrong] = [&[][..], &["tc3"]].map(|board| on(board).stderr);
    let said = |stderr: &[u8]| String::from_utf8_lossy(stderr).into_owned();
    assert!(said(&nowhere).contains("of juno-r1 something is known"));
    assert!(said(&wrong).contains("there is no platform `tc3`"));
}

/// The cells of the trial are those of the tables of times.
#[test]
fn the_trial_of_counts_has_the_published_times() {
    let rows = |name: &str| {
        let path = format!(
            "{}/../../data/published/{name}.csv",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(path).unwrap();
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        text.lines().skip(1).map(fields).collect::<Vec<_>>()
    };
    let time = |table: &str, release: &str, session: &str, place: &str| -> String {
        let is_of = |row: &&Vec<String>| {
            let text = row.join(",");
            let place = format!("psci-version,parallel,{place},latency,");
            text.contains(release) && text.contains(session) && text.contains(&place)
        };
        let (rows, number) = (rows(table), |cell: &&String| cell.contains('.'));
        let row = rows.iter().find(is_of).expect("the table has it");
        row.iter().rfind(number).expect("a row has a time").clone()
    };
    for row in rows("counted") {
        let (session, place) = (&row[6], row[7..9].join(","));
        let before = time("juno-psci-sessions", "v2.9,", session, &place);
        let after = time("juno-psci", "juno-v2.12,", "", &place);
        let us = |text: &str| text.parse::<f64>().expect("a time");
        assert_eq!([us(&before), us(&after)], [us(&row[9]), us(&row[10])]);
    }
}

/// What whoever imports a measurement says of it is a condition, as the machine of our own runs is.
#[test]
fn rows_of_another_given_condition_are_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let import = |name: &str, value: u32, condition: &str| {
        let [file, to] = [format!("{name}.csv"), name.to_owned()]
            .map(|name| folder.path().join(name).to_str().unwrap().to_owned());
        let text = format!("case,metric,value,unit\nparse,time,{value},us\n");
        std::fs::write(&file, text).unwrap();
        let output = stopwatt(&["import", "csv", &file, "-o", &to, "--condition", condition]);
        assert!(output.status.success(), "{output:?}");
        to
    };
    let of = |side: &str, value: u32, condition: &str| {
        [0, 1, 2].map(|run| import(&format!("{side}{run}"), value + run, condition))
    };
    let (a, same) = (of("a", 1000, "kernel=6.1"), of("s", 5000, "kernel=6.1"));
    let other = of("b", 5000, "kernel=6.6");
    let compare = |b: &[String; 3]| {
        let sides = ["compare"].into_iter().chain(a.iter().map(String::as_str));
        let sides = sides.chain(["--with"]).chain(b.iter().map(String::as_str));
        stopwatt(&sides.collect::<Vec<_>>())
    };
    assert_eq!(compare(&same).status.code(), Some(1), "a regression");
    let output = compare(&other);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let said = text(&output);
    assert!(
        said.contains("was measured with kernel 6.6, not kernel 6.1, so 1 row is not judged"),
        "{said}"
    );
    let wrong = stopwatt(&["import", "csv", "x.csv", "-o", "y", "--condition", "kernel"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        said.contains("expected KEY=VALUE, such as machine=board-2"),
        "{said}"
    );
}
