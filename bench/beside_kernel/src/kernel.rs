//! The kernel's code as a program of its own.

use crate::Result;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The folder of a shim: the driver's sources, and the headers, which are the little that the
/// code asks of the kernel.
pub fn shim(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("shim")
        .join(name)
}

/// The headers that `idle-replay` compiles a governor's file with.
const PRODUCT: &str = "../../crates/experiments/idle/kernel";

/// The kernel's code, as a program that answers lines.
pub struct Kernel {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Kernel {
    /// Compiles sources with the headers of a shim and of a folder, in which the program lies then,
    /// and starts it. Each shim has those of `idle-replay`.
    pub fn compiled<'a>(
        shim: &Path,
        folder: &Path,
        sources: impl IntoIterator<Item = &'a OsStr>,
    ) -> Result<Self> {
        let program = folder.join("program");
        let mut compiler = Command::new("gcc");
        compiler
            .args(["-O1", "-w", "-fwrapv", "-fno-strict-aliasing"])
            .arg("-I")
            .arg(folder)
            .arg("-I")
            .arg(shim)
            .arg("-I")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(PRODUCT))
            .arg("-o")
            .arg(&program)
            .args(sources);
        if !compiler.status()?.success() {
            return Err(format!("{} does not compile", folder.display()).into());
        }
        let mut child = Command::new(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        Ok(Self {
            child,
            to,
            from: BufReader::new(from),
        })
    }

    /// Tells it a line.
    pub fn tell(&mut self, line: impl Display) -> Result<()> {
        Ok(writeln!(self.to, "{line}")?)
    }

    /// Tells it a line that it answers.
    pub fn ask(&mut self, line: impl Display) -> Result<String> {
        self.tell(line)?;
        let mut answer = String::new();
        if self.from.read_line(&mut answer)? == 0 {
            return Err("the kernel's code ended".into());
        }
        Ok(answer.trim().to_owned())
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
