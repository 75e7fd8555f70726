//! Traces of the Linux kernel: events of idle, timers, ticks, interrupts, the scheduler and RCU.
//!
//! [`read`] takes the text of `trace`, `trace-cmd report` and systrace pages, `trace.dat` and
//! traces of Perfetto, and counts what is in it; it hands on the events that a recording keeps, in
//! the order of time and a batch at a time. [`record`] writes them as a recording. What the points
//! mean: [`Point`].
//!
//! | file | what it is about |
//! |---|---|
//! | `event.rs` | an event of a recording, and its points |
//! | `kind.rs` | what the kernel's events mean, in whatever form their fields come |
//! | `clusters.rs` | how long all CPUs of a cluster were idle together |
//! | `collect.rs` | where all formats come together: order, counts, names |
//! | `wakes.rs` | who woke the CPUs |
//! | `residency.rs` | the time in an idle state |
//! | `input.rs` | what all readers share |
//! | `text.rs` | text |
//! | `dat/` | `trace.dat` |
//! | `perfetto.rs` | traces of Perfetto |
//! | `record.rs` | the recording |

mod clusters;
mod collect;
mod dat;
mod event;
mod input;
mod kind;
mod perfetto;
mod record;
mod residency;
mod text;
mod wakes;

pub use clusters::ClusterIdle;
pub use collect::{Taker, Trace};
pub use event::{Event, Point};
pub use input::Options;
pub use kind::cpu_list;

/// A trace to try things on: a moment of Linux on two CPUs of QEMU's `virt`, as text.
pub const SAMPLE: &str = include_str!("../../data/guest.trace");
pub use record::record;
pub use residency::Residency;

use crate::error::ImportError;
use clusters::Clusters;
use collect::Collector;
use input::{Remainder, WHAT_IS_READ, is_enough, read_fully, unreadable};
use std::io::{BufReader, Read, Seek, SeekFrom};

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
/// The file cannot be read, is no trace or has no event; without `lenient`, a line that is cut
/// short or garbled; what the taker fails with.
pub fn read(
    mut input: impl Read + Seek,
    options: &Options,
    taker: Option<Taker<'_>>,
) -> Result<Trace, Error> {
    let mut start = [0; 16];
    let length = read_fully(&mut input, &mut start).map_err(|error| unreadable(options, &error))?;
    input
        .seek(SeekFrom::Start(0))
        .map_err(|error| unreadable(options, &error))?;
    let mut collector = Collector::new(taker, Clusters::new(&options.clusters));
    let mut left = Remainder::default();
    left.trace.format = "ftrace text".to_owned();
    if dat::is_trace_dat(&start[..length]) {
        dat::read(input, options, &mut collector, &mut left)?;
    } else if is_perfetto(&start[..length]) {
        perfetto::read(BufReader::new(input), options, &mut collector, &mut left)?;
    } else {
        refuse_other_formats(&start[..length], options)?;
        text::read(&mut input, options, &mut collector, &mut left)?;
    }
    if let Some((count, line, text)) = left.foreign.take() {
        left.trace.doubts.push(format!(
            "lines that are no events were passed over: {count}, the first is line {line}: {text}"
        ));
    }
    let trace = collector.finish(left.trace)?;
    is_enough(&trace, &options.file)?;
    Ok(trace)
}

/// True if a file begins with a packet: text may begin with an empty line, but has none of the
/// bytes that follow in a packet.
fn is_perfetto(start: &[u8]) -> bool {
    start.first() == Some(&0x0a)
        && start.iter().any(|byte| {
            *byte >= 0x80 || (*byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b))
        })
}

/// Says what a file is that is plainly none of ours.
fn refuse_other_formats(start: &[u8], options: &Options) -> Result<(), ImportError> {
    if start.starts_with(b"PK\x03\x04") {
        let help = "unpack it first; files of gzip, xz and zstd are read as they are";
        return Err(ImportError::whole(
            &options.file,
            "the file is compressed (zip)",
            help,
        ));
    }
    if start.contains(&0) {
        return Err(ImportError::whole(
            &options.file,
            "the file is binary and no known trace",
            WHAT_IS_READ,
        ));
    }
    Ok(())
}
