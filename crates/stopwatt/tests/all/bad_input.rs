//! Files that are no files, recordings that were tampered with, and signals: an error, soon, and
//! nothing left behind.

use crate::common::root;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

fn stopwatt(arguments: &[&str], folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
    command
        .args(arguments)
        .args(["--data", root().to_str().unwrap()])
        .current_dir(folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The output of the command, which must end within some minutes.
fn ended(arguments: &[&str], folder: &Path) -> (Output, String) {
    let mut child = stopwatt(arguments, folder);
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(600) {
            child.kill().unwrap();
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (
        output,
        said.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}

#[test]
fn a_setting_that_is_wrong_says_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let run = [
        "run",
        "psci-latency",
        "--set",
        "topology.clusters=0x4",
        "-o",
        "out",
    ];
    let (output, said) = ended(&run, folder.path());
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("topology.clusters=0x4") && said.contains("(16x4)"),
        "{said}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_fifo_or_a_device_in_place_of_a_file_is_an_error_and_no_hang() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(folder.path().join("fifo.x"))
            .status()
            .unwrap()
            .success()
    );
    for (file, what) in [("./fifo.x", "a FIFO"), ("/dev/zero", "a device")] {
        let ranges = format!("--ranges={file}");
        let all: [&[&str]; 13] = [
            &["run", "trace-energy", file, "--platform", "hikey960"],
            &["run", "idle-replay", file, "--platform", "juno-r2"],
            &["run", "psci-latency", "--platform", file],
            &[
                "what-if",
                "psci-latency",
                "--platform",
                file,
                "--vary",
                "iterations=1,2",
            ],
            &["run", "placement", file],
            &["run", "rcu-energy", &ranges],
            &["import", "rt-instr", file, "-o", "out"],
            &["import", "rst", file, "-o", "out"],
            &["import", "csv", file, "-o", "out"],
            &["import", "csv", "none", "--platform", file, "-o", "out"],
            &["import", "vpp-runtime", file, "-o", "out"],
            &["import", "ftrace", file],
            &["compare", "a", "b", "--policy", file],
        ];
        for arguments in all {
            let (output, said) = ended(arguments, folder.path());
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
            assert!(
                said.contains(what) && said.contains("regular file"),
                "{arguments:?}: {said}"
            );
            assert_eq!(
                fs::read_dir(folder.path()).unwrap().count(),
                1,
                "{arguments:?} left something"
            );
        }
    }
}

/// A recording of counts, which has measures and no events; small.
fn imported(folder: &Path) -> PathBuf {
    let log = "<RT_INSTR:test_rt_instr_susp_deep_parallel\t0\t1\t244520\t26920\t5540/>\n";
    fs::write(folder.join("uart.log"), log).unwrap();
    let (output, said) = ended(&["import", "rt-instr", "uart.log", "-o", "r"], folder);
    assert!(output.status.success(), "{said}");
    folder.join("r")
}

#[test]
fn a_trace_of_no_events_is_an_error_and_no_empty_file() {
    let folder = tempfile::tempdir().unwrap();
    imported(folder.path());
    let (output, said) = ended(&["report", "r", "--output", "r.pftrace"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("r has no events") && said.contains("--format csv"),
        "{said}"
    );
    assert!(!folder.path().join("r.pftrace").exists());
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    for report in ["/nonexistent/x.html", "/proc/x.html"] {
        let (output, said) = ended(
            &[
                "run",
                "psci-latency",
                "--iterations",
                "1",
                "--report",
                report,
                "-o",
                "new",
            ],
            folder.path(),
        );
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("cannot write {report}")), "{said}");
        assert!(!folder.path().join("new").exists());
    }
}

/// A counter that ticks once a second makes each cause of a span a million times as long as the
/// span.
#[test]
fn causes_that_do_not_fit_their_span_are_drawn_as_wide_as_the_span() {
    let folder = tempfile::tempdir().unwrap();
    let run = [
        "run",
        "psci-latency",
        "--release",
        "v2.12",
        "--iterations",
        "1",
        "--output",
        "r",
    ];
    assert!(ended(&run, folder.path()).0.status.success());
    let header = folder.path().join("r/recording.toml");
    let text = fs::read_to_string(&header).unwrap();
    fs::write(
        &header,
        text.replace("counter_hz = 50000000", "counter_hz = 1"),
    )
    .unwrap();
    let (output, said) = ended(&["report", "r"], folder.path());
    assert!(output.status.success(), "{said}");
    assert!(
        output.stdout.len() < 1 << 20,
        "{} bytes",
        output.stdout.len()
    );
}

#[test]
fn what_a_file_holds_is_not_sent_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let platform = fs::read_to_string(root().join("data/platforms/juno-r1.toml")).unwrap();
    let steering = platform.replace("[caches]\n", "[caches] # \u{1b}[2J\u{7}\nno = 1\n");
    fs::write(folder.path().join("p.toml"), steering).unwrap();
    let policy = "threshold = \"\u{1b}[31m\"\n";
    fs::write(folder.path().join("policy.toml"), policy).unwrap();
    let run = [
        "run",
        "psci-latency",
        "--release",
        "v2.12",
        "--iterations",
        "1",
        "--output",
        "r",
    ];
    assert!(ended(&run, folder.path()).0.status.success());
    for arguments in [
        &["run", "psci-latency", "--platform", "./p.toml"][..],
        &["compare", "r", "r", "--policy", "policy.toml"],
    ] {
        let (output, said) = ended(arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            !said.contains(|letter: char| letter.is_control()),
            "{said:?}"
        );
    }
}

/// How a command with `-v` ends that gets SIGINT as soon as it says that its steps go on, and what
/// it says. Until then a signal ends the program at once.
fn interrupted(arguments: &[&str], folder: &Path) -> (ExitStatus, String) {
    let mut child = stopwatt(arguments, folder);
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    while !said.contains("so far") {
        assert!(
            lines.read_line(&mut said).unwrap() > 0,
            "it is over before it is stopped: {said}"
        );
    }
    assert!(
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    lines.read_to_string(&mut said).unwrap();
    (child.wait().unwrap(), said)
}

#[test]
fn a_run_that_is_stopped_says_that_nothing_was_kept_and_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let run = [
        "run",
        "psci-latency",
        "--release",
        "v2.12",
        "--free-seeds",
        "0",
        "--output",
        "r",
    ];
    let (short, long) = (
        ["--iterations", "1"],
        ["--iterations", "40000", "--replace", "-v"],
    );
    assert!(
        ended(&[&run[..], &short].concat(), folder.path())
            .0
            .status
            .success()
    );
    let events = || fs::read(folder.path().join("r/events.parquet")).unwrap();
    let before = events();
    let what_if = [
        "what-if",
        "psci-latency",
        "--vary",
        "topology.clusters=40..90",
        "-v",
    ];
    for arguments in [[&run[..], &long].concat(), what_if.to_vec()] {
        let (status, said) = interrupted(&arguments, folder.path());
        assert_eq!(status.signal(), Some(2), "a shell must see SIGINT: {said}");
        assert!(
            said.contains("stopping after the step at hand") && said.contains("nothing was kept"),
            "{said}"
        );
        assert!(
            said.contains("data: "),
            "-v says which data is in force: {said}"
        );
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["r"]);
        assert_eq!(events(), before);
    }
}

/// One simulation of 512 CPUs and thousands of iterations: it is the only step of the run, and
/// would go on for minutes.
#[test]
fn a_single_long_simulation_is_left_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let case = [
        "--case",
        "suspend-deepest",
        "--mode",
        "parallel",
        "--free-seeds",
        "0",
        "--iterations",
        "5000",
    ];
    let run = [
        "run",
        "psci-latency",
        "--release",
        "v2.12",
        "--set",
        "topology.clusters=128x4",
        "-v",
        "-o",
        "r",
    ];
    let (status, said) = interrupted(&[&run[..], &case].concat(), folder.path());
    assert_eq!(status.signal(), Some(2), "{said}");
    assert!(
        said.contains("stopping after the step at hand") && said.contains("in the middle"),
        "{said}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn each_step_is_told_to_those_who_ask_and_none_to_those_who_want_none() {
    let folder = tempfile::tempdir().unwrap();
    let said = |how: &str| {
        let run = [
            "run",
            "psci-latency",
            "--release",
            "v2.12",
            "--iterations",
            "1",
            "--replace",
            "--output",
            "r",
        ];
        let (output, said) = ended(
            &[&run[..], &["--report", "r.html", how]].concat(),
            folder.path(),
        );
        assert!(output.status.success(), "{said}");
        said
    };
    let told = said("-v");
    for part in [
        "data: ",
        "psci-latency in world sim, ",
        "iterations=1",
        "writing r.html",
    ] {
        assert!(told.contains(part), "`{part}` is not in: {told}");
    }
    assert_eq!(said("-q"), "");
}

/// A path is bytes, and need not be text.
#[test]
fn a_path_that_is_no_text_is_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"a\xffb");
    let case = [
        "--case",
        "psci-version",
        "--iterations",
        "1",
        "--free-seeds",
        "0",
    ];
    let mut run = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
    run.args(["-q", "run", "psci-latency"])
        .args(case)
        .arg("-o")
        .arg(name);
    let page = std::ffi::OsStr::from_bytes(b"p\xff.html");
    run.arg("--report")
        .arg(page)
        .args(["--data", root().to_str().unwrap()]);
    let output = run.current_dir(folder.path()).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(folder.path().join(page).is_file());
    let recording = recording::Recording::read(folder.path().join(name)).unwrap();
    assert!(
        recording
            .header
            .run
            .command
            .iter()
            .any(|word| word == "a\u{fffd}b"),
        "{:?}",
        recording.header.run.command
    );
}

#[test]
fn a_signal_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    // Long enough to be met in the middle of it.
    let event = "          <idle>-0     [000] d..1.   100.000000: cpu_idle: state=1 cpu_id=0\n";
    let mut text = String::from("# tracer: nop\n#\n");
    (0..3_000_000_u64).for_each(|_| text.push_str(event));
    fs::write(folder.path().join("long.trace"), text).unwrap();
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut child = stopwatt(
            &["import", "ftrace", "long.trace", "-o", "r"],
            folder.path(),
        );
        let start = Instant::now();
        while fs::read_dir(folder.path()).unwrap().count() < 2 {
            assert!(
                child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(600),
                "nothing is written"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(
            Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("stopped"));
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["long.trace"]);
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_told_before_the_error() {
    let folder = tempfile::tempdir().unwrap();
    // No file may grow, as on a full disk; pipes may.
    let shell = "trap '' XFSZ; ulimit -f 0; exec \"$0\" -q run psci-latency --case psci-version --iterations 1 \
                 --free-seeds 0 -o r --data \"$1\"";
    let mut command = Command::new("sh");
    command.args([
        "-c",
        shell,
        env!("CARGO_BIN_EXE_stopwatt"),
        root().to_str().unwrap(),
    ]);
    let output = command.current_dir(folder.path()).output().unwrap();
    let [told, said] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        told.contains(" us") && !told.contains("Recording: "),
        "{told}"
    );
    assert!(said.contains("--output"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_number_below_0_is_answered_with_the_numbers_that_may_be_given() {
    let folder = tempfile::tempdir().unwrap();
    let (output, said) = ended(
        &["run", "psci-latency", "--iterations", "-1"],
        folder.path(),
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("iterations") && said.contains("from 1"),
        "{said}"
    );
    let key = format!("{}=1", ["a"; 4000].join("."));
    let (output, said) = ended(&["run", "psci-latency", "--set", &key], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("4000 parts") && said.len() < 2000, "{said}");
}

/// The program was aborted here before it asked how much memory there is.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_needs_more_memory_than_there_is_is_refused_before_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let script = "ulimit -v 1000000 && exec \"$0\" -q run psci-latency --iterations 90000 -o r --data \"$1\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_stopwatt")])
        .arg(root())
        .current_dir(folder.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("MiB can be had") && said.contains("fewer iterations"),
        "{said}"
    );
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing is left"
    );
}

#[test]
fn a_recording_of_any_name_is_compared_and_other_files_must_be_text() {
    let folder = tempfile::tempdir().unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"r\xff");
    fs::rename(imported(folder.path()), folder.path().join(odd)).unwrap();
    let run = |arguments: &[&std::ffi::OsStr]| {
        let output = Command::new(env!("CARGO_BIN_EXE_stopwatt"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (status, said) = run(&["compare".as_ref(), odd, odd]);
    assert!(matches!(status, Some(0 | 3)), "{said}");
    let (status, said) = run(&["report".as_ref(), odd]);
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = run(&["run".as_ref(), "idle-replay".as_ref(), odd]);
    assert!(status == Some(2) && said.contains("is not text"), "{said}");
}

#[test]
fn what_is_there_is_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    imported(folder.path());
    fs::write(
        folder.path().join("t.csv"),
        "case,metric,value,unit\nsort,time,1.25,ms\n",
    )
    .unwrap();
    let csv = ["import", "csv", "t.csv", "-o", "r"];
    assert!(
        ended(&csv, folder.path()).0.status.success(),
        "another import is"
    );
    let run = [
        "run",
        "psci-latency",
        "--release",
        "v2.12",
        "--iterations",
        "1",
        "--free-seeds",
        "0",
        "-o",
        "of-run",
    ];
    assert!(ended(&run, folder.path()).0.status.success());
    let other = ["import", "csv", "t.csv", "-o", "of-run"];
    let (output, said) = ended(&other, folder.path());
    assert!(
        output.status.code() == Some(2) && said.contains("--replace"),
        "{said}"
    );
    let (output, said) = ended(&[&other[..], &["--replace"]].concat(), folder.path());
    assert!(output.status.success(), "{said}");

    let plan = |channels: &str| {
        let text = format!(
            "experiment = \"psci-latency\"\n[settings]\nrelease = \"v2.12\"\niterations = 1\nfree-seeds = 0\n\
             case = \"suspend-level0\"\nmode = \"parallel\"\norder = \"free\"\n[grid]\nscp.channels = [{channels}]\n"
        );
        fs::write(folder.path().join("plan.toml"), text).unwrap();
    };
    let sweep = ["sweep", "plan.toml", "-o", "s"];
    plan("1, 2");
    assert!(ended(&sweep, folder.path()).0.status.success());
    plan("3");
    let (output, said) = ended(&sweep, folder.path());
    assert!(
        output.status.code() == Some(2) && said.contains("--replace"),
        "{said}"
    );
    fs::write(folder.path().join("s/mine"), "mine").unwrap();
    let (output, said) = ended(&[&sweep[..], &["--replace"]].concat(), folder.path());
    assert!(
        output.status.code() == Some(2) && said.contains("mine"),
        "{said}"
    );
    assert!(
        folder.path().join("s/mine").exists() && folder.path().join("s/sweep.toml").exists(),
        "nothing is removed"
    );
    fs::remove_file(folder.path().join("s/mine")).unwrap();
    assert!(
        ended(&[&sweep[..], &["--replace"]].concat(), folder.path())
            .0
            .status
            .success()
    );
    let points = ended(&["report", "s", "--format", "json"], folder.path())
        .0
        .stdout;
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&points).unwrap()["points"]["planned"],
        1
    );
}

#[test]
fn a_report_takes_the_place_of_no_device() {
    let folder = tempfile::tempdir().unwrap();
    imported(folder.path());
    assert!(
        Command::new("mkfifo")
            .arg(folder.path().join("fifo.html"))
            .status()
            .unwrap()
            .success()
    );
    let (output, said) = ended(&["report", "r", "-o", "fifo.html"], folder.path());
    assert!(
        output.status.code() == Some(2) && said.contains("no regular file"),
        "{said}"
    );
    assert!(
        !folder.path().join("fifo.html").is_file(),
        "it is what it was"
    );
}

#[test]
fn a_cost_is_a_number_from_0_on() {
    let folder = tempfile::tempdir().unwrap();
    for part in ["platforms", "published"] {
        let copied = Command::new("cp")
            .arg("-r")
            .arg(root().join("data").join(part))
            .arg(folder.path())
            .status();
        assert!(copied.unwrap().success());
    }
    let costs = folder
        .path()
        .join("platforms/macchiatobin/costs/prefetch.toml");
    let text = fs::read_to_string(&costs).unwrap();
    let line = text
        .lines()
        .position(|line| line.starts_with("dram = "))
        .unwrap();
    for (value, words) in [
        ("nan", "finite"),
        ("inf", "finite"),
        ("-3.0", "0 to"),
        ("1e99", "0 to"),
        ("\"4 us us\"", "expected f64"),
    ] {
        let lines = text.lines().enumerate();
        let spoilt: Vec<String> = lines
            .map(|(at, it)| {
                if at == line {
                    format!("dram = {value}")
                } else {
                    it.to_owned()
                }
            })
            .collect();
        fs::write(&costs, spoilt.join("\n")).unwrap();
        let run = [
            "run", "prefetch", "--world", "sim", "--frames", "10", "-o", "out",
        ];
        let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
        let output = command
            .args(run)
            .arg("--data")
            .arg(folder.path())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(output.status.code(), Some(2), "{value}: {said}");
        assert!(
            said.contains(&format!("prefetch.toml:{}", line + 1)) && said.contains(words),
            "{value}: {said}"
        );
        assert!(!folder.path().join("out").exists());
    }
}
