//! What all readers share: how to read, what is said beside the events, and bytes.

use crate::error::{ImportError, printable};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};

/// How a trace is to be read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The file's name, for errors and for the recording.
    pub file: String,
    /// Whether what is malformed is left out with a warning.
    pub lenient: bool,
}

/// What a reader says of a file beside its events.
#[derive(Default)]
pub(super) struct Left {
    pub(super) format: String,
    pub(super) clock: Option<String>,
    pub(super) texts: BTreeMap<String, String>,
    pub(super) doubts: Vec<String>,
    pub(super) warnings: Vec<ImportError>,
    pub(super) left_out: u64,
}

/// Bytes of what a trace says of its kernel under one name: far more than it has to say.
const MOST_TEXT: usize = 256 * 1024;

/// More warnings than a person reads are counted and not kept.
const WARNINGS_KEPT: usize = 100;

impl Left {
    /// Adds a line to what the trace says of its kernel under a name.
    pub(super) fn say(&mut self, name: &str, line: &str) {
        let known = self.texts.entry(name.to_owned()).or_default();
        if known.len() < MOST_TEXT {
            *known += &printable(line);
            known.push('\n');
        }
    }

    /// Fails with an error, or notes it where the options are lenient.
    pub(super) fn wrong(&mut self, options: &Options, error: ImportError) -> Result<(), ImportError> {
        if !options.lenient {
            return Err(error);
        }
        self.left_out += 1;
        if self.warnings.len() < WARNINGS_KEPT {
            self.warnings.push(error);
        }
        Ok(())
    }
}

pub(super) fn unreadable(options: &Options, error: &std::io::Error) -> ImportError {
    ImportError::whole(&options.file, format!("cannot be read: {error}"), "name a file that can be read")
}

/// Reads some bytes; 0 at the end.
pub(super) fn some_bytes(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Reads until the buffer is full or the file ends; how many bytes.
pub(super) fn read_fully(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match some_bytes(input, &mut buffer[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}
