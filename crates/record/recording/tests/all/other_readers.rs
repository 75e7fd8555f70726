//! A recording needs nothing of ours to be read: Python reads one with duckdb and with pandas; and
//! what Python wrote is read.

use recording::{CauseRow, Header, Recording};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// The Python with the packages of `python/requirements.txt`.
fn python() -> PathBuf {
    let tools =
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/python/tools/bin/python");
    let python = std::env::var_os("STOPWATT_TEST_PYTHON").map_or_else(tools, PathBuf::from);
    assert!(
        python.exists(),
        "{} is missing; `cargo xtask needs` makes it",
        python.display()
    );
    python
}

/// A folder of its own with a recording that has rows in every table.
fn written(test: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
    let mut header = Header::new("e", "sim", "ps");
    header.time.counter_hz = Some(50_000_000);
    let mut recording = Recording::new(header);
    let series = recording.series("v2.12", "cpu-off", "");
    let points = [
        recording.point("enter-psci"),
        recording.point_with("exit-psci", Some("smc-function")),
    ];
    for n in 0..1000_u32 {
        recording.event(
            series,
            n,
            0,
            u64::MAX - 1000 + u64::from(n),
            0,
            points[(n % 2) as usize],
            0,
        );
        recording
            .measure(series, n, "powerdown", "us", f64::from(n))
            .cpu = Some(1);
    }
    let (metric, cause) = (recording.name("powerdown"), recording.name("lock-wait"));
    let (iteration, cpu, on, holder, ticks) = (3, 1, Some(0), Some(0), 7);
    recording.push_cause(CauseRow {
        series,
        iteration,
        cpu,
        metric,
        cause,
        on,
        holder,
        ticks,
    });
    recording.write(&folder).unwrap();
    folder
}

fn read_with(script: &str, folder: &Path) -> String {
    let said = run_on(script, folder);
    std::fs::remove_dir_all(folder).unwrap();
    said
}

fn run_on(script: &str, folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(script);
    let output = run(Command::new(python()).arg(script).arg(folder));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn duckdb_reads_a_recording() {
    let text = read_with("read_with_duckdb.py", &written("duckdb"));
    let expected = "events=1000 last=18446744073709551614 points=enter-psci,exit-psci median=499.5 cpus=1000 subjects=0";
    assert!(text.lines().any(|line| line == expected), "{text}");
}

#[test]
fn pandas_reads_text_as_categories_and_finds_units_and_descriptions() {
    let text = read_with("read_with_pandas.py", &written("pandas"));
    for expected in [
        "events rows=1000 variant:category,case:category,mode:category,iteration:uint32,cpu:uint16,time:uint64,ticks:uint64,point:category,argument:uint32,argument_kind:category",
        "events units ticks=ticks of 50000000 Hz,time=ps",
        "measures units value=as the column `unit` says",
        "causes rows=1 variant:category,case:category,mode:category,iteration:uint32,cpu:uint16,metric:category,cause:category,on:uint32,holder:uint16,ticks:uint64",
    ] {
        assert!(
            text.lines().any(|line| line == expected),
            "{expected}\nis missing in\n{text}"
        );
    }
}

#[test]
fn tables_that_others_packed_with_zstd_are_refused_by_that_name() {
    let folder = written("zstd");
    run_on("write_with_zstd.py", &folder);
    let error = Recording::read(&folder).unwrap_err().to_string();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(error.contains("zstd"), "{error}");
}
