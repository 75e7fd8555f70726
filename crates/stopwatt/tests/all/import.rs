//! `stopwatt import`, as a user meets it.

use crate::common::stopwatt;
use serde_json::Value;
use std::process::{Command, Stdio};

const TRACE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/import/data/guest.trace"
);

const LOG: &str = "NOTICE:  Booting\n<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t236300\t30880\t137760/>\n\
                   <RT_INSTR:test_rt_instr_psci_version_parallel\t1\t0\t520/>\nbye\n";

#[test]
fn a_log_becomes_a_recording_that_says_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let (log, output) = (
        folder.path().join("board.log"),
        folder.path().join("recording"),
    );
    std::fs::write(&log, LOG).unwrap();
    let arguments = [
        "import",
        "rt-instr",
        log.to_str().unwrap(),
        "--platform",
        "juno-r1",
        "--format",
        "json",
    ];
    let said = stopwatt(&[&arguments[..], &["--output", output.to_str().unwrap()]].concat());
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let json: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(
        (json["figures"].as_u64(), json["left_out"].as_u64()),
        (Some(4), Some(0))
    );

    let recording = recording::Recording::read(&output).unwrap();
    assert_eq!(
        (
            recording.header.world.as_str(),
            recording.header.run.machine.as_deref()
        ),
        ("import", None)
    );
    assert_eq!(recording.header.platform.as_ref().unwrap().name, "juno-r1");
    assert!(recording.header.settings["source"].ends_with("board.log"));
    let off = recording.measures()[0];
    // CPU 0.0 is CPU 4 of the platform; the release is named after the file.
    assert_eq!(
        (off.cpu, off.cluster, off.core, off.value),
        (Some(4), Some(0), Some(0), 236_300.0)
    );
    assert_eq!(
        recording.series_texts(off.series),
        ("board", "cpu-off", "serial")
    );
    assert_eq!(recording.text(off.unit), "ns");
}

#[test]
fn a_malformed_line_is_shown_and_leaves_no_recording_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (log, output) = (
        folder.path().join("board.log"),
        folder.path().join("recording"),
    );
    std::fs::write(
        &log,
        format!("{LOG}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t23"),
    )
    .unwrap();
    let arguments = [
        "import",
        "rt-instr",
        log.to_str().unwrap(),
        "-o",
        output.to_str().unwrap(),
    ];
    let said = stopwatt(&arguments);
    let error = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(2));
    let flat = error.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "board.log:5: the line is cut short",
        "5 │ <RT_INSTR:test_rt_instr_cpu_off_serial 0 0 23",
        "parted by tabs",
    ] {
        assert!(flat.contains(part), "`{part}` is not in: {error}");
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "only the log is there"
    );

    let said = stopwatt(&[&arguments[..], &["--lenient"]].concat());
    assert!(said.status.success());
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("warning: "),
        "a line that is left out is told"
    );
    assert_eq!(
        recording::Recording::read(&output)
            .unwrap()
            .measures()
            .len(),
        4
    );
}

/// Two traces are compared as two dumps of the kernel's counters are.
#[test]
fn a_trace_has_counts_of_its_states_that_compare() {
    let folder = tempfile::tempdir().unwrap();
    let trace = std::fs::read_to_string(TRACE).unwrap();
    // Every stay in state 2 is one in state 1 in the second trace.
    std::fs::write(
        folder.path().join("after.trace"),
        trace.replace("cpu_idle: state=2 ", "cpu_idle: state=1 "),
    )
    .unwrap();
    std::fs::write(folder.path().join("before.trace"), trace).unwrap();
    let [before, after] = ["before", "after"].map(|name| {
        let [file, to] = [".trace", ""].map(|end| {
            folder
                .path()
                .join(format!("{name}{end}"))
                .display()
                .to_string()
        });
        assert!(
            stopwatt(&["import", "ftrace", &file, "-o", &to])
                .status
                .success()
        );
        to
    });
    let json =
        |words: &[&str]| -> Value { serde_json::from_slice(&stopwatt(words).stdout).unwrap() };
    let told = json(&["report", &before, "--format", "json"]);
    let entered: u64 = told["tests"][0]["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["entered"].as_f64().unwrap() as u64)
        .sum();
    let summary = json(&["import", "ftrace", TRACE, "--format", "json"]);
    let idle = summary["idle"].as_array().unwrap().iter();
    assert_eq!(
        entered,
        idle.map(|of| of["entered"].as_u64().unwrap()).sum::<u64>()
    );
    let compared = json(&["compare", &before, &after, "--format", "json"]);
    let states = compared["idle"][0]["states"].as_array().unwrap();
    let share =
        |name: &str| states.iter().find(|of| of["state"] == name).unwrap()["share_percent"].clone();
    assert!(
        share("core-off")[0].as_f64().unwrap() > 0.0
            && share("core-off")[1].as_f64().unwrap_or(0.0) == 0.0,
        "{compared}"
    );
}

/// What woke the CPUs is in the summary, and in the recording as a finding and as measures.
#[test]
fn a_recording_tells_what_woke_the_cpus_and_how_clusters_slept() {
    let calls = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../xtask/site/files/calls.txt"
    );
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("calls").display().to_string();
    let json =
        |words: &[&str]| -> Value { serde_json::from_slice(&stopwatt(words).stdout).unwrap() };
    let summary = json(&[
        "import",
        "ftrace",
        calls,
        "--cluster",
        "0-1",
        "-o",
        &to,
        "--format",
        "json",
    ]);
    let told = json(&["report", &to, "--format", "json"]);
    assert_eq!(
        (&told["wake_ups"], &told["domains"]),
        (&summary["wake_ups"], &summary["domains"])
    );
    assert_eq!(told["wake_ups"]["called_before"], 2);
    let caller = &told["wake_ups"]["callers"][0];
    assert_eq!(
        (&caller["by"], &caller["by_cpu"], &caller["first"]),
        (&"writer".into(), &2.into(), &"reader".into())
    );
    let [all, own, rest] = [0, 1, 2].map(|row| told["domains"][row]["total_ns"].as_u64().unwrap());
    assert_eq!(all, own + rest);
    let text = |words: &[&str]| String::from_utf8(stopwatt(words).stdout).unwrap();
    let screen = text(&["report", &to]);
    assert!(
        screen.contains("IPI Rescheduling interrupts") && screen.lines().count() <= 20,
        "{screen}"
    );
    let csv = text(&["report", &to, "--format", "csv"]);
    for metric in [
        "wake_up_rate",
        "wake_exit",
        "wake_run",
        "wake_ups",
        "idle_called",
    ] {
        assert!(csv.contains(&format!(",{metric},")), "no {metric} in {csv}");
    }
    assert!(text(&["compare", &to, &to, "--all"]).contains("wake_up_rate"));
}

/// A pipe is read as the file is, and a packed file as what was packed.
#[test]
fn a_trace_is_read_packed_and_from_standard_input() {
    let plain = stopwatt(&["import", "ftrace", TRACE, "--format", "json"]);
    assert!(plain.status.success());
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("replay").display().to_string();
    let replay = ["run", "idle-replay", "-", "--output", &output];
    for arguments in [&["import", "ftrace", "-", "--format", "json"][..], &replay] {
        let mut gzip = Command::new("gzip")
            .args(["-c", TRACE])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let piped = Command::new(env!("CARGO_BIN_EXE_stopwatt"))
            .args(arguments)
            .stdin(gzip.stdout.take().unwrap())
            .output()
            .unwrap();
        assert!(gzip.wait().unwrap().success());
        assert!(
            piped.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&piped.stderr)
        );
        if arguments[0] == "import" {
            assert_eq!(piped.stdout, plain.stdout);
        }
    }
}

/// A document whose tables are in files beside it, as TF-A's are today, with figures of our own.
const DOCUMENT: &str = "Results\n-------\n\n\
    .. csv-table:: ``CPU_SUSPEND`` latencies (ns) to deepest power level in\n    parallel (current release)\n\
    \x20   :header: Cluster, Core, Powerdown, Wakeup, Cache Flush\n    :width: 95%\n    :file: data/now.csv\n\n\
    .. csv-table:: ``PSCI_VERSION`` latency (us) in parallel on all cores (previous release)\n\
    \x20   :header-rows: 1\n\n    Cluster, Core, Latency\n    0, 0, 1200 (+20.00%)\n    0, 1, 1160\n\n\
    .. csv-table:: Something else\n    :header: Option, Meaning\n\n    a, b\n\nThe end.\n";
const NOW: &str = "0,0,332000,270000(+1031.44%),169000(+22.05%)\n0,1,624000(-1.01%),30000,166000\n";

#[test]
fn tables_in_files_beside_a_document_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(at("page.rst"), DOCUMENT).unwrap();
    std::fs::write(at("data/now.csv"), NOW).unwrap();
    let import = |more: &[&str]| {
        stopwatt(
            &[
                &[
                    "import",
                    "rst",
                    &at("page.rst"),
                    "--prefix",
                    "juno-",
                    "-o",
                    &at("r"),
                ],
                more,
            ]
            .concat(),
        )
    };
    let said = import(&["--unit", "ns"]);
    let error = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.success(), "{error}");
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    for part in [
        "juno-current: suspend-deepest parallel, 2 CPUs, 1 iteration, cache_flush (ns), powerdown (ns), wakeup (ns)",
        "juno-previous: psci-version parallel, 2 CPUs, 1 iteration, latency (ns)",
        "8 figures in 2 tables",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    // An error is in the file that has it; a file that is not there is named.
    std::fs::write(at("data/now.csv"), NOW.replace("624000", "6240O0")).unwrap();
    let flat = |output: &std::process::Output| {
        let said = String::from_utf8_lossy(&output.stderr).replace('│', " ");
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let error = flat(&import(&[]));
    assert!(
        error.contains("now.csv:2:") && error.contains("`6240O0(-1.01%)` is no figure"),
        "{error}"
    );
    std::fs::remove_file(at("data/now.csv")).unwrap();
    let error = flat(&import(&[]));
    assert!(
        error.contains("page.rst:4: cannot read the table's file"),
        "{error}"
    );
    std::fs::write(
        at("page.rst"),
        DOCUMENT.replace("data/now.csv", "/etc/hostname"),
    )
    .unwrap();
    assert!(flat(&import(&[])).contains("is not named from the document on"));
}

#[test]
fn a_table_file_of_a_document_is_read_by_itself_under_the_name_of_its_test() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("test_rt_instr_susp_deep_parallel.csv"), NOW).unwrap();
    std::fs::write(at("some.csv"), NOW).unwrap();
    let import = |name: &str| {
        stopwatt(&[
            "import",
            "csv",
            &at(name),
            "--variant",
            "v2.14",
            "-o",
            &at("r"),
        ])
    };
    let said = import("test_rt_instr_susp_deep_parallel.csv");
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        text.contains("v2.14: suspend-deepest parallel, 2 CPUs, 1 iteration"),
        "{text} {said:?}"
    );
    assert!(text.contains("6 figures in 1 tables"), "{text}");
    let said = import("some.csv");
    assert_eq!(said.status.code(), Some(2));
    let error = String::from_utf8_lossy(&said.stderr).replace('│', " ");
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        error.contains("cannot tell the case") && error.contains("named after its test"),
        "{error}"
    );
}

#[test]
fn the_published_tables_are_imported_under_their_own_units() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("recording");
    let said = stopwatt(&[
        "import",
        "csv",
        "data/published/juno-psci.csv",
        "--platform",
        "juno-r1",
        "-o",
        output.to_str().unwrap(),
    ]);
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("288 figures in 18 tables"), "{text}");
    assert!(
        text.contains("juno-2017: psci-version parallel, 6 CPUs, 1 iteration, latency (ns)"),
        "{text}"
    );
}

/// The output of `grep` for two CPUs with two states, after some rounds of work.
fn grepped(round: u64) -> String {
    let mut text = String::new();
    for (cpu, state) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}");
        let (name, latency, residency) = if state == 0 {
            ("WFI", 1, 1)
        } else {
            ("cpu-sleep", 500, 1500)
        };
        let count = |factor: u64| round * factor * (state + 1);
        for (file, content) in [
            ("above", count(state)),
            ("below", count(1 - state)),
            ("latency", latency),
            ("residency", residency),
            ("time", count(1_000_000)),
            ("usage", count(10)),
        ] {
            text += &format!("{path}/{file}:{content}\n");
        }
        text += &format!("{path}/name:{name}\n");
    }
    text
}

#[test]
fn two_dumps_of_idle_states_are_a_recording_with_a_story_that_compares() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for round in [1, 3, 9] {
        std::fs::write(path(&format!("{round}.txt")), grepped(round)).unwrap();
    }
    let (first, second) = (path("first"), path("second"));
    let (one, three, nine) = (path("1.txt"), path("3.txt"), path("9.txt"));
    let import = [
        "import",
        "cpuidle",
        &one,
        &three,
        "--seconds",
        "10",
        "--variant",
        "6.1",
    ];
    let looked = stopwatt(&import);
    assert!(String::from_utf8_lossy(&looked.stdout).contains("No recording was written"));
    let said = stopwatt(&[&import[..], &["-o", &first, "--all"]].concat());
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let text = String::from_utf8_lossy(&said.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    // 40 entries of WFI and 80 of cpu-sleep, of which 8 were too deep and 4 of WFI too shallow.
    for part in [
        "On 6.1, 2 CPUs",
        " 120 times in 10",
        "10.00 % of the entries missed",
        "6.67 %",
        "3.33 %",
        "in cpu-sleep",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("6.1, each CPU"), "{text}");
    let said = stopwatt(&[
        "import",
        "cpuidle",
        &three,
        &nine,
        "--variant",
        "6.6",
        "-o",
        &second,
        "--format",
        "json",
    ]);
    let json: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(json["tests"][0]["entered"], 360.0);
    let said = stopwatt(&["compare", &first, &second, "--all"]);
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        text.starts_with(
            "B chose a wrong idle state in 10.00 % of the entries and A in 10.00 %: +0.00 points"
        ),
        "{text}"
    );
    assert!(
        text.contains("Share of the idle time in each state"),
        "{text}"
    );
}

#[test]
fn dumps_that_are_swapped_leave_no_recording_behind_and_one_alone_counts_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (before, after, output) = (path("before.txt"), path("after.txt"), path("recording"));
    std::fs::write(&before, grepped(5)).unwrap();
    std::fs::write(&after, grepped(8)).unwrap();
    let table = path("table.csv");
    std::fs::write(&table, "state,name,usage,above,below\n0,WFI,10,0,1\n").unwrap();
    let nowhere = path("nowhere");
    for (files, error) in [
        (vec![&after, &before], "the dumps are swapped"),
        (vec![&table, &after], "is a table of what was counted"),
        (vec![&before, &table], "is a table"),
        (vec![&before, &nowhere], "cannot be read"),
    ] {
        let mut arguments = vec!["import", "cpuidle"];
        arguments.extend(files.iter().map(|file| file.as_str()));
        let said = stopwatt(&[&arguments[..], &["-o", &output]].concat());
        let found = String::from_utf8_lossy(&said.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            said.status.code() == Some(2) && found.contains(error),
            "{error}: {found}"
        );
        assert!(!std::path::Path::new(&output).exists(), "{error}");
    }
    let said = stopwatt(&["import", "cpuidle", &before, "-o", &output]);
    assert!(
        said.status.success()
            && String::from_utf8_lossy(&said.stderr).contains("from the start of the machine")
    );
    let recording = recording::Recording::read(std::path::Path::new(&output)).unwrap();
    let series = recording.all_series().next().unwrap();
    assert_eq!(recording.series_texts(series).1, "since the start");
}

#[test]
fn a_tidy_table_needs_neither_cluster_nor_core() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let table = |scale: f64| {
        let rows = (0..6).map(|run| {
            format!(
                "\"sort, all\",{run},wall,time,{},ms\nsort,{run},,size,{},MB\n",
                scale + f64::from(run) / 100.0,
                7.5
            )
        });
        format!(
            "case,run,role,metric,value,unit\n{}",
            rows.collect::<String>()
        )
    };
    for (name, scale) in [("a", 10.0), ("b", 20.0)] {
        std::fs::write(path(name), table(scale)).unwrap();
        let said = stopwatt(&[
            "import",
            "csv",
            &path(name),
            "-o",
            &path(&format!("{name}.rec")),
        ]);
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(
            said.status.success()
                && text.contains("6 iterations, time (ms)")
                && !text.contains("CPUs"),
            "{text}"
        );
        let shown = stopwatt(&["report", &path(&format!("{name}.rec")), "--all"]);
        assert!(
            shown.status.success() && String::from_utf8_lossy(&shown.stdout).contains("sort, all")
        );
    }
    let recording = recording::Recording::read(std::path::Path::new(&path("a.rec"))).unwrap();
    let roles: std::collections::BTreeSet<_> = recording
        .measures()
        .iter()
        .map(|measure| measure.role.map(|role| recording.text(role)))
        .collect();
    assert_eq!(roles.into_iter().collect::<Vec<_>>(), [None, Some("wall")]);
    std::fs::write(path("policy.toml"), "iterations = \"runs\"\n").unwrap();
    let said = stopwatt(&[
        "compare",
        &path("a.rec"),
        &path("b.rec"),
        "--policy",
        &path("policy.toml"),
    ]);
    assert_eq!(
        said.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&said.stdout)
    );
    for (row, error) in [
        ("sort,time,x,ms", "is no figure"),
        ("sort,time,1", "3 cells"),
        (",time,1,ms", "the case is empty"),
    ] {
        std::fs::write(path("c"), format!("case,metric,value,unit\n{row}\n")).unwrap();
        let said = stopwatt(&["import", "csv", &path("c"), "-o", &path("c.rec")]);
        let found = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(
            said.status.code() == Some(2) && found.contains(error) && found.contains(":2"),
            "{found}"
        );
    }
}

/// A folder as of sysfs, which the command changes as a kernel would.
#[test]
fn a_capture_takes_both_dumps_around_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (sysfs, output) = (path("cpu"), path("recording"));
    let state = folder.path().join("cpu/cpu0/cpuidle/state0");
    std::fs::create_dir_all(&state).unwrap();
    let empty = stopwatt(&[
        "capture", "cpuidle", "--sysfs", &sysfs, "-o", &output, "--", "true",
    ]);
    let error = String::from_utf8_lossy(&empty.stderr)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        error.contains("this machine counts no idle states") && error.contains("CONFIG_CPU_IDLE"),
        "{error}"
    );
    for (file, content) in [
        ("name", "WFI"),
        ("usage", "5"),
        ("time", "700"),
        ("above", "0"),
        ("below", "1"),
    ] {
        std::fs::write(state.join(file), content).unwrap();
    }
    let usage = state.join("usage").display().to_string();
    let capture = [
        "capture",
        "cpuidle",
        "--sysfs",
        &sysfs,
        "-o",
        &output,
        "--variant",
        "mine",
        "--all",
        "--",
    ];
    let work = format!("echo 25 > {usage}; exit 3");
    let said = stopwatt(&[&capture[..], &["sh", "-c", &work]].concat());
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let text = String::from_utf8_lossy(&said.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        text.starts_with("On mine, 1 CPU entered idle states 20 times in 0."),
        "{text}"
    );
    assert!(
        text.contains("The command ended with exit status: 3."),
        "{text}"
    );
    let recording = recording::Recording::read(&output).unwrap();
    assert_eq!(
        (
            recording.header.experiment.as_str(),
            recording.header.world.as_str()
        ),
        ("cpuidle", "host")
    );
    std::fs::remove_dir_all(&output).unwrap();
    let missing = stopwatt(&[&capture[..], &["no-such-command"]].concat());
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot run no-such-command"));
    let asleep = stopwatt(&[&capture[..], &["true"]].concat());
    let error = String::from_utf8_lossy(&asleep.stderr).into_owned();
    assert!(
        asleep.status.code() == Some(2) && error.contains("no CPU came out of an idle state"),
        "{error}"
    );
    assert!(!folder.path().join("recording").exists());
}

/// The published counts of a machine, whose table of differences was published with two of its
/// labels swapped.
#[test]
fn the_table_of_the_menu_regression_is_remade() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("oracle").display().to_string();
    let table = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/published/cpuidle-oracle.csv"
    );
    assert!(
        stopwatt(&["import", "cpuidle", table, "-o", &output])
            .status
            .success()
    );
    let compared = |kernel: &str| format!("{output}@{kernel}");
    let said = stopwatt(&[
        "compare",
        &compared("bad"),
        &compared("good"),
        "--format",
        "json",
    ]);
    let json: Value = serde_json::from_slice(&said.stdout).unwrap();
    let changes: Vec<(String, String)> = json["idle"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| {
            let points =
                |which: &str| format!("{:+.2}", test["changes"][0][which].as_f64().unwrap());
            (
                test["case"].as_str().unwrap().to_owned(),
                points("above_points") + " " + &points("below_points"),
            )
        })
        .collect();
    let expected = [
        ("sqlite", "-9.66 -0.61"),
        ("jbb", "-20.35 +3.30"),
        ("fio", "-0.44 +2.57"),
        ("rds-stress", "-10.11 +2.36"),
    ];
    assert_eq!(
        changes,
        expected.map(|(case, points)| (case.to_owned(), points.to_owned()))
    );
}
