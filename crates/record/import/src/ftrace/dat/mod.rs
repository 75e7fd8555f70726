//! `trace.dat`, as `trace-cmd record` writes it: versions 6 and 7, of machines of both byte orders
//! and of 32 and 64 bits.
//!
//! The file holds what the kernel says of its events' formats, and the pages of each CPU's ring
//! buffer as they were. The layout is that of the manual pages trace-cmd.dat.v6(5) and
//! trace-cmd.dat.v7(5).
//!
//! | file | what it is about |
//! |---|---|
//! | `file.rs` | bytes, numbers and texts of a file, and sections that are compressed |
//! | `layout.rs` | where what lies, in both versions |
//! | `format.rs` | the kernel's formats of events, and the fields of an event |
//! | `pages.rs` | the events on the pages of a ring buffer |

mod file;
mod format;
mod layout;
mod pages;

use super::collect::Collector;
use super::input::{Options, Remainder};
use super::kind::{self, Wrong};
use crate::error::ImportError;
use file::{Bad, File};
use itertools::Itertools;
use layout::Layout;
use pages::Pages;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read, Seek};

/// True if a file begins as `trace.dat` does.
pub fn is_trace_dat(start: &[u8]) -> bool {
    start.starts_with(file::MAGIC)
}

/// Reads a whole file.
pub fn read(
    input: impl Read + Seek,
    options: &Options,
    collector: &mut Collector<'_>,
    left: &mut Remainder,
) -> Result<(), ImportError> {
    let mut file = File::new(input);
    read_file(&mut file, options, collector, left).map_err(|bad| error(options, &bad))
}

fn error(options: &Options, bad: &Bad) -> ImportError {
    ImportError::whole(
        &options.file,
        format!("at byte {}: {}", bad.at, bad.what),
        bad.right,
    )
}

/// Notes the file's form, and what it leaves in doubt.
fn describe(layout: &Layout, left: &mut Remainder) -> Result<(), Bad> {
    left.trace.format = format!("trace.dat version {}", layout.version);
    left.trace.clock = (!layout.clock.is_empty()).then(|| layout.clock.clone());
    layout
        .release
        .iter()
        .for_each(|release| left.release(release));
    if layout.counts_no_time() {
        let what = format!(
            "the trace's clock `{}` does not count nanoseconds",
            layout.clock
        );
        let right = "record with `trace-cmd record -C local`, mono or boot";
        return Err(Bad { at: 0, what, right });
    }
    if !layout.knows_ticks
        && layout
            .formats
            .values()
            .any(|format| format.name == b"hrtimer_start")
    {
        left.trace.doubts.push(
            "the file does not name the kernel's functions: the tick is taken for a timer like others".to_owned(),
        );
    }
    if !layout.instances.is_empty() {
        let names = layout.instances.join(", ");
        left.trace.doubts.push(format!(
            "the file has instances beside its top buffer, which are not read: {names}"
        ));
    }
    Ok(())
}

fn read_file(
    file: &mut File<impl Read + Seek>,
    options: &Options,
    collector: &mut Collector<'_>,
    left: &mut Remainder,
) -> Result<(), Bad> {
    let layout = Layout::read(file)?;
    describe(&layout, left)?;
    for (pid, comm) in &layout.tasks {
        collector.task(*pid, comm);
    }
    let pages = |data| Pages::new(data, layout.pages(data));
    let mut cpus = layout.cpus.iter().map(pages).collect_vec();
    // The buffers are merged by time; of equal times the lower CPU's event comes first.
    let mut next = BinaryHeap::new();
    for (index, pages) in cpus.iter_mut().enumerate() {
        advance(file, pages, options, left)?;
        if let Some(time_ns) = pages.time_ns() {
            next.push(Reverse((time_ns, index)));
        }
    }
    let mut unknown = 0_u64;
    while let Some(Reverse((time_ns, index))) = next.pop() {
        if collector.has_failed() {
            return Ok(());
        }
        let pages = &mut cpus[index];
        if let Some(lost) = pages.take_lost() {
            collector.lost(pages.cpu, lost);
        }
        let data = pages.event();
        match layout.format_of(data) {
            None => unknown += 1,
            Some(format) => match format.kind {
                None => collector.other(&format.name),
                Some(kind) => {
                    let record = format.record(data, layout.big, &layout.addresses);
                    if let Err(Wrong(field)) =
                        kind::take(collector, kind, time_ns, pages.cpu, &record)
                    {
                        let name = String::from_utf8_lossy(&format.name);
                        let what = format!("`{name}` has no `{field}` that could be used");
                        let bad = Bad::new(pages.page_at, what);
                        left.wrong(options, error(options, &bad)).map_err(|_| bad)?;
                    }
                }
            },
        }
        advance(file, pages, options, left)?;
        if let Some(time_ns) = pages.time_ns() {
            next.push(Reverse((time_ns, index)));
        }
    }
    if unknown > 0 {
        left.trace.doubts.push(format!(
            "{unknown} events have no format in the file, and were left out"
        ));
    }
    Ok(())
}

/// Goes to a CPU's next event. Damage ends the CPU's events where the options are lenient.
fn advance(
    file: &mut File<impl Read + Seek>,
    pages: &mut Pages,
    options: &Options,
    left: &mut Remainder,
) -> Result<(), Bad> {
    match pages.advance(file) {
        Ok(()) => Ok(()),
        Err(bad) => {
            pages.give_up();
            left.wrong(options, error(options, &bad)).map_err(|_| bad)
        }
    }
}
