//! Traces of the Linux kernel: events of idle, timers, ticks, interrupts, the scheduler and RCU.
//!
//! [`read`] takes the text of `trace`, `trace-cmd report` and systrace pages, `trace.dat` and traces of Perfetto, and counts what is in it; it hands on the events that a
//! recording keeps, in the order of time and a batch at a time. [`record`] writes them as a recording. What the points mean: [`Point`].
//!
//! | file | what it is about |
//! |---|---|
//! | `event.rs` | an event of a recording, and its points |
//! | `kind.rs` | what the kernel's events mean, in whatever form their fields come |
//! | `collect.rs` | where all formats come together: order, counts, names |
//! | `lines.rs`, `text.rs` | text |
//! | `dat/` | `trace.dat` |
//! | `perfetto.rs` | traces of Perfetto |
//! | `record.rs` | the recording |

mod collect;
mod dat;
mod event;
mod kind;
mod lines;
mod perfetto;
mod record;
mod text;

pub use collect::{Residency, Taker, Trace};
pub use event::{Event, Point};
pub use record::record;

use crate::error::ImportError;
use collect::Collector;
use std::collections::BTreeMap;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};

/// How a trace is to be read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The file's name, for errors and for the recording.
    pub file: String,
    /// Whether what is malformed is left out with a warning.
    pub lenient: bool,
}

/// Why a trace could not be read, or its events not be handed on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace is not as it should be.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The recording could not be written.
    #[error(transparent)]
    Recording(#[from] recording::Error),
}

/// Reads a trace, counts what is in it, and hands its events on where a taker wants them.
///
/// # Errors
/// The file cannot be read, is no trace or has no event; without `lenient`, a line that is cut short or garbled; what the taker fails with.
pub fn read(mut input: impl Read + Seek, options: &Options, taker: Option<Taker<'_>>) -> Result<Trace, Error> {
    let mut start = [0; 16];
    let length = read_fully(&mut input, &mut start).map_err(|error| unreadable(options, &error))?;
    input.seek(SeekFrom::Start(0)).map_err(|error| unreadable(options, &error))?;
    let mut collector = Collector::new(taker);
    let mut left = Left { format: "ftrace text".to_owned(), ..Left::default() };
    if start[..length].starts_with(dat::MAGIC) {
        dat::read(input, options, &mut collector, &mut left)?;
    } else if is_perfetto(&start[..length]) {
        perfetto::read(BufReader::new(input), options, &mut collector, &mut left)?;
    } else {
        refuse_other_formats(&start[..length], options)?;
        text::read(input, options, &mut collector, &mut left)?;
    }
    if collector.is_empty() && !collector.has_failed() {
        return Err(ImportError::whole(&options.file, "no event of a trace was found", WHAT_IS_READ).into());
    }
    let trace = Trace {
        format: left.format,
        clock: left.clock,
        texts: left.texts,
        doubts: left.doubts,
        warnings: left.warnings,
        left_out: left.left_out,
        ..Trace::default()
    };
    Ok(collector.finish(trace)?)
}

const WHAT_IS_READ: &str = "what can be read is the kernel's `trace` file, what `trace-cmd report` prints, a systrace page, trace.dat, and \
                            a trace of Perfetto";

/// Whether a file begins with a packet: text may begin with an empty line, but has none of the bytes that follow in a packet.
fn is_perfetto(start: &[u8]) -> bool {
    start.first() == Some(&0x0a)
        && start.iter().any(|byte| *byte >= 0x80 || (*byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')))
}

/// Says what a file is that is plainly none of ours.
fn refuse_other_formats(start: &[u8], options: &Options) -> Result<(), ImportError> {
    let known: [(&[u8], &str); 4] =
        [(b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\x03\x04", "zip"), (b"\xfd7zXZ", "xz")];
    if let Some((_, name)) = known.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Err(ImportError::whole(&options.file, format!("the file is compressed ({name})"), "unpack it first"));
    }
    if start.contains(&0) {
        return Err(ImportError::whole(&options.file, "the file is binary and no known trace", WHAT_IS_READ));
    }
    Ok(())
}

/// What a reader says of a file beside its events.
#[derive(Default)]
struct Left {
    format: String,
    clock: Option<String>,
    texts: BTreeMap<String, String>,
    doubts: Vec<String>,
    warnings: Vec<ImportError>,
    left_out: u64,
}

/// More warnings than a person reads are counted and not kept.
const WARNINGS_KEPT: usize = 100;

impl Left {
    /// Fails with an error, or notes it where the options are lenient.
    fn wrong(&mut self, options: &Options, error: ImportError) -> Result<(), ImportError> {
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

fn unreadable(options: &Options, error: &std::io::Error) -> ImportError {
    ImportError::whole(&options.file, format!("cannot be read: {error}"), "name a file that can be read")
}

/// Reads some bytes; 0 at the end.
fn some_bytes(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Reads until the buffer is full or the file ends; how many bytes.
fn read_fully(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match some_bytes(input, &mut buffer[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}
