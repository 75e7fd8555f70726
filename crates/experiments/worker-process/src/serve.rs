//! The process from inside: it answers requests.

use crate::protocol::{self, LineError, Reply};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared_object::Wrong;
use std::io::{self, BufRead, Write};

/// Answers the requests of the process that started this one, by standard input and output: 0 when
/// there is nothing more to do, 2 if the pipes broke.
pub fn work<Q: DeserializeOwned, A: Serialize>(answer: impl FnMut(Q) -> Reply<A>) -> u8 {
    // An endless loop must not outlive the one who would cut it.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    // What the code prints goes to standard error, not among the answers.
    let answers = nix::unistd::dup(io::stdout());
    match answers
        .and_then(|answers| nix::unistd::dup2_stdout(io::stderr()).map(|()| answers))
        .map_err(Into::into)
        .and_then(|answers| serve(io::stdin().lock(), std::fs::File::from(answers), answer))
    {
        Ok(()) => 0,
        Err(_) => 2,
    }
}

/// Answers requests until there are no more.
///
/// # Errors
/// A pipe broke, or ended within a request.
fn serve<Q: DeserializeOwned, A: Serialize>(
    mut requests: impl BufRead,
    mut replies: impl Write,
    mut answer: impl FnMut(Q) -> Reply<A>,
) -> io::Result<()> {
    loop {
        let reply = match protocol::read_line(&mut requests) {
            Ok(None) => return Ok(()),
            Ok(Some(line)) => {
                protocol::parse(&line).map_or_else(|error| refused(&error), &mut answer)
            }
            Err(LineError::Pipe(error)) => return Err(error),
            Err(error) => {
                protocol::write(&mut replies, &refused::<A>(&error))?;
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, error));
            }
        };
        protocol::write(&mut replies, &reply)?;
    }
}

fn refused<A>(error: &LineError) -> Reply<A> {
    Err(Wrong::new(
        error.to_string(),
        "this process is for stopwatt alone",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(requests: &str) -> (io::Result<()>, String) {
        let mut replies = Vec::new();
        let ended = serve(requests.as_bytes(), &mut replies, |number: u32| {
            Ok(number + 1)
        });
        (ended, String::from_utf8(replies).unwrap())
    }

    #[test]
    fn only_a_pipe_that_ended_between_requests_is_the_end() {
        let (ended, replies) = served("1\n2\n");
        assert!(
            ended.is_ok() && replies == "{\"Ok\":2}\n{\"Ok\":3}\n",
            "{replies}"
        );
        let (ended, replies) = served("end\n1\n");
        assert!(
            ended.is_ok()
                && replies.contains("`end` is no message")
                && replies.ends_with("{\"Ok\":2}\n"),
            "{replies}"
        );
        let (ended, replies) = served("1\n2");
        assert!(
            ended.is_err() && replies.contains("`2` ends before the line does"),
            "{replies}"
        );
    }
}
