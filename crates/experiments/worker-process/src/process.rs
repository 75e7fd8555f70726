//! The process that runs code of others, from outside: it is started, asked, and watched.

use crate::protocol::{self, LineError, Reply};
use experiment::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared_object::Wrong;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The program to start in place of this one, for tests and for programs that Stopwatt is a part
/// of.
const PROGRAM: &str = "STOPWATT_PROGRAM";

/// The command that starts this program again, where its own file does not.
static COMMAND: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says by what command this program is started again, for a program of which Stopwatt is a part.
/// `STOPWATT_PROGRAM` in the environment goes before it.
pub fn start_with(command: Vec<OsString>) {
    let _ = COMMAND.set(command);
}

/// The time that the last words of a process that has ended may take.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Why there is no answer.
pub enum Failure {
    /// The request cannot be met; the process goes on.
    Refused(Error),
    /// The code crashed or hung, and its process is gone. The text says so, with its name.
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

/// A process that runs code of others.
pub struct Process {
    child: Child,
    requests: ChildStdin,
    replies: Receiver<Result<String, LineError>>,
    said: Receiver<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be in an endless loop: it is not asked.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program that this one starts, and its first arguments. `what` runs in it, as a person calls
/// it: `a loop`.
fn program(what: &str) -> Result<Vec<OsString>, Error> {
    match (std::env::var_os(PROGRAM), COMMAND.get()) {
        (Some(given), _) => Ok(vec![given]),
        (None, Some(command)) => Ok(command.clone()),
        (None, None) => {
            let own = std::env::current_exe().map_err(Error::failed)?;
            // Within Python, this program is an interpreter.
            if own
                .file_stem()
                .is_some_and(|stem| stem.to_string_lossy().starts_with("python"))
            {
                let message = format!(
                    "{what} runs in a process of the program `stopwatt`, and this one is Python"
                );
                return Err(Error::usage(
                    message,
                    format!("name the program: {PROGRAM}=path/to/stopwatt"),
                ));
            }
            Ok(vec![own.into()])
        }
    }
}

impl Process {
    /// Starts a process for `what`, such as `a loop`, with arguments that tell it what it is. With
    /// `huge_pages`, what it allocates lies in huge pages where C library and kernel have them.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(what: &str, arguments: &[OsString], huge_pages: bool) -> Result<Self, Error> {
        let program = program(what)?;
        let mut command = Command::new(&program[0]);
        command
            .args(&program[1..])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if huge_pages {
            command.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        }
        let refused = |error: &dyn std::fmt::Display| {
            Error::failed(format!("{}: {error}", program[0].display()))
        };
        let mut child = command.spawn().map_err(|error| refused(&error))?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(requests), Some(out), Some(err)) => Ok(Self {
                child,
                requests,
                replies: replies(out),
                said: lines(err),
            }),
            _ => Err(refused(&"it has no pipes")),
        }
    }

    /// Asks, and waits for the answer, `patience` at most. `whose` says whose code it is at any
    /// time that it fails (`the loop acl of acl.so`), and `doing` what it did then (`as it was
    /// loaded`).
    ///
    /// # Errors
    /// The request cannot be met, or the code crashed or hung.
    pub fn ask<A: DeserializeOwned>(
        &mut self,
        request: &impl Serialize,
        patience: Duration,
        whose: &dyn Fn() -> String,
        doing: &str,
    ) -> Result<A, Failure> {
        match protocol::write(&mut self.requests, request) {
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(Failure::Refused(Error::failed(error)));
            }
            // If the process is gone, that is seen below.
            Ok(()) | Err(_) => {}
        }
        let line = match self.replies.recv_timeout(patience) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                let seconds = patience.as_secs();
                return Err(Failure::Gone(format!(
                    "{} hung {doing}: no answer in {seconds} s",
                    whose()
                )));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::Gone(self.ended(whose, doing)));
            }
        };
        match line.and_then(|line| protocol::parse::<Reply<A>>(&line)) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Wrong { message, help })) => Err(Failure::Refused(Error::usage(message, help))),
            Err(error) => Err(Failure::Gone(format!(
                "{} wrote to where the answers go {doing}: {error}",
                whose()
            ))),
        }
    }

    /// Says how the process ended.
    fn ended(&mut self, whose: &dyn Fn() -> String, doing: &str) -> String {
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
        // The last words come through a pipe that is closed by now, unless a child of the process
        // has it.
        let last = std::iter::from_fn(|| self.said.recv_timeout(LAST_WORDS).ok()).last();
        let said = match &last {
            Some(said) => format!("; it said last: {}", document::printable(said)),
            None => String::new(),
        };
        format!("{} {how} {doing}{said}", whose())
    }
}

/// The lines of the protocol that come through a pipe, up to one that is cut.
fn replies(of: impl Read + Send + 'static) -> Receiver<Result<String, LineError>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut of = BufReader::new(of);
        while let Some(line) = protocol::read_line(&mut of).transpose() {
            if line.is_err() | send.send(line).is_err() {
                break;
            }
        }
    });
    receive
}

/// The lines that come through a pipe, whatever is in them; a very long one comes in parts.
fn lines(of: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut of = BufReader::new(of);
        loop {
            let mut line = Vec::new();
            match of
                .by_ref()
                .take(protocol::LONGEST)
                .read_until(b'\n', &mut line)
            {
                Ok(0) | Err(_) => break,
                Ok(_)
                    if send
                        .send(String::from_utf8_lossy(&line).trim_end().to_owned())
                        .is_err() =>
                {
                    break;
                }
                Ok(_) => {}
            }
        }
    });
    receive
}
