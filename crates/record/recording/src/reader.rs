//! Reading a recording, with care: whole, or a few hundred thousand rows at a time.

use crate::columns::Row;
use crate::error::{A_RECORDING, Error, Result};
use crate::folder::{CAUSES_FILE, EVENTS_FILE, HEADER_FILE, MEASURES_FILE, read_header};
use crate::header::{FileFacts, Header};
use crate::names::Name;
use crate::open::checksum;
use crate::parquet::{TableReader, Values, sure};
use crate::rows::{CauseRow, Event, Measure, Recording, Series, SeriesNames};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

impl Recording {
    /// Reads a recording from its folder, and checks it: nothing is guessed and nothing left out.
    ///
    /// # Errors
    /// What is missing or wrong, with the file and what would be right.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self> {
        let mut reader = Reader::open(&folder)?;
        let causes = reader.causes.as_ref().map_or(0, TableReader::rows);
        let events = reader.events.as_ref().map_or(0, TableReader::rows);
        let measures = reader.measures.as_ref().map_or(0, TableReader::rows);
        held_at_once(folder.as_ref(), events, measures, causes)?;
        let mut whole = Self::new(reader.header().clone());
        while reader.next_events(&mut whole)? {}
        while reader.next_measures(&mut whole)? {}
        while reader.take_causes(&mut whole, None)? {}
        Ok(whole)
    }
}

/// Reads a recording of any length in bounded memory, a few hundred thousand rows at a time.
///
/// ```no_run
/// use recording::{Reader, Recording};
///
/// let mut reader = Reader::open("recordings/idle")?;
/// let mut some = Recording::new(reader.header().clone());
/// while reader.next_events(&mut some)? {
///     println!("{} events", some.events().len());
///     some.clear();
/// }
/// # Ok::<(), recording::Error>(())
/// ```
pub struct Reader {
    header: Header,
    /// A part of a sweep may have no events, or no measures.
    events: Option<TableReader<Event>>,
    measures: Option<TableReader<Measure>>,
    /// A recording that was never attributed has none.
    causes: Option<TableReader<CauseRow>>,
    points: Vec<u64>,
}

impl Reader {
    /// Opens a recording, and checks that its files are whole.
    ///
    /// # Errors
    /// What is missing or wrong, with the file and what would be right.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        if folder.is_file() {
            return Err(Error::wrong(folder, format!("is a file; {A_RECORDING}")));
        }
        let mut header = read_header(&folder.join(HEADER_FILE))?;
        let facts = Facts {
            folder,
            header: folder.join(HEADER_FILE),
            of: std::mem::take(&mut header.files),
            numbered: false,
        };
        let has_causes = facts.of.contains_key(CAUSES_FILE) || folder.join(CAUSES_FILE).exists();
        let files = [EVENTS_FILE, MEASURES_FILE, CAUSES_FILE];
        facts.are_of(&files[..2 + usize::from(has_causes)])?;
        Ok(Self {
            header,
            events: Some(facts.open()?),
            measures: Some(facts.open()?),
            causes: has_causes.then(|| facts.open()).transpose()?,
            points: Vec::new(),
        })
    }

    /// Opens the files of a folder that [`PartWriter`](crate::PartWriter) wrote: `header` is that
    /// of their runs, `facts` is what it said of each file. A file of which it said nothing has no
    /// rows.
    ///
    /// # Errors
    /// What is missing or wrong, with the file and what would be right.
    pub fn open_part(
        folder: &Path,
        header: Header,
        facts: &BTreeMap<String, FileFacts>,
    ) -> Result<Self> {
        let of = Facts {
            folder,
            header: folder.to_owned(),
            of: facts.clone(),
            numbered: true,
        };
        Ok(Self {
            header,
            events: of.open_if_said()?,
            measures: of.open_if_said()?,
            causes: of.open_if_said()?,
            points: Vec::new(),
        })
    }

    /// The runs that the rows are of which were added last, for a part of a sweep.
    pub fn points(&self) -> &[u64] {
        &self.points
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Adds the next events to a recording; false at their end.
    ///
    /// # Errors
    /// A damaged file.
    pub fn next_events(&mut self, to: &mut Recording) -> Result<bool> {
        self.take_events(to, None)
    }

    fn take_events(&mut self, to: &mut Recording, rename: Rename<'_>) -> Result<bool> {
        let mut of_point = Neighbour::default();
        let (file, points) = (&mut self.events, &mut self.points);
        next(file, points, (to, rename), |reader, to, at| {
            let [cpus, times, ticks, points, arguments, kinds] = at.columns else {
                unreachable!("a value for each column of `EVENTS`")
            };
            let (name, kind) = (sure(points.name(at.row)), kinds.name(at.row));
            let point = of_point.or_else((name, kind), || {
                let point = to.point_of(name).ok_or_else(|| reader.too_many("points"))?;
                to.set_point_argument(point, kind);
                Ok(point)
            })?;
            Ok(Event {
                time: times.u64(at.row),
                ticks: ticks.u64(at.row),
                iteration: at.iteration,
                argument: sure(arguments.u32(at.row)),
                series: at.series,
                cpu: sure(cpus.u16(at.row)),
                point,
            })
        })
    }

    /// Adds the next measures to a recording; false at their end.
    ///
    /// # Errors
    /// A damaged file.
    pub fn next_measures(&mut self, to: &mut Recording) -> Result<bool> {
        self.take_measures(to, None)
    }

    fn take_measures(&mut self, to: &mut Recording, rename: Rename<'_>) -> Result<bool> {
        let (file, points) = (&mut self.measures, &mut self.points);
        next(file, points, (to, rename), |reader, _, at| {
            let [
                cpus,
                clusters,
                cores,
                subjects,
                roles,
                metrics,
                values,
                units,
            ] = at.columns
            else {
                unreachable!("a value for each column of `MEASURES`")
            };
            let value = values.f64(at.row);
            if !value.is_finite() {
                return Err(reader.not_finite(at.row, at.of, value));
            }
            Ok(Measure {
                series: at.series,
                iteration: at.iteration,
                cpu: cpus.u16(at.row),
                cluster: clusters.u16(at.row),
                core: cores.u16(at.row),
                subject: subjects.name(at.row),
                role: roles.name(at.row),
                metric: sure(metrics.name(at.row)),
                unit: sure(units.name(at.row)),
                value,
            })
        })
    }

    /// Adds the rows of a part of a sweep to a recording, each under the name that `rename` makes of
    /// its variant and of the run that it is of.
    ///
    /// # Errors
    /// A damaged file.
    pub fn read_runs(
        mut self,
        to: &mut Recording,
        rename: &mut dyn FnMut(&str, u64) -> String,
    ) -> Result {
        while self.take_measures(to, Some(rename))? {}
        while self.take_events(to, Some(rename))? {}
        while self.take_causes(to, Some(rename))? {}
        Ok(())
    }

    /// Adds the next causes to a recording; false at their end.
    fn take_causes(&mut self, to: &mut Recording, rename: Rename<'_>) -> Result<bool> {
        let (file, points) = (&mut self.causes, &mut self.points);
        next(file, points, (to, rename), |_, _, at| {
            let [cpus, metrics, causes, on, holders, ticks] = at.columns else {
                unreachable!("a value for each column of `CAUSES`")
            };
            Ok(CauseRow {
                series: at.series,
                iteration: at.iteration,
                cpu: sure(cpus.u16(at.row)),
                metric: sure(metrics.name(at.row)),
                cause: sure(causes.name(at.row)),
                on: on.u32(at.row),
                holder: holders.u16(at.row),
                ticks: ticks.u64(at.row),
            })
        })
    }
}

/// Another name of a variant, by the run that a row is of.
type Rename<'r> = Option<&'r mut dyn FnMut(&str, u64) -> String>;

/// A row of a group: its keys, and the columns behind those of the keys with its place in them.
struct RowAt<'v> {
    series: Series,
    iteration: u32,
    columns: &'v [Values],
    row: usize,
    /// The number of rows in the group.
    of: usize,
}

/// Adds the rows of a file's next group to a recording, each made of its columns, and takes the runs
/// that they are of; false at their end.
fn next<R: Row>(
    file: &mut Option<TableReader<R>>,
    points: &mut Vec<u64>,
    (to, mut rename): (&mut Recording, Rename<'_>),
    mut made: impl FnMut(&TableReader<R>, &mut Recording, RowAt<'_>) -> Result<R>,
) -> Result<bool> {
    let Some(reader) = file else {
        return Ok(false);
    };
    let Some((columns, rows)) = reader.next_group(to)? else {
        return Ok(false);
    };
    *points = reader.take_numbers();
    let [variants, cases, modes, iterations, columns @ ..] = &columns[..] else {
        unreachable!("a value for each column of the keys")
    };
    R::of_mut(to).reserve(rows);
    let mut of_series = Neighbour::default();
    for row in 0..rows {
        let mut names = series_names([variants, cases, modes], row);
        let run = points.get(row).copied();
        let series = of_series.or_else((names, run), || {
            if let (Some(rename), Some(run)) = (&mut rename, run) {
                let renamed = rename(to.text(names.variant), run);
                names.variant = to.name(&renamed);
            }
            reader.series(to, names)
        })?;
        let at = RowAt {
            series,
            iteration: sure(iterations.u32(row)),
            columns,
            row,
            of: rows,
        };
        let row = made(reader, to, at)?;
        R::of_mut(to).push(row);
    }
    Ok(true)
}

fn series_names([variants, cases, modes]: [&Values; 3], row: usize) -> SeriesNames {
    let name = |values: &Values| -> Name { sure(values.name(row)) };
    SeriesNames {
        variant: name(variants),
        case: name(cases),
        mode: name(modes),
    }
}

/// The result for the rows before: neighbours are mostly alike, and a look at them is cheaper than
/// one into a table.
struct Neighbour<K, V> {
    seen: [Option<(K, V)>; 8],
    next: usize,
}

impl<K: Copy, V: Copy> Default for Neighbour<K, V> {
    fn default() -> Self {
        Self {
            seen: [None; 8],
            next: 0,
        }
    }
}

impl<K: Copy + PartialEq, V: Copy> Neighbour<K, V> {
    fn or_else(&mut self, key: K, find: impl FnOnce() -> Result<V>) -> Result<V> {
        if let Some((_, value)) = self.seen.iter().flatten().find(|(seen, _)| *seen == key) {
            return Ok(*value);
        }
        let value = find()?;
        self.seen[self.next] = Some((key, value));
        self.next = (self.next + 1) % self.seen.len();
        Ok(value)
    }
}

/// Most bytes of rows that are held in memory at once: 2 GiB, or 67 million events. A run that
/// would leave more is refused before it starts, where it can be foreseen.
pub const MOST_HELD: u64 = 2 << 30;

/// Refuses a recording that is too long to be held in memory at once.
fn held_at_once(folder: &Path, events: u64, measures: u64, causes: u64) -> Result {
    let sizes = [
        (events, size_of::<Event>()),
        (measures, size_of::<Measure>()),
        (causes, size_of::<CauseRow>()),
    ];
    let total =
        |of: &dyn Fn(&(u64, usize)) -> u64| sizes.iter().map(of).fold(0, u64::saturating_add);
    let bytes = total(&|&(rows, size)| rows.saturating_mul(size as u64));
    let rows = total(&|&(rows, _)| rows);
    let memory = |what: String| Error::Memory {
        path: folder.to_owned(),
        what,
    };
    if bytes > MOST_HELD {
        return Err(memory(format!(
            "its {rows} rows would take {} MiB of memory, and {} MiB are the most; record fewer iterations or less of the trace, \
             or read its Parquet files with another program",
            bytes >> 20,
            MOST_HELD >> 20
        )));
    }
    // Columns are decoded beside them, a group of rows at a time.
    memory::must_have(bytes.saturating_add(bytes / 4)).map_err(|short| {
        memory(format!(
            "too many rows for this machine's memory, {rows}: {short}; read its Parquet files with another program, or free memory"
        ))
    })
}

/// The facts that a header gives about the Parquet files. One that says nothing of any was written
/// by another program, and is taken as it is.
struct Facts<'f> {
    folder: &'f Path,
    header: PathBuf,
    of: BTreeMap<String, FileFacts>,
    /// True if the files have the numbers of the runs that their rows are of.
    numbered: bool,
}

impl Facts<'_> {
    /// Checks that they are those of the files that are there: one more or fewer would leave a file
    /// unchecked.
    fn are_of(&self, files: &[&str]) -> Result {
        let wrong = |message: String| Error::header(&self.header, message);
        if let Some(name) = self.of.keys().find(|name| !files.contains(&name.as_str())) {
            return Err(wrong(format!(
                "[files] has an entry `{}`; the files are {}",
                name.escape_debug(),
                files.join(", ")
            )));
        }
        if let Some(name) = files
            .iter()
            .find(|name| !self.of.is_empty() && !self.of.contains_key(**name))
        {
            return Err(wrong(format!(
                "[files] has no entry for {name}; it must have one with rows, bytes and crc32"
            )));
        }
        Ok(())
    }

    /// Opens a file, if anything is said of it.
    fn open_if_said<R: Row>(&self) -> Result<Option<TableReader<R>>> {
        let is_said = self.of.contains_key(R::FILE);
        is_said.then(|| self.open()).transpose()
    }

    /// Checks a file against what is said of it, and opens it.
    fn open<R: Row>(&self) -> Result<TableReader<R>> {
        let (path, facts) = (&self.folder.join(R::FILE), self.of.get(R::FILE));
        if let Some(facts) = facts {
            check(path, facts)?;
        }
        let table = TableReader::open(path, self.numbered)?;
        match facts
            .map(|facts| facts.rows)
            .filter(|rows| *rows != table.rows())
        {
            None => Ok(table),
            Some(expected) => Err(Error::damaged(
                path,
                format!("has {} rows where {expected} were written", table.rows()),
            )),
        }
    }
}

fn check(path: &Path, facts: &FileFacts) -> Result {
    let (bytes, found) = checksum(path).map_err(Error::io(path, "read"))?;
    if bytes != facts.bytes {
        return Err(Error::damaged(
            path,
            format!("has {bytes} bytes where {} were written", facts.bytes),
        ));
    }
    if found != facts.crc32 {
        return Err(Error::damaged(
            path,
            format!(
                "has the CRC-32 {found:08x} where {:08x} was written",
                facts.crc32
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_than_memory_should_hold_are_refused() {
        let held =
            |events, measures, causes| held_at_once(Path::new("r"), events, measures, causes);
        assert!(held(1 << 26, 0, 0).is_ok() && held(1 << 20, 1 << 20, 1 << 20).is_ok());
        let said = held((1 << 26) + 1, 0, 0).unwrap_err().to_string();
        assert!(
            said.starts_with("r: its 67108865 rows") && said.contains("2048 MiB are the most"),
            "{said}"
        );
        assert!(held(0, 1 << 26, 0).is_err() && held(0, 0, 1 << 27).is_err());
        assert!(held(u64::MAX, u64::MAX, u64::MAX).is_err());
    }
}
