//! `stopwatt sweep`, as a user meets it.

use crate::common::{root, stopwatt};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// 60 points in 20 chunks.
const PLAN: &str = r#"
experiment = "psci-latency"
chunk = 3
keep = ["measures", "causes"]
metrics = ["powerdown"]

[settings]
release = "last"
iterations = 1
free-seeds = 0
case = "suspend-level0"
mode = "parallel"
order = "free"

[grid]
scp.channels = [1, 2]

[random]
points = 6
ranges = { costs.scp.core_on = { from = 55.0, to = 65.0, unit = "us" } }

[seeds]
count = 5
"#;

/// A plan in a folder of its own.
fn planned(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    fs::write(&plan, text).unwrap();
    (folder, plan)
}

fn sweep(plan: &Path, to: &Path, more: &[&str]) -> Output {
    let (plan, to) = (plan.display().to_string(), to.display().to_string());
    stopwatt(&[&["-q", "sweep", plan.as_str(), "-o", to.as_str()][..], more].concat())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The bytes of every file of the data, by its path.
fn data(of: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for chunk in fs::read_dir(of.join("data"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        for file in fs::read_dir(&chunk)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            let name = file.strip_prefix(of).unwrap().display().to_string();
            files.insert(name, fs::read(&file).unwrap());
        }
    }
    files
}

/// The numbers of the points of a data set, in the order of its chunks.
fn points(of: &Path) -> Vec<u64> {
    let mut all = Vec::new();
    for name in data(of)
        .keys()
        .filter(|name| name.ends_with("points.parquet"))
    {
        let file = SerializedFileReader::new(File::open(of.join(name)).unwrap()).unwrap();
        let rows = file.get_row_iter(None).unwrap();
        all.extend(rows.map(|row| row.unwrap().get_ulong(0).unwrap()));
    }
    all
}

#[test]
fn one_two_and_seven_shards_leave_the_same_bytes() {
    let (folder, plan) = planned(PLAN);
    let at = |name: &str| folder.path().join(name);
    let output = sweep(&plan, &at("whole"), &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("60 points in 20 chunks"),
        "{}",
        said(&output)
    );
    let whole = data(&at("whole"));
    assert_eq!(
        whole.len(),
        20 * 4,
        "points, measures, causes and chunk.toml of each chunk"
    );
    assert!(points(&at("whole")).into_iter().eq(0..60));
    for of in [2, 7] {
        let to = at(&format!("shards{of}"));
        // At the same time, and the last first.
        let running = (1..=of).rev().map(|index| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
            command
                .args(["-q", "sweep"])
                .arg(&plan)
                .arg("-o")
                .arg(&to)
                .args(["--shard", &format!("{index}/{of}")]);
            command
                .current_dir(root())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        });
        let running: Vec<_> = running.collect();
        for mut shard in running {
            assert!(shard.wait().unwrap().success());
        }
        assert!(data(&to) == whole, "{of} shards left other bytes");
        // All is there, so nothing is run again.
        let output = sweep(&plan, &to, &["--format", "json"]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (
                json["points"].as_u64(),
                json["chunks_there_before"].as_u64()
            ),
            (Some(0), Some(20))
        );
    }
}

#[test]
fn killed_ten_times_it_goes_on_and_loses_and_doubles_no_point() {
    let (folder, plan) = planned(PLAN);
    let at = |name: &str| folder.path().join(name);
    assert!(sweep(&plan, &at("whole"), &[]).status.success());
    let to = at("killed");
    let chunks = || fs::read_dir(to.join("data")).map_or(0, Iterator::count);
    for kill in 1..=10 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
        command
            .args(["-q", "sweep"])
            .arg(&plan)
            .arg("-o")
            .arg(&to)
            .env("RAYON_NUM_THREADS", "2");
        let mut child = command
            .current_dir(root())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Killed at once after it wrote another chunk, so in the middle of the next; each goes a
        // little further.
        let before = chunks();
        while chunks() == before && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_micros(200 * kill));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(chunks() > 0, "it wrote nothing before it was killed");
    let resumed = stopwatt(&["-q", "sweep", "--resume", to.to_str().unwrap()]);
    assert!(resumed.status.success(), "{}", said(&resumed));
    assert!(
        data(&to) == data(&at("whole")),
        "the killed sweep left other bytes"
    );
    assert!(
        points(&to).into_iter().eq(0..60),
        "points are lost or doubled"
    );
    let left: Vec<_> = fs::read_dir(&to)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "plan, marks and data: {left:?}");
}

#[test]
fn a_chunk_that_was_cut_short_is_run_again() {
    let (folder, plan) = planned(PLAN);
    let to = folder.path().join("s");
    assert!(sweep(&plan, &to, &[]).status.success());
    let whole = data(&to);
    fs::write(to.join("data/chunk=000004/measures.parquet"), b"PAR1").unwrap();
    fs::remove_file(to.join("data/chunk=000007/chunk.toml")).unwrap();
    let output = sweep(&plan, &to, &[]);
    assert!(
        said(&output).contains("6 points in 2 chunks"),
        "{}",
        said(&output)
    );
    assert!(data(&to) == whole);
}

#[test]
fn a_point_that_fails_is_named_and_the_others_go_on() {
    // An invented release exists on no platform, but is found only when its points run.
    let text = PLAN.replace("release = \"last\"\n", "");
    let text = text.replace("scp.channels = [1, 2]", "release = [\"last\", \"v9.9\"]");
    let (folder, plan) = planned(&text);
    let to = folder.path().join("s");
    let output = sweep(&plan, &to, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("30 points failed"), "{text}");
    assert!(
        text.contains("point 30 (release=v9.9 costs.scp.core_on="),
        "{text}"
    );
    assert!(
        text.contains("has no release `v9.9`") && text.contains("and 10 more"),
        "{text}"
    );
    assert!(text.contains("stopwatt sweep --resume"), "{text}");
    assert!(points(&to).into_iter().eq(0..60));
    // What failed is run again, and fails again; the rest is not touched.
    let again = sweep(&plan, &to, &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        (
            again.status.code(),
            json["points"].as_u64(),
            json["failures"].as_u64()
        ),
        (Some(1), Some(30), Some(30))
    );
    // The rows of the others are read all the same.
    let report = stopwatt(&["report", to.to_str().unwrap(), "--format", "csv"]);
    let rows = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(
        report.status.success() && rows.lines().count() == 31 && rows.contains(",last,"),
        "{}",
        said(&report)
    );
    assert!(
        reported(&to).contains("30 points failed; the first is point 30"),
        "{}",
        reported(&to)
    );
}

#[test]
fn a_flipped_byte_is_noticed_and_its_chunk_is_run_again() {
    let (folder, plan) = planned(PLAN);
    let to = folder.path().join("s");
    assert!(sweep(&plan, &to, &[]).status.success());
    let whole = data(&to);
    let damaged = to.join("data/chunk=000004/measures.parquet");
    let mut bytes = fs::read(&damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    let report = stopwatt(&["report", to.to_str().unwrap()]);
    let text = said(&report)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" │ ", "");
    assert_eq!(report.status.code(), Some(2), "{text}");
    assert!(
        text.contains("measures.parquet") && text.contains("sweep --resume"),
        "{text}"
    );
    let resumed = stopwatt(&["-q", "sweep", "--resume", to.to_str().unwrap()]);
    assert!(
        said(&resumed).contains("3 points in 1 chunks"),
        "{}",
        said(&resumed)
    );
    assert!(data(&to) == whole, "the chunk is as it was");
}

#[test]
fn a_report_says_first_that_chunks_are_missing() {
    let (folder, plan) = planned(PLAN);
    let to = folder.path().join("s");
    assert!(
        sweep(&plan, &to, &["--shard", "1/2"])
            .status
            .code()
            .is_some()
    );
    let report = |more: &[&str]| stopwatt(&[&["report", to.to_str().unwrap()], more].concat());
    let output = report(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("10 of 20 chunks are there"),
        "{}",
        said(&output)
    );
    assert_eq!(report(&["--partial"]).status.code(), Some(0));
    let json: serde_json::Value =
        serde_json::from_slice(&report(&["--format", "json"]).stdout).unwrap();
    assert_eq!(
        (
            json["chunks"]["there"].as_u64(),
            json["points"]["there"].as_u64()
        ),
        (Some(10), Some(30))
    );
    // A trace is of one run.
    assert_eq!(
        report(&["--format", "perfetto", "-o", "never.pftrace"])
            .status
            .code(),
        Some(2)
    );
}

/// Two programs with the same plan and the same folder: each point is run once.
#[test]
fn two_sweeps_on_one_folder_share_the_chunks() {
    let (folder, plan) = planned(PLAN);
    let to = folder.path().join("s");
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
        command
            .args(["-q", "sweep"])
            .arg(&plan)
            .arg("-o")
            .arg(&to)
            .args(["--format", "json"]);
        command.env("RAYON_NUM_THREADS", "1").current_dir(root());
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let (one, two) = (start(), start());
    let points = [one, two].map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["points"].as_u64().unwrap()
    });
    // Both may begin the same chunk in the same moment, once or twice.
    let sum: u64 = points.iter().sum();
    assert!(
        (60..=66).contains(&sum) && points.iter().all(|points| *points > 0),
        "{points:?}"
    );
    let alone = folder.path().join("alone");
    assert!(sweep(&plan, &alone, &[]).status.success());
    assert!(data(&to) == data(&alone));
}

#[test]
fn a_full_disk_is_named_and_what_is_missing_is_run_later() {
    let (folder, plan) = planned(PLAN);
    assert!(
        sweep(&plan, &folder.path().join("whole"), &[])
            .status
            .success()
    );
    let to = folder.path().join("small");
    fs::create_dir(&to).unwrap();
    // A file system of 400 KiB, in a name space of its own.
    let script = "mount -t tmpfs -o size=400k none \"$2\" || exit 77\n\
                  \"$0\" -q sweep \"$1\" -o \"$2/s\"; echo \"status $?\"\n\
                  ls \"$2/s/data\" | wc -l; ls -A \"$2/s\" | wc -l\n\
                  mount -o remount,size=40m \"$2\"\n\
                  \"$0\" -q sweep --resume \"$2/s\"; echo \"status $?\"; cp -r \"$2/s\" \"$3\"";
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        env!("CARGO_BIN_EXE_stopwatt"),
    ]);
    command
        .arg(&plan)
        .arg(&to)
        .arg(folder.path().join("copy"))
        .current_dir(root());
    let output = command.output().unwrap();
    if output.status.code() != Some(0) && said(&output).contains("unshare")
        || output.status.code() == Some(77)
    {
        println!(
            "skipped: a_full_disk_is_named needs to mount a file system: {}",
            said(&output)
        );
        return;
    }
    let text = said(&output);
    assert!(
        text.contains("was not written") && text.contains("No space left"),
        "{text}"
    );
    let lines: Vec<&str> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .lines()
        .collect();
    let statuses: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("status"))
        .collect();
    assert_eq!(statuses, [&"status 1", &"status 0"], "{text}");
    assert!(
        data(&folder.path().join("copy")) == data(&folder.path().join("whole")),
        "{text}"
    );
}

#[test]
fn a_signal_keeps_the_chunks_that_are_whole() {
    let (folder, plan) = planned(&PLAN.replace("count = 5", "count = 5000"));
    let to = folder.path().join("s");
    let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
    command
        .args(["-q", "sweep"])
        .arg(&plan)
        .arg("-o")
        .arg(&to)
        .current_dir(root());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while fs::read_dir(to.join("data")).map_or(0, Iterator::count) < 2
        && child.try_wait().unwrap().is_none()
    {
        thread::sleep(Duration::from_millis(2));
    }
    assert!(
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.signal(), Some(2), "{text}");
    assert!(
        text.contains("stopped before the end") && text.contains("--resume"),
        "{text}"
    );
    let left: Vec<_> = fs::read_dir(&to)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
    for chunk in fs::read_dir(to.join("data")).unwrap() {
        assert!(chunk.unwrap().path().join("chunk.toml").is_file());
    }
}

#[test]
fn plans_that_are_wrong_are_refused_with_their_line_before_anything_is_written() {
    let wrong = |text: &str, parts: &[&str]| {
        let (folder, plan) = planned(text);
        let to = folder.path().join("s");
        let output = sweep(&plan, &to, &[]);
        let said = said(&output);
        // What is drawn may break a line anywhere.
        let flat = said
            .split_whitespace()
            .filter(|word| *word != "│")
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(output.status.code(), Some(2), "{said}");
        for part in parts {
            assert!(flat.contains(part), "`{part}` is not in:\n{said}");
        }
        assert!(!to.exists(), "{text}");
    };
    let with = |more: &str| format!("experiment = \"psci-latency\"\n{more}");
    wrong(
        "experiment = \"psci-latncy\"\n",
        &[
            "plan.toml:1: there is no experiment",
            "did you mean psci-latency?",
        ],
    );
    wrong("[grid]\na = 1\n", &["missing field `experiment`"]);
    wrong(
        &with("[gird]\na = [1]\n"),
        &["plan.toml:2: unknown field `gird`", "`grid`"],
    );
    wrong(
        &with("[grid]\nseed = [1, 1]\n"),
        &["plan.toml:3: `1` stands twice"],
    );
    wrong(
        &with("[grid]\nseed = \"9..1\"\n"),
        &["plan.toml:3: `9..1` is no range"],
    );
    wrong(
        &with("[grid]\nseed = []\n"),
        &["plan.toml:3: `seed` has no value"],
    );
    wrong(&with("[grid]\nseed = [1, 2\n"), &["plan.toml:"]);
    wrong(
        &with("[settings]\nseed = 1\n[seeds]\ncount = 3\n"),
        &["plan.toml:4: `seed` is set twice"],
    );
    wrong(
        &with("[settings]\niterations = 0\n"),
        &[
            "plan.toml:3: `0` is no value of iterations",
            "from 1 to 100000",
        ],
    );
    wrong(
        &with("[grid]\nmode = [\"serail\"]\n"),
        &[
            "plan.toml:3: `serail` is no value",
            "one of parallel, serial",
        ],
    );
    wrong(
        &with("[grid]\norder = [\"freee\"]\n"),
        &[
            "no order `freee`",
            "there are: declared, free, and those of",
        ],
    );
    wrong(
        &with("world = \"moon\"\n"),
        &[
            "plan.toml:2: psci-latency does not run in a world `moon`",
            "sim, qemu",
        ],
    );
    wrong(
        &with("repetitions = 3\n"),
        &["3 repetitions in the world sim", "vary the seed instead"],
    );
    wrong(
        &with("keep = [\"evnts\"]\n"),
        &["plan.toml:2: unknown variant `evnts`"],
    );
    wrong(
        &with("[random]\npoints = 3\n"),
        &["plan.toml:2: missing field `ranges`"],
    );
    wrong(
        &with("[random]\npoints = 3\nranges = { costs.x = { from = 2.0, to = 1.0 } }\n"),
        &["plan.toml:4: the range of `costs.x` does not go up"],
    );
    wrong(
        &with("[grid]\nscp.chanels = [1, 2]\n"),
        &["no point of the plan can run", "unknown field `chanels`"],
    );
    let many = with("[grid]\nseed = \"1..100000\"\nscp.channels = \"1..10000\"\n");
    wrong(
        &many,
        &[
            "1000000000 points (100000 seed x 10000 scp.channels); at most 1000000 are run",
            "--at-most 1000000000",
        ],
    );
}

#[test]
fn what_is_in_the_way_is_left_alone() {
    let (folder, plan) = planned(PLAN);
    let to = folder.path().join("s");
    fs::create_dir(&to).unwrap();
    fs::write(to.join("mine.txt"), "mine").unwrap();
    let output = sweep(&plan, &to, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("it holds mine.txt"),
        "{}",
        said(&output)
    );
    assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
    fs::remove_file(to.join("mine.txt")).unwrap();
    assert!(sweep(&plan, &to, &["--shard", "1/20"]).status.success());
    fs::write(&plan, PLAN.replace("iterations = 1", "iterations = 2")).unwrap();
    let output = sweep(&plan, &to, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("holds the sweep of another plan"),
        "{}",
        said(&output)
    );
}

#[test]
fn points_are_told_before_they_run() {
    let (folder, plan) = planned(PLAN);
    let output = sweep(&plan, &folder.path().join("s"), &["--dry-run"]);
    let text = said(&output);
    assert!(
        text.contains("60 points (2 scp.channels x 6 random draws x 5 seed) in 20 chunks of 3"),
        "{text}"
    );
    assert!(
        text.contains("point 59: scp.channels=2 costs.scp.core_on="),
        "{text}"
    );
    assert!(!folder.path().join("s").exists());
}

#[test]
fn points_are_compared_like_releases() {
    let (folder, plan) = planned(
        "experiment = \"psci-latency\"\nkeep = [\"measures\", \"events\"]\n[settings]\nrelease = \"last\"\niterations = 1\n\
         free-seeds = 40\norder = \"free\"\ncase = \"suspend-deepest\"\nmode = \"parallel\"\n[grid]\nscp.channels = [1, 2]\n",
    );
    let to = folder.path().join("s");
    assert!(sweep(&plan, &to, &[]).status.success());
    let of = |channels: u32| format!("{}@juno-v2.12 scp.channels={channels}", to.display());
    let output = stopwatt(&["compare", &of(1), &of(2), "--all"]);
    let text = said(&output)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    // The one order that chance had is not judged, many seeds are: a flush waits for another one.
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.starts_with("Chance had the order of the CPUs, so 12 rows are not judged")
            && text.contains("parallel-free"),
        "{text}"
    );
}

/// The text of a report, without what it says of the recording at its end.
fn reported(of: &Path) -> String {
    let report = stopwatt(&["report", of.to_str().unwrap(), "--all"]);
    let text = String::from_utf8(report.stdout).unwrap();
    text.split("\nrecording: ")
        .next()
        .unwrap_or_default()
        .to_owned()
}
