//! Runs test programs: each test in a process of its own, as many at a time as there are cores,
//! with the wall and the CPU time of each. A process each also keeps one test's state from another.

use crate::tools::{Result, cargo, said, seconds_of, words};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A test that has not ended by then is ended. No test takes a tenth of it on a quiet machine.
const DEADLINE: Duration = Duration::from_secs(900);

/// A compiled program of tests.
pub struct Program {
    /// Package that it belongs to.
    pub package: String,
    /// Target of the package: the library's name, or that of an integration test.
    pub target: String,
    executable: PathBuf,
    folder: PathBuf,
}

/// A test's outcome.
#[derive(Clone)]
pub struct Outcome {
    /// Package, target and path of the test, parted by blanks.
    pub name: String,
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds of CPU time, those of the processes that it started and waited for included.
    pub cpu: f64,
    /// The output of a test that failed.
    failure: Option<String>,
}

/// Builds the test programs that Cargo's arguments choose.
///
/// # Errors
/// Cargo fails; its messages are on standard error.
pub fn build(arguments: &str) -> Result<Vec<Program>> {
    let mut command = cargo("test --no-run --quiet --message-format json-render-diagnostics");
    command
        .args(words(arguments))
        .stderr(std::process::Stdio::inherit());
    Ok(said(&mut command)?.lines().filter_map(program).collect())
}

/// The test program that a message of Cargo's tells of.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_test = message["profile"]["test"].as_bool()?;
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    // `path+file:///checkout/crates/base/disk#0.1.0`, with the package's name before the version
    // where the folder has another.
    let (folder, version) = message["package_id"].as_str()?.rsplit_once('#')?;
    let named = version
        .split_once('@')
        .map_or_else(|| folder.rsplit('/').next(), |(name, _)| Some(name));
    is_test.then_some(Program {
        package: named?.to_owned(),
        target: text(&message["target"]["name"])?,
        executable: PathBuf::from(message["executable"].as_str()?),
        folder: manifest.parent()?.to_owned(),
    })
}

impl Program {
    /// The name of one of its tests, as tables and `xtask/slow.toml` have it.
    pub fn name(&self, path: &str) -> String {
        format!("{} {} {path}", self.package, self.target)
    }

    /// The paths of its tests.
    fn tests(&self) -> Result<Vec<String>> {
        let mut list = self.command();
        Ok(said(list.args(words("--list --format terse")))?
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .map(str::to_owned)
            .collect())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder);
        // What whoever runs the tests set for Stopwatt would change what the tests read.
        command.env_remove("COLUMNS").env_remove("STOPWATT_DATA");
        command
    }
}

/// Runs those tests of the programs that `is_chosen` takes by package, target and path, all of them
/// whatever fails.
///
/// The second result names the tests that failed or hung; their output stands on standard output.
///
/// # Errors
/// A program does not list its tests.
pub fn run(
    programs: &[Program],
    environment: &[(&str, PathBuf)],
    is_chosen: impl Fn(&Program, &str) -> bool,
) -> Result<(Vec<Outcome>, Result)> {
    let mut tests = Vec::new();
    for program in programs {
        let paths = program.tests()?;
        tests.extend(
            paths
                .into_iter()
                .filter(|path| is_chosen(program, path))
                .map(|path| (program, path)),
        );
    }
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((program, path)) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = one(program, path, environment);
            if let Some(output) = &outcome.failure {
                println!("---- {} FAILED\n{output}", outcome.name);
            }
            outcomes
                .lock()
                .expect("no test runs in this process")
                .push(outcome);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let outcomes = outcomes.into_inner().expect("no test runs in this process");
    let failed: Vec<_> = outcomes
        .iter()
        .filter(|outcome| outcome.failure.is_some())
        .collect();
    println!(
        "{} tests passed, {} failed",
        outcomes.len() - failed.len(),
        failed.len()
    );
    let result = if failed.is_empty() {
        Ok(())
    } else {
        Err(failed
            .iter()
            .map(|outcome| format!("\n  {}", outcome.name))
            .collect())
    };
    Ok((outcomes, result))
}

/// Runs one test.
fn one(program: &Program, path: &str, environment: &[(&str, PathBuf)]) -> Outcome {
    let name = program.name(path);
    let begin = Instant::now();
    let ended = tempfile::tempfile().and_then(|mut output| {
        let mut command = program.command();
        command
            .args(["--exact", path])
            .envs(environment.iter().map(|(name, value)| (name, value)));
        let mut child = command
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .spawn()?;
        let (in_time, cpu) = watch(&child, begin);
        if !in_time {
            child.kill()?;
        }
        let status = child.wait()?;
        let reason = if in_time {
            status.to_string()
        } else {
            format!("it hung for {} s", DEADLINE.as_secs())
        };
        Ok((
            cpu,
            (!status.success()).then(|| format!("{}{reason}", read(&mut output))),
        ))
    });
    let (cpu, failure) =
        ended.unwrap_or_else(|error| (0.0, Some(format!("it cannot be run: {error}"))));
    Outcome {
        name,
        wall: begin.elapsed().as_secs_f64(),
        cpu,
        failure,
    }
}

fn read(output: &mut File) -> String {
    let mut text = Vec::new();
    let _ = output.rewind().and_then(|()| output.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// Waits until a child has ended, and leaves it to be collected: until then the system tells its
/// CPU time. False if the deadline came first.
fn watch(child: &Child, begin: Instant) -> (bool, f64) {
    let id = Pid::from_raw(
        child
            .id()
            .try_into()
            .expect("a process id is positive and small"),
    );
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
    let mut pause = Duration::from_micros(500);
    let mut in_time = true;
    while in_time && matches!(waitid(Id::Pid(id), flags), Ok(WaitStatus::StillAlive)) {
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
        in_time = begin.elapsed() < DEADLINE;
    }
    // Of the child, and of the children that it has waited for.
    (in_time, seconds_of(&child.id().to_string(), 11, 4))
}

/// The tests that took most CPU time, as lines; and of those above `bound` seconds each that
/// `reasons` does not name, as `package target path`.
pub fn slowest(outcomes: &[Outcome], bound: f64, reasons: &[(String, String)]) -> Vec<String> {
    let mut by_cpu: Vec<&Outcome> = outcomes.iter().collect();
    by_cpu.sort_by(|a, b| b.cpu.total_cmp(&a.cpu).then(b.wall.total_cmp(&a.wall)));
    let shown = by_cpu
        .iter()
        .enumerate()
        .filter(|(at, outcome)| *at < 20 || outcome.cpu > bound);
    let line = |outcome: &Outcome| {
        let reason = reasons
            .iter()
            .find(|(name, _)| *name == outcome.name)
            .map(|(_, reason)| reason.as_str());
        let reason = match reason {
            Some(reason) => format!("  ({reason})"),
            None if outcome.cpu > bound => {
                format!("  (above {bound} s, and xtask/slow.toml has no reason)")
            }
            None => String::new(),
        };
        format!(
            "{:7.1} s  {:7.1} s of CPU  {}{reason}",
            outcome.wall, outcome.cpu, outcome.name
        )
    };
    shown.map(|(_, outcome)| line(outcome)).collect()
}
