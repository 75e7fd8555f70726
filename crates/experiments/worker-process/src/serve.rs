//! The process from inside: it answers requests.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};

/// Why a request cannot be met: the error, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrong {
    /// The error.
    pub message: String,
    /// The advice: what would be right.
    pub help: String,
}

impl Wrong {
    /// An error, and what would be right.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// Answers the requests of the process that started this one, by standard input and output: 0 when
/// there is nothing more to do, 2 if the pipes broke.
pub fn work<Q: DeserializeOwned, A: Serialize>(answer: impl FnMut(Q) -> Result<A, Wrong>) -> u8 {
    // An endless loop must not outlive the one who would cut it.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    // What the code prints goes to standard error, not among the answers.
    let answers = nix::unistd::dup(std::io::stdout());
    let served = answers.and_then(|answers| nix::unistd::dup2_stdout(std::io::stderr()).map(|()| answers));
    let served = served.map_err(Into::into);
    match served.and_then(|answers| serve(std::io::stdin().lock(), std::fs::File::from(answers), answer)) {
        Ok(()) => 0,
        Err(_) => 2,
    }
}

/// Answers requests, a line each, until there are no more.
///
/// # Errors
/// A pipe broke.
fn serve<Q: DeserializeOwned, A: Serialize>(
    requests: impl BufRead,
    mut replies: impl Write,
    mut answer: impl FnMut(Q) -> Result<A, Wrong>,
) -> std::io::Result<()> {
    for line in requests.lines() {
        let reply = match serde_json::from_str(&line?) {
            Ok(request) => answer(request),
            Err(error) => Err(Wrong::new(error.to_string(), "this process is for stopwatt alone")),
        };
        writeln!(replies, "{}", serde_json::to_string(&reply)?)?;
        replies.flush()?;
    }
    Ok(())
}
