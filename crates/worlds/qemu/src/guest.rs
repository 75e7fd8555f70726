//! A running guest: its console line by line, with a watchdog.

use crate::counts::escaped;
use crate::{Error, Machine, Plugin, Result};
use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const PROGRAM: &str = "qemu-system-aarch64";
const PACKAGE: &str = "qemu-system-arm";

/// The number of lines that an error shows.
const LAST_LINES: usize = 20;

/// A file to put into the machine's memory before it starts, and again after a reset.
pub struct Load<'a> {
    /// The file, as it is.
    pub file: &'a Path,
    /// The address.
    pub address: u64,
}

/// A guest. Dropping it ends the emulator.
pub struct Guest {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    last: VecDeque<String>,
    started: Instant,
    silence: Duration,
    limit: Duration,
    // Holds the option files as long as the emulator may read them.
    _files: tempfile::TempDir,
}

impl Guest {
    /// Starts a machine with `firmware` in its secure flash. `options` are files of fw_cfg: name
    /// and contents. A plugin counts what is executed.
    ///
    /// The guest is ended when it prints nothing for `silence` or runs for `limit`.
    ///
    /// # Errors
    /// The emulator is missing or does not start.
    pub fn start(
        machine: &Machine,
        firmware: &Path,
        loads: &[Load<'_>],
        options: &[(&str, &str)],
        plugin: Option<&Plugin>,
        silence: Duration,
        limit: Duration,
    ) -> Result<Self> {
        let files = tempfile::tempdir().map_err(Error::file(&std::env::temp_dir()))?;
        let mut command = Command::new(PROGRAM);
        command.args(machine.arguments()).arg("-bios").arg(firmware);
        for load in loads {
            command.args([
                "-device",
                &format!(
                    "loader,file={},addr={:#x},force-raw=on",
                    escaped(load.file),
                    load.address
                ),
            ]);
        }
        for (index, (name, text)) in options.iter().enumerate() {
            let path = files.path().join(index.to_string());
            std::fs::write(&path, text).map_err(Error::file(&path))?;
            command.args(["-fw_cfg", &format!("name={name},file={}", escaped(&path))]);
        }
        if let Some(plugin) = plugin {
            command.args(["-plugin", &plugin.argument()]);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(Error::start(PROGRAM, PACKAGE))?;
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            let sender = sender.clone();
            std::thread::spawn(move || read_lines(output, |line| sender.send(line).is_ok()));
        }
        if let Some(errors) = child.stderr.take() {
            // The emulator's own words stand among the guest's, for the error's reader.
            std::thread::spawn(move || {
                read_lines(errors, |line| sender.send(format!("qemu: {line}")).is_ok())
            });
        }
        let input = child.stdin.take();
        Ok(Self {
            child,
            input,
            lines,
            last: VecDeque::new(),
            started: Instant::now(),
            silence,
            limit,
            _files: files,
        })
    }

    /// The next line of the console; `None` when the machine is off.
    ///
    /// # Errors
    /// The guest printed nothing for too long, or ran for too long, and was ended.
    pub fn line(&mut self) -> Result<Option<String>> {
        let left = self.limit.saturating_sub(self.started.elapsed());
        match self.lines.recv_timeout(self.silence.min(left)) {
            Ok(line) => {
                self.remember(line.clone());
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                let (why, limit) = if left < self.silence {
                    ("it ran for more than", self.limit)
                } else {
                    ("it printed nothing for", self.silence)
                };
                Err(self.ended(format!("was ended: {why} {} s", limit.as_secs())))
            }
        }
    }

    fn remember(&mut self, line: String) {
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// The error of an emulator that ended without loading a plugin; `None` if it loaded it.
    pub(crate) fn not_loaded(&self, plugin: &Plugin) -> Option<Error> {
        (!plugin.is_loaded()).then(|| {
            let last = self.last.back();
            let cause = last.map_or("the emulator ended without a word", |last| {
                last.trim_start_matches("qemu: ")
            });
            Error::Plugin(cause.to_owned())
        })
    }

    /// Reads what the guest still has to say after a complaint, for the error that shows it. A CPU
    /// that stopped does not end the emulator.
    pub(crate) fn hear_out(&mut self) {
        self.silence = self.silence.min(Duration::from_secs(3));
        while let Ok(Some(_)) = self.line() {}
    }

    /// Checks that a line does not tell of a crash of the firmware or of the kernel.
    ///
    /// # Errors
    /// It does.
    pub(crate) fn check_line(&mut self, line: String) -> Result {
        if !line.contains("stopwatt: EL3") && !line.contains("Kernel panic") {
            return Ok(());
        }
        self.hear_out();
        Err(self.failed(line))
    }

    /// Types a line on the console.
    ///
    /// # Errors
    /// The emulator is gone.
    pub fn type_line(&mut self, text: &str) -> Result {
        let written = self
            .input
            .as_mut()
            .map(|input| writeln!(input, "{text}").and_then(|()| input.flush()));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(self.failed("it does not read its console")),
        }
    }

    /// An error that shows the last lines.
    pub fn failed(&self, cause: impl Display) -> Error {
        self.ended(format!("failed: {cause}"))
    }

    fn ended(&self, how: String) -> Error {
        let last: Vec<String> = self.last.iter().map(|line| format!("  | {line}")).collect();
        Error::Other(format!(
            "the guest {how}; its last output:\n{}",
            last.join("\n")
        ))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(from: impl std::io::Read, mut take: impl FnMut(String) -> bool) {
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(1..) => {
                let text = String::from_utf8_lossy(&line);
                if !take(text.trim_end_matches(['\r', '\n']).to_owned()) {
                    return;
                }
            }
            _ => return,
        }
    }
}
