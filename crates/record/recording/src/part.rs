//! The rows of many runs in one set of files: a part of a sweep.

use crate::columns::Row;
use crate::error::Result;
use crate::header::{FileFacts, Header};
use crate::open::Open;
use crate::parquet::GROUP_ROWS;
use crate::rows::{CauseRow, Event, Measure, Recording, RowKinds};
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
    kept: RowKinds,
    events: Option<Open<Event>>,
    measures: Option<Open<Measure>>,
    causes: Option<Open<CauseRow>>,
}

impl PartWriter {
    /// Starts the files in a folder that is there. Of the header only the time base counts: it is
    /// what the columns' units are written from.
    ///
    /// # Errors
    /// The system refuses.
    pub fn create(folder: &Path, header: &Header, kept: RowKinds) -> Result<Self> {
        Self::start(folder, header, kept, true)
    }

    /// Starts the files, with the numbers of runs or without.
    pub(crate) fn start(
        folder: &Path,
        header: &Header,
        kept: RowKinds,
        numbered: bool,
    ) -> Result<Self> {
        Ok(Self {
            rows: Recording::new(header.clone()),
            kept,
            events: Open::start(folder, header, kept.events, numbered)?,
            measures: Open::start(folder, header, kept.measures, numbered)?,
            causes: Open::start(folder, header, kept.causes, numbered)?,
        })
    }

    /// Adds the rows of the run of a number.
    ///
    /// # Errors
    /// The system refuses.
    pub fn append(&mut self, number: u64, run: &Recording) -> Result {
        // Rows of a file that is not kept are not even copied.
        self.rows.append_kinds(run, self.kept, str::to_owned);
        self.flush(number, GROUP_ROWS)
    }

    /// Writes all rows of a recording that has them in memory, without a copy, to files without
    /// numbers.
    pub(crate) fn write_whole(&mut self, whole: &Recording) -> Result {
        write_all(&mut self.events, whole)?;
        write_all(&mut self.measures, whole)?;
        write_all(&mut self.causes, whole)
    }

    /// Notes the run of the rows that were just added, and writes what fills a row group of `least`
    /// rows.
    fn flush(&mut self, number: u64, least: usize) -> Result {
        flush(&mut self.events, &mut self.rows, number, least)?;
        flush(&mut self.measures, &mut self.rows, number, least)?;
        flush(&mut self.causes, &mut self.rows, number, least)
    }

    /// Closes the files; returns the rows and the checksum of each, by its name.
    ///
    /// # Errors
    /// The system refuses.
    pub fn finish(mut self) -> Result<BTreeMap<String, FileFacts>> {
        self.flush(0, 1)?;
        let events = self.events.map(Open::finish);
        let measures = self.measures.map(Open::finish);
        let causes = self.causes.map(Open::finish);
        [events, measures, causes]
            .into_iter()
            .flatten()
            .map(|facts| facts.map(|(name, facts)| (name.to_owned(), facts)))
            .collect()
    }
}

/// The same for one of the files, if it is kept.
fn flush<R: Row>(
    file: &mut Option<Open<R>>,
    rows: &mut Recording,
    number: u64,
    least: usize,
) -> Result {
    let Some(file) = file else { return Ok(()) };
    if let Some(numbers) = &mut file.numbers {
        numbers.resize(R::of(rows).len(), number);
    }
    file.flush(rows, least)
}

fn write_all<R: Row>(file: &mut Option<Open<R>>, whole: &Recording) -> Result {
    let Some(file) = file else { return Ok(()) };
    file.write(whole, R::of(whole).len())
}
