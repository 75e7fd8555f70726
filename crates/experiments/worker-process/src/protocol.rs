//! The protocol between the two processes: each request and each reply is a line of JSON, and only
//! a line with its end counts.

use document::quoted;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared_object::Wrong;
use std::io::{self, BufRead, Read, Write};

/// The most bytes of a line.
pub const LONGEST: u64 = 1 << 24;

/// A reply to a request: the answer, or why there is none.
pub type Reply<A> = Result<A, Wrong>;

/// A line that is no message of the protocol, or that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The pipe broke.
    #[error("{0}")]
    Pipe(io::Error),
    /// The pipe ended within this line, or the line is too long.
    #[error("{} ends before the line does", quoted(.0))]
    Cut(String),
    /// The line is whole and no message; the reason.
    #[error("{} is no message: {}", quoted(.0), .1)]
    Unknown(String, serde_json::Error),
}

/// Reads the next line without its end; `None` where the pipe has ended.
///
/// # Errors
/// The pipe broke, or ended within the line.
pub fn read_line(from: &mut impl BufRead) -> Result<Option<String>, LineError> {
    let mut line = Vec::new();
    let count = from
        .take(LONGEST)
        .read_until(b'\n', &mut line)
        .map_err(LineError::Pipe)?;
    if count == 0 {
        return Ok(None);
    }
    let is_whole = line.pop_if(|last| *last == b'\n').is_some();
    let line = String::from_utf8_lossy(&line).into_owned();
    if is_whole {
        Ok(Some(line))
    } else {
        Err(LineError::Cut(line))
    }
}

/// The message of a line.
///
/// # Errors
/// The line is not whole, or no message of this type.
pub fn parse<T: DeserializeOwned>(line: &str) -> Result<T, LineError> {
    serde_json::from_str(line).map_err(|why| LineError::Unknown(line.to_owned(), why))
}

/// Writes a message as a line.
///
/// # Errors
/// The pipe broke, or the message has no text, as a path that is no UTF-8.
pub fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(message)?;
    line.push('\n');
    to.write_all(line.as_bytes())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a message: it arrives as it was sent, and whatever is cut off its line is an
    /// error that names the rest.
    fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(message: &T) {
        let mut sent = Vec::new();
        write(&mut sent, message).expect("a message can be written");
        let read = |mut bytes: &[u8]| {
            read_line(&mut bytes)?
                .map(|line| parse::<T>(&line))
                .transpose()
        };
        assert_eq!(
            read(&sent).expect("a whole line is read").as_ref(),
            Some(message)
        );
        assert!(
            matches!(read(&[]), Ok(None)),
            "only a pipe that has ended is the end"
        );
        let end = sent.len() - 1;
        for cut in 0..end {
            let mut part = sent[..cut].to_vec();
            let named = quoted(&String::from_utf8_lossy(&part));
            // The pipe ends there, or the rest of the line is lost.
            if cut > 0 {
                let error = read(&part).expect_err(&named);
                assert!(error.to_string().contains(&named), "{error}");
            }
            part.push(b'\n');
            let error = read(&part).expect_err(&named);
            assert!(error.to_string().contains(&named), "{error}");
        }
        assert!(
            matches!(read(&sent[..end]), Err(LineError::Cut(_))),
            "a line without its end is cut"
        );
    }

    #[test]
    fn envelopes_arrive_whole_or_not_at_all() {
        check::<Reply<u32>>(&Ok(7));
        check::<Reply<u32>>(&Err(Wrong::new("there is no loop", "open one first")));
        check::<Reply<Option<f64>>>(&Ok(None));
    }

    #[test]
    fn what_is_no_message_is_an_error_with_its_line() {
        let error = parse::<Reply<u32>>("{\"Maybe\":1}")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("`{\"Maybe\":1}` is no message: unknown variant `Maybe`"),
            "{error}"
        );
        assert!(
            matches!(read_line(&mut &b"no end"[..]), Err(LineError::Cut(line)) if line == "no end")
        );
    }
}
