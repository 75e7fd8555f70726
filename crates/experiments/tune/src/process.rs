//! The process that runs a loop, from outside: it is asked, and watched.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use experiment::Error;

use crate::protocol::{LoopAbout, Measure, Reply, Request, Source};
use crate::worker::ARGUMENT;

/// The program to start in place of this one, for tests and for programs that Stopwatt is a part
/// of.
pub const PROGRAM: &str = "STOPWATT_PROGRAM";

/// The command that starts this program again, where its own file does not.
static COMMAND: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says by what command this program is started again, for a program of which Stopwatt is a part.
/// Loops are then run by that; [`PROGRAM`] goes before it.
pub fn start_with(command: Vec<OsString>) {
    let _ = COMMAND.set(command);
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The request cannot be met; the loop goes on.
    Refused(Error),
    /// The loop crashed or hung, and its process is gone. The text says so, with the loop's name.
    Gone(String),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => error,
            Failure::Gone(text) => Self::Failed(text),
        }
    }
}

/// A process that has a loop open.
pub struct Process {
    child: Child,
    requests: ChildStdin,
    replies: Receiver<String>,
    said: Receiver<String>,
    patience: Duration,
    /// The loop's name, and where it is from.
    pub name: String,
    /// The loop.
    pub about: LoopAbout,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be in an endless loop: it is not asked.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program that this one starts, with its first arguments.
fn program() -> Result<Vec<OsString>, Error> {
    match (std::env::var_os(PROGRAM), COMMAND.get()) {
        (Some(given), _) => Ok(vec![given]),
        (None, Some(command)) => Ok(command.clone()),
        (None, None) => {
            let own = std::env::current_exe().map_err(Error::failed)?;
            // Within Python, this program is an interpreter.
            if own.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("python")) {
                let message = "a loop runs in a process of the program `stopwatt`, and this one is Python";
                return Err(Error::usage(message, format!("name the program: {PROGRAM}=path/to/stopwatt")));
            }
            Ok(vec![own.into()])
        }
    }
}

impl Process {
    /// Starts a process and opens a loop in it. With `huge_pages`, what it allocates lies in huge
    /// pages where C library and kernel have them. It may take `patience` for each answer.
    ///
    /// # Errors
    /// There is no such loop, or it cannot be started.
    pub fn start(source: &Source, huge_pages: bool, patience: Duration) -> Result<Self, Failure> {
        let program = program().map_err(Failure::Refused)?;
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]).arg(ARGUMENT).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if huge_pages {
            command.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        }
        let refused = |error: &dyn std::fmt::Display| {
            Failure::Refused(Error::failed(format!("{}: {error}", program[0].display())))
        };
        let mut child = command.spawn().map_err(|error| refused(&error))?;
        let (Some(requests), Some(out), Some(err)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(refused(&"it has no pipes"));
        };
        let name = match source {
            Source::Shared { path, name: Some(name) } => format!("`{name}` of {}", path.display()),
            Source::Shared { path, .. } => format!("of {}", path.display()),
            Source::Node(node) => format!("`{node}`"),
            Source::Recipe(recipe) => format!("`{}`", recipe.name),
        };
        let about = LoopAbout { name: String::new(), knobs: Vec::new(), record_bytes: 0, most_records: None };
        let mut process = Self { child, requests, replies: lines(out), said: lines(err), patience, name, about };
        match process.ask(&Request::Open(source.clone()), "as it was loaded")? {
            Reply::Opened(about) => process.about = about,
            other => return Err(process.out_of_step(&other)),
        }
        if let Source::Shared { path, .. } = source {
            process.name = format!("`{}` of {}", process.about.name, Path::new(path).display());
        }
        Ok(process)
    }

    /// Makes records; the share of them in huge pages.
    ///
    /// # Errors
    /// There is no memory for them, or the loop crashed.
    pub fn set_up(&mut self, count: u64) -> Result<Option<f64>, Failure> {
        match self.ask(&Request::SetUp { count }, &format!("as it set up {count} records"))? {
            Reply::SetUp { huge } => Ok(huge),
            other => Err(self.out_of_step(&other)),
        }
    }

    /// Ticks per record of a cell, measured once.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn measure(&mut self, measure: &Measure) -> Result<f64, Failure> {
        let values: Vec<String> = self
            .about
            .knobs
            .iter()
            .zip(&measure.values)
            .map(|(knob, value)| format!("{} {value}", knob.name))
            .collect();
        let doing =
            format!("with {}, in batches of {} of {} records", values.join(", "), measure.batch, measure.records);
        match self.ask(&Request::Measure(measure.clone()), &doing)? {
            Reply::Measured { ticks } => Ok(ticks),
            other => Err(self.out_of_step(&other)),
        }
    }

    fn out_of_step(&self, reply: &Reply) -> Failure {
        Failure::Gone(format!("the loop {} gave an answer that was not asked for: {reply:?}", self.name))
    }

    fn ask(&mut self, request: &Request, doing: &str) -> Result<Reply, Failure> {
        let line = serde_json::to_string(request).map_err(|error| Failure::Refused(Error::failed(error)))?;
        // If the process is gone, that is seen below.
        let _ = writeln!(self.requests, "{line}").and_then(|()| self.requests.flush());
        let line = match self.replies.recv_timeout(self.patience) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.patience.as_secs();
                return Err(Failure::Gone(format!("the loop {} hung {doing}: no answer in {seconds} s", self.name)));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Gone(self.ended(doing))),
        };
        match serde_json::from_str(&line) {
            Ok(Reply::Refused { message, help }) => Err(Failure::Refused(Error::usage(message, help))),
            Ok(reply) => Ok(reply),
            Err(_) => Err(Failure::Gone(format!(
                "the loop {} wrote to where the answers go {doing}: {}",
                self.name,
                document::printable(&line)
            ))),
        }
    }

    /// Says how the process ended.
    fn ended(&mut self, doing: &str) -> String {
        let how = match self.child.wait() {
            Ok(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => match nix::sys::signal::Signal::try_from(signal) {
                    Ok(signal) => format!("crashed with {signal}"),
                    Err(_) => format!("ended by signal {signal}"),
                },
                (None, code) => format!("ended its process with {}", code.unwrap_or_default()),
            },
            Err(error) => format!("is gone ({error})"),
        };
        let last: Vec<String> = self.said.try_iter().collect();
        let said = match last.last() {
            Some(said) => format!("; it said last: {}", document::printable(said)),
            None => String::new(),
        };
        format!("the loop {} {how} {doing}{said}", self.name)
    }
}

/// The lines that come through a pipe. A line that is longer than any answer is cut.
fn lines(of: impl Read + Send + 'static) -> Receiver<String> {
    const LONGEST: u64 = 1 << 16;
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut of = BufReader::new(of);
        loop {
            let mut line = Vec::new();
            match of.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) if send.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() => break,
                Ok(_) => {}
            }
        }
    });
    receive
}
