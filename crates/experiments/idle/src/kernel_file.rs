//! A governor's file of a kernel's tree: compiled as it stands, and asked in a process of its own.
//!
//! Each header of the kernel that it includes is `kernel/shim.h`; `kernel/driver.c` asks it.

use crate::platform::Platform;
use crate::replay::{Ideal, Lived, Stay, Unsaid, asked, seen};
use crate::trace::TracedIntervals;
use disk::Partial;
use experiment::Error;
use idle::{KnownSituation, Outcome, SleepLength, State, States};
use itertools::Itertools;
use sleeps::Sleep;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SHIM: &str = include_str!("../kernel/shim.h");
const DRIVER: &str = include_str!("../kernel/driver.c");

/// The file of a governor, as it is asked for.
#[derive(Clone, PartialEq)]
pub struct Source {
    /// The name of its row: a path or its last part, and what stands behind an @.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
}

impl Source {
    /// The file that a text names: it ends with `.c`, and the release that it is of may follow.
    pub fn find(text: &str) -> Option<Self> {
        let path = text
            .split_once(".c@")
            .map_or(text, |(path, _)| &text[..path.len() + 2]);
        path.ends_with(".c").then(|| Self {
            name: text.to_owned(),
            path: path.into(),
        })
    }
}

/// A governor's file, compiled.
pub struct KernelFile {
    /// As the user named it.
    pub name: String,
    folder: Partial,
    /// True if it asks how many tasks wait for input or output; true if it asks for the CPU's
    /// utilisation.
    pub asks: [bool; 2],
}

/// An interval in which it is asked: the facts that it can find out, and the outcome that it learns
/// in place of that of its own choice.
struct Question<'s> {
    sleep: &'s Sleep,
    asked: KnownSituation,
    seen: Option<Outcome>,
}

impl KernelFile {
    /// Compiles a file for a tick of so many nanoseconds.
    ///
    /// # Errors
    /// It cannot be read, does not compile, or there is no compiler.
    pub fn compile(source: &Source, tick_ns: u64) -> Result<Self, Error> {
        let name = source.name.clone();
        let text = disk::text(&source.path).map_err(|error| {
            let help = "a governor's file of a kernel's tree, as drivers/cpuidle/governors/teo.c";
            Error::usage(format!("{}: {error}", source.path.display()), help)
        })?;
        let folder = Partial::temporary("stopwatt-governor");
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            std::fs::write(path, text)
        };
        let is_within = |name: &&str| {
            let mut parts = Path::new(name).components();
            parts.all(|part| matches!(part, Component::Normal(_)))
        };
        let headers = text.lines().filter_map(|line| {
            let rest = line.trim_start().strip_prefix("#include <")?;
            Some((rest.split_once('>')?.0, "#include \"shim.h\"\n"))
        });
        let files = headers.filter(|(header, _)| is_within(header));
        for (name, text) in files.chain([("shim.h", SHIM), ("driver.c", DRIVER)]) {
            put(name, text).map_err(Error::failed)?;
        }
        let output = Command::new("cc")
            .args(["-std=gnu11", "-O2", "-g", "-w", "-no-pie", "-fwrapv"])
            .args(["-fno-strict-aliasing", "-o", "governor", "driver.c"])
            .arg(format!("-DHZ={}", 1_000_000_000 / tick_ns))
            .args(["-I", "."])
            .arg(source.path.canonicalize().map_err(Error::failed)?)
            .current_dir(folder.path())
            .output();
        let output = output.map_err(|error| {
            Error::usage(
                format!("cc, which compiles {name}: {error}"),
                "apt install gcc",
            )
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let is_error = |line: &&str| line.contains("error:") || line.contains("undefined");
            let first = said.lines().find(is_error).unwrap_or("cc refuses it");
            return Err(Error::usage(
                format!("{name} does not compile: {}", document::printable(first)),
                "a governor may ask for what menu, teo, ladder and haltpoll of Linux 5.10 to 7.3 ask for",
            ));
        }
        Ok(Self {
            name,
            folder,
            asks: ["nr_iowait_cpu", "sched_cpu_util"].map(|call| text.contains(call)),
        })
    }

    /// The states that the file enters in each idle interval, by CPU and interval, for
    /// [`replay`](crate::replay::replay).
    ///
    /// # Errors
    /// Its code crashed or hung.
    pub fn ask(
        &self,
        platform: &Platform,
        traced: &TracedIntervals,
        unsaid: Unsaid,
        tick_ns: u64,
    ) -> Result<Vec<Vec<Lived>>, Error> {
        let tracing_ns = traced.tracing_ns().unwrap_or(0);
        let of_cpu = |(cpu, sleeps): (usize, &Vec<Sleep>)| {
            let table = &platform.domains[platform.place(cpu as u16).0].table;
            let question = |(number, sleep)| Question {
                sleep,
                asked: asked(platform, sleep, unsaid, tick_ns),
                seen: unsaid
                    .is_taught
                    .then(|| seen(traced, (cpu, number), table.last(), tracing_ns)),
            };
            self.lives(
                table,
                &sleeps.iter().enumerate().map(question).collect_vec(),
            )
        };
        traced.cpus.iter().enumerate().map(of_cpu).collect()
    }

    /// The states that the file enters in each idle interval of a CPU. If the governor is to learn
    /// the CPU's past first, it replays the intervals once before.
    fn lives(&self, states: &States, questions: &[Question<'_>]) -> Result<Vec<Lived>, Error> {
        let mut lines = format!("N {}", states.len());
        for state in states.all() {
            let State {
                exit_latency_ns,
                target_residency_ns,
                ..
            } = state;
            let [polling, disabled] = [state.polling, state.disabled].map(u8::from);
            let _ = write!(
                lines,
                " {exit_latency_ns} {target_residency_ns} {polling} {disabled}"
            );
        }
        lines.push('\n');
        let rounds = 1 + usize::from(questions.iter().any(|question| question.seen.is_some()));
        for question in (0..rounds).flat_map(|_| questions) {
            question.write(&mut lines);
        }
        let output = self.run(&lines).map_err(Error::failed)?;
        let said = String::from_utf8_lossy(&output.stderr);
        let mut stays = std::str::from_utf8(&output.stdout).unwrap_or("").lines();
        let all = (0..rounds).flat_map(|_| questions);
        let all: Option<Vec<Lived>> = all.map(|question| question.lived(&mut stays)).collect();
        match all.filter(|_| output.status.success()) {
            Some(mut all) => Ok(all.split_off((rounds - 1) * questions.len())),
            None => Err(Error::Failed(self.broken(&said, states.len()))),
        }
    }

    /// Runs the program with some lines.
    fn run(&self, lines: &str) -> std::io::Result<Output> {
        let mut child = Command::new(self.program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take();
        std::thread::scope(|scope| {
            // A process that is gone reads no more; its answer says why.
            scope.spawn(|| stdin.map(|mut stdin| stdin.write_all(lines.as_bytes())));
            child.wait_with_output()
        })
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("governor")
    }

    /// Says how the code ended, with its function and line, by the number of a signal and an
    /// address; or by 0 and the state that it chose.
    fn broken(&self, said: &str, states: usize) -> String {
        let name = &self.name;
        let (number, at) = said.trim().split_once(' ').unwrap_or_default();
        if number == "0" {
            let state = u64::from_str_radix(at, 16).unwrap_or_default() as i64;
            return format!("{name} chose state {state} of {states}, which are numbered from 0");
        }
        let found = Command::new("addr2line")
            .args(["-s", "-f", "-e"])
            .arg(self.program())
            .arg(at)
            .output();
        let found = found.map_or_else(
            |_| String::new(),
            |found| String::from_utf8_lossy(&found.stdout).into_owned(),
        );
        let place = found.lines().collect_tuple();
        let place = place.map_or_else(String::new, |(function, line)| {
            format!(" in {function} ({line})")
        });
        match number {
            "14" => format!("{name} hangs{place}: no choice within 10 s"),
            _ => format!("{name} crashed{place} with signal {number}"),
        }
    }
}

impl Question<'_> {
    fn write(&self, lines: &mut String) {
        let SleepLength { timer_ns, event_ns } = self.asked.sleep_length;
        let got_tick = self.sleep.got_tick == Some(true);
        let flags = [self.asked.tick_stopped, self.asked.utilised, got_tick];
        let [stopped, utilised, got_tick] = flags.map(u8::from);
        let (limit_ns, waiters) = (self.asked.latency_limit_ns, self.asked.io_waiters);
        let (seen, residency_ns) = match &self.seen {
            Some(seen) => (
                seen.entered.map_or(-1, |state| state as i64),
                seen.residency_ns,
            ),
            None => (-2, 0),
        };
        let interval_ns = self.sleep.interval_ns();
        let _ = writeln!(
            lines,
            "I {timer_ns} {event_ns} {stopped} {limit_ns} {waiters} {utilised} {interval_ns} {got_tick} {seen} {residency_ns}"
        );
    }

    /// Reads the stays that came of it.
    fn lived<'l>(&self, lines: &mut impl Iterator<Item = &'l str>) -> Option<Lived> {
        let SleepLength { timer_ns, event_ns } = self.asked.sleep_length;
        let mut lived = Lived {
            stays: Vec::with_capacity(1),
            event_ns,
        };
        let mut before_ns = 0;
        loop {
            let (state, stay_ns, stop_tick) = lines.next()?.split(' ').collect_tuple()?;
            let stay_ns: u64 = stay_ns.parse().ok()?;
            let until_ns = if stop_tick == "1" { timer_ns } else { event_ns };
            lived.event_ns = until_ns.saturating_sub(before_ns);
            let state = state.parse().ok()?;
            lived.stays.push(Stay::new(state, stay_ns, &mut Ideal));
            before_ns += stay_ns;
            if before_ns >= self.sleep.interval_ns() {
                return Some(lived);
            }
        }
    }
}
