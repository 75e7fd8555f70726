//! A recording needs nothing of ours to be read: Python with duckdb reads one, from its own virtual environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use recording::{Header, Recording};

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| {
        panic!("cannot start {command:?}: {error}; this test needs python3 with venv (Debian: apt-get install python3-venv)")
    });
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// A Python that has duckdb: made once under the target folder.
fn python() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-duckdb");
    let python = home.join("bin/python");
    let works = Command::new(&python).args(["-c", "import duckdb"]).output().is_ok_and(|o| o.status.success());
    if !works {
        let _ = std::fs::remove_dir_all(&home);
        run(Command::new("python3").args(["-m", "venv"]).arg(&home));
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "duckdb"]));
    }
    python
}

#[test]
fn duckdb_reads_a_recording() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("other-readers-{}", std::process::id()));
    let mut recording = Recording::new(Header::new("e", "sim", "ps"));
    let series = recording.series("v2.12", "cpu-off", "");
    let points = [recording.point("enter-psci"), recording.point("exit-psci")];
    for n in 0..1000_u32 {
        recording.event(series, n, 0, u64::MAX - 1000 + u64::from(n), 0, points[(n % 2) as usize], 0);
        recording.measure(series, n, "powerdown", "us", f64::from(n)).cpu = Some(1);
    }
    recording.write(&folder).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_with_duckdb.py");
    let output = run(Command::new(python()).arg(script).arg(&folder));
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let expected =
        "events=1000 last=18446744073709551614 points=enter-psci,exit-psci median=499.5 cpus=1000 subjects=0";
    assert!(text.lines().any(|line| line == expected), "{text}");
}
