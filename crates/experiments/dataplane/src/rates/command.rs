//! A program of the user's between the two interfaces of the network for measuring.
#![expect(unsafe_code, reason = "system calls between fork and exec")]

use super::namespace::Namespace;
use dataplane::machine;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes of what it printed last that an error repeats.
const TOLD: usize = 600;

/// A program that runs. It is gone when this is, and when the thread of its namespace is.
pub struct Program {
    command: String,
    child: RefCell<Child>,
    told: Arc<Mutex<VecDeque<u8>>>,
}

impl Program {
    /// Starts a command line of the shell in a namespace, on a processor.
    ///
    /// # Errors
    /// There is no shell, or no such processor.
    pub fn start(command: &str, namespace: &Namespace, cpu: usize) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        // The shell becomes the program, so that what is ended is the program. It keeps a standard
        // input that never ends: some programs stop at its end.
        shell
            .args(["-c", &format!("exec 2>&1; exec {command}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        bind(&mut shell, cpu)?;
        let mut child = namespace.within(move || shell.spawn())??;
        let told = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(mut printed) = child.stdout.take() {
            let told = told.clone();
            thread::Builder::new()
                .name("forwarder's output".to_owned())
                .spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(count @ 1..) = printed.read(&mut bytes) {
                        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                        told.extend(&bytes[..count]);
                        let old = told.len().saturating_sub(TOLD);
                        told.drain(..old);
                    }
                })?;
        }
        Ok(Self {
            command: command.to_owned(),
            child: RefCell::new(child),
            told,
        })
    }

    /// Stops it until it is to go on: one that polls would take a processor from what is measured
    /// in between.
    pub fn pause(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        // One that has ended is noticed where it is asked for.
        let _ = kill(Pid::from_raw(self.child.borrow().id() as i32), signal);
    }

    /// The command line.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// An error with what it printed last.
    pub fn error(&self, what: &str) -> io::Error {
        let told = self
            .told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .copied()
            .collect::<Vec<u8>>();
        let told = String::from_utf8_lossy(&told);
        let told = if told.trim().is_empty() {
            "It printed nothing.".to_owned()
        } else {
            format!("It printed last:\n{}", told.trim())
        };
        io::Error::other(format!("the forwarder `{}` {what}. {told}", self.command))
    }

    /// True if it is still there.
    ///
    /// # Errors
    /// It ended.
    pub fn check(&self) -> io::Result<()> {
        match self.child.borrow_mut().try_wait()? {
            Some(status) => {
                // The thread that reads may be behind.
                thread::sleep(Duration::from_millis(50));
                Err(self.error(&format!("ended ({status})")))
            }
            None => Ok(()),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.get_mut().kill();
        let _ = self.child.get_mut().wait();
    }
}

/// Keeps a program that will be started on a processor, and ends it when the thread that starts
/// it ends.
///
/// # Errors
/// The processor's number is larger than any.
fn bind(command: &mut Command, cpu: usize) -> io::Result<()> {
    let set = machine::processors(&[cpu])?;
    // SAFETY: between fork and exec there are two system calls and no more; neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(move || {
            set_pdeathsig(Signal::SIGKILL)?;
            machine::keep_on(&set)
        });
    }
    Ok(())
}
