//! Programs that measurements start.
#![expect(unsafe_code, reason = "what is done between fork and exec")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use dataplane::machine;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;

/// Keeps a program that will be started on some processors, and ends it when the thread that starts
/// it ends.
///
/// # Errors
/// A processor's number is larger than any.
pub fn bind(command: &mut Command, cpus: &[usize]) -> io::Result<()> {
    let set = machine::processors(cpus)?;
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
