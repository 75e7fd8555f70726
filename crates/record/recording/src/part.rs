//! The rows of many runs in one set of files: a part of a sweep.

use crate::columns::{CAUSES, EVENTS, MEASURES};
use crate::error::Error;
use crate::folder::{CAUSES_FILE, EVENTS_FILE, MEASURES_FILE};
use crate::header::{FileFacts, Header};
use crate::parquet::{GROUP_ROWS, TableWriter};
use crate::rows::{CauseRow, Event, Measure, Recording, RowKinds};
use crate::writer::Open;
use std::collections::BTreeMap;
use std::path::Path;

/// Writes the rows of many runs, each with the number of its run in a first column `sweep_point`,
/// in bounded memory.
///
/// The files have the names and columns of a recording's. The folder is the caller's, who moves it
/// to its place when it is whole; [`Reader::open_part`](crate::Reader::open_part) reads it.
pub struct PartWriter {
    /// Rows that do not fill a row group yet, and the names of all.
    rows: Recording,
    events: Option<PartFile<Event>>,
    measures: Option<PartFile<Measure>>,
    causes: Option<PartFile<CauseRow>>,
}

/// A file that is being written, and the runs of the rows that wait for it.
struct PartFile<R: 'static> {
    file: Open<R>,
    numbers: Vec<u64>,
}

impl PartWriter {
    /// Starts the files in a folder that is there. Of the header only the time base counts: it is
    /// what the columns' units are written from.
    ///
    /// # Errors
    /// The system refuses.
    pub fn create(folder: &Path, header: &Header, kept: RowKinds) -> Result<Self, Error> {
        let at = |name| folder.join(name);
        let events = kept.events.then(|| {
            Open::new(EVENTS_FILE, at(EVENTS_FILE), |out| {
                TableWriter::numbered(
                    out,
                    &EVENTS,
                    header,
                    include_str!("../arrow/numbered-events.b64"),
                )
            })
        });
        let measures = kept.measures.then(|| {
            Open::new(MEASURES_FILE, at(MEASURES_FILE), |out| {
                TableWriter::numbered(
                    out,
                    &MEASURES,
                    header,
                    include_str!("../arrow/numbered-measures.b64"),
                )
            })
        });
        let causes = kept.causes.then(|| {
            Open::new(CAUSES_FILE, at(CAUSES_FILE), |out| {
                TableWriter::numbered(
                    out,
                    &CAUSES,
                    header,
                    include_str!("../arrow/numbered-causes.b64"),
                )
            })
        });
        Ok(Self {
            rows: Recording::new(header.clone()),
            events: events.transpose()?.map(PartFile::new),
            measures: measures.transpose()?.map(PartFile::new),
            causes: causes.transpose()?.map(PartFile::new),
        })
    }

    /// Adds the rows of the run of a number.
    ///
    /// # Errors
    /// The system refuses.
    pub fn append(&mut self, number: u64, run: &Recording) -> Result<(), Error> {
        // Rows of a file that is not kept are not even copied.
        let (events, measures, causes) = (
            self.events.is_some(),
            self.measures.is_some(),
            self.causes.is_some(),
        );
        self.rows.append_kinds(
            run,
            RowKinds {
                events,
                measures,
                causes,
            },
            str::to_owned,
        );
        self.flush(number, GROUP_ROWS)
    }

    /// Notes the run of the rows that were just added, and writes what fills a row group of `rows`
    /// rows.
    fn flush(&mut self, number: u64, rows: usize) -> Result<(), Error> {
        while let Some(written) = write(
            &mut self.events,
            &self.rows,
            Recording::events,
            number,
            rows,
        )? {
            self.rows.forget_events(written);
        }
        while let Some(written) = write(
            &mut self.measures,
            &self.rows,
            Recording::measures,
            number,
            rows,
        )? {
            self.rows.forget_measures(written);
        }
        while let Some(written) = write(
            &mut self.causes,
            &self.rows,
            Recording::causes,
            number,
            rows,
        )? {
            self.rows.forget_causes(written);
        }
        Ok(())
    }

    /// Closes the files; returns the rows and the checksum of each, by its name.
    ///
    /// # Errors
    /// The system refuses.
    pub fn finish(mut self) -> Result<BTreeMap<String, FileFacts>, Error> {
        self.flush(0, 1)?;
        let events = self.events.map(|events| events.file.finish());
        let measures = self.measures.map(|measures| measures.file.finish());
        let causes = self.causes.map(|causes| causes.file.finish());
        [events, measures, causes]
            .into_iter()
            .flatten()
            .map(|facts| facts.map(|(name, facts)| (name.to_owned(), facts)))
            .collect()
    }
}

impl<R> PartFile<R> {
    fn new(file: Open<R>) -> Self {
        Self {
            file,
            numbers: Vec::new(),
        }
    }
}

/// Writes the next row group of a file if its rows fill one of `group` rows; how many rows that
/// were. `None` where they do not.
fn write<R: 'static>(
    to: &mut Option<PartFile<R>>,
    rows: &Recording,
    of: fn(&Recording) -> &[R],
    number: u64,
    group: usize,
) -> Result<Option<usize>, Error> {
    let waiting = of(rows);
    let Some(to) = to else { return Ok(None) };
    to.numbers.resize(waiting.len(), number);
    if waiting.len() < group {
        return Ok(None);
    }
    let some = waiting.len().min(GROUP_ROWS);
    to.file
        .write_numbered(rows, &waiting[..some], &to.numbers[..some])?;
    to.numbers.drain(..some);
    Ok(Some(some))
}
