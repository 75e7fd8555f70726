//! Reading a recording, with care: whole, or a few hundred thousand rows at a time.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::columns::{CAUSES, EVENTS, MEASURES};
use crate::error::Error;
use crate::folder::{CAUSES_FILE, EVENTS_FILE, HEADER_FILE, MEASURES_FILE, read_header};
use crate::header::{FileFacts, Header};
use crate::names::Name;
use crate::parquet::{TableReader, Values, sure};
use crate::rows::{CauseRow, Event, Measure, Recording, SeriesNames};

impl Recording {
    /// Reads a recording from its folder, and checks it: nothing is guessed and nothing left out.
    ///
    /// # Errors
    /// What is missing or wrong, with the file and what would be right.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let mut reader = Reader::open(folder)?;
        let mut whole = Self::new(reader.header().clone());
        while reader.next_events(&mut whole)? {}
        while reader.next_measures(&mut whole)? {}
        while reader.next_causes(&mut whole)? {}
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
    events: TableReader<Event>,
    measures: TableReader<Measure>,
    /// Recordings of earlier versions have none.
    causes: Option<TableReader<CauseRow>>,
}

impl Reader {
    /// Opens a recording, and checks that its files are whole.
    ///
    /// # Errors
    /// What is missing or wrong, with the file and what would be right.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        if folder.is_file() {
            return Err(Error::NotAFolder { path: folder.to_owned() });
        }
        let mut header = read_header(&folder.join(HEADER_FILE))?;
        let facts = std::mem::take(&mut header.files);
        for name in [EVENTS_FILE, MEASURES_FILE] {
            check(&folder.join(name), facts.get(name))?;
        }
        let causes = folder.join(CAUSES_FILE);
        let has_causes = facts.contains_key(CAUSES_FILE) || causes.exists();
        if has_causes {
            check(&causes, facts.get(CAUSES_FILE))?;
        }
        Ok(Self {
            header,
            events: TableReader::open(&folder.join(EVENTS_FILE), &EVENTS)?,
            measures: TableReader::open(&folder.join(MEASURES_FILE), &MEASURES)?,
            causes: if has_causes { Some(TableReader::open(&causes, &CAUSES)?) } else { None },
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Adds the next events to a recording; false at their end.
    ///
    /// # Errors
    /// A damaged file.
    pub fn next_events(&mut self, to: &mut Recording) -> Result<bool, Error> {
        let Some((columns, rows)) = self.events.next_group(to)? else { return Ok(false) };
        let [variants, cases, modes, iterations, cpus, times, ticks, points, arguments, kinds] = &columns[..] else {
            unreachable!("a value for each column of `EVENTS`")
        };
        to.reserve_events(rows);
        let mut of_series = Neighbour::default();
        let mut of_point = Neighbour::default();
        for row in 0..rows {
            let (name, kind) = (sure(points.name(row)), kinds.name(row));
            let point = of_point.or_else((name, kind), || {
                let point = to.point_of(name);
                to.set_point_argument(point, kind);
                point
            });
            let names = series_names([variants, cases, modes], row);
            let series = of_series.or_else(names, || to.series_of(names));
            to.push(Event {
                time: times.u64(row),
                ticks: ticks.u64(row),
                iteration: sure(iterations.u32(row)),
                argument: sure(arguments.u32(row)),
                series,
                cpu: sure(cpus.u16(row)),
                point,
            });
        }
        Ok(true)
    }

    /// Adds the next measures to a recording; false at their end.
    ///
    /// # Errors
    /// A damaged file.
    pub fn next_measures(&mut self, to: &mut Recording) -> Result<bool, Error> {
        let Some((columns, rows)) = self.measures.next_group(to)? else { return Ok(false) };
        let [variants, cases, modes, iterations, cpus, clusters, cores, subjects, roles, metrics, values, units] =
            &columns[..]
        else {
            unreachable!("a value for each column of `MEASURES`")
        };
        let mut of_series = Neighbour::default();
        for row in 0..rows {
            let names = series_names([variants, cases, modes], row);
            let series = of_series.or_else(names, || to.series_of(names));
            to.push_measure(Measure {
                series,
                iteration: sure(iterations.u32(row)),
                cpu: cpus.u16(row),
                cluster: clusters.u16(row),
                core: cores.u16(row),
                subject: subjects.name(row),
                role: roles.name(row),
                metric: sure(metrics.name(row)),
                unit: sure(units.name(row)),
                value: values.f64(row),
            });
        }
        Ok(true)
    }

    /// Adds the next causes to a recording; false at their end.
    ///
    /// # Errors
    /// A damaged file.
    pub fn next_causes(&mut self, to: &mut Recording) -> Result<bool, Error> {
        let Some(reader) = &mut self.causes else { return Ok(false) };
        let Some((columns, rows)) = reader.next_group(to)? else { return Ok(false) };
        let [variants, cases, modes, iterations, cpus, metrics, causes, on, holders, ticks] = &columns[..] else {
            unreachable!("a value for each column of `CAUSES`")
        };
        let mut of_series = Neighbour::default();
        for row in 0..rows {
            let names = series_names([variants, cases, modes], row);
            let series = of_series.or_else(names, || to.series_of(names));
            to.push_cause(CauseRow {
                series,
                iteration: sure(iterations.u32(row)),
                cpu: sure(cpus.u16(row)),
                metric: sure(metrics.name(row)),
                cause: sure(causes.name(row)),
                on: on.u32(row),
                holder: holders.u16(row),
                ticks: ticks.u64(row),
            });
        }
        Ok(true)
    }
}

fn series_names([variants, cases, modes]: [&Values; 3], row: usize) -> SeriesNames {
    let name = |values: &Values| -> Name { sure(values.name(row)) };
    SeriesNames { variant: name(variants), case: name(cases), mode: name(modes) }
}

/// What was found for the rows before: neighbours are mostly alike, and a look at them is cheaper than one into a table.
struct Neighbour<K, V> {
    seen: [Option<(K, V)>; 8],
    next: usize,
}

impl<K: Copy, V: Copy> Default for Neighbour<K, V> {
    fn default() -> Self {
        Self { seen: [None; 8], next: 0 }
    }
}

impl<K: Copy + PartialEq, V: Copy> Neighbour<K, V> {
    fn or_else(&mut self, key: K, find: impl FnOnce() -> V) -> V {
        if let Some((_, value)) = self.seen.iter().flatten().find(|(seen, _)| *seen == key) {
            return *value;
        }
        let value = find();
        self.seen[self.next] = Some((key, value));
        self.next = (self.next + 1) % self.seen.len();
        value
    }
}

fn check(path: &Path, facts: Option<&FileFacts>) -> Result<(), Error> {
    let mut file = File::open(path).map_err(Error::io(path, "read"))?;
    let Some(facts) = facts else { return Ok(()) };
    let mut crc = crc32fast::Hasher::new();
    let (mut bytes, mut buffer) = (0_u64, vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(Error::io(path, "read"))? {
            0 => break,
            n => {
                crc.update(&buffer[..n]);
                bytes += n as u64;
            }
        }
    }
    if bytes != facts.bytes {
        return Err(Error::Length { path: path.to_owned(), found: bytes, expected: facts.bytes });
    }
    let found = crc.finalize();
    if found != facts.crc32 {
        return Err(Error::Checksum { path: path.to_owned(), found, expected: facts.crc32 });
    }
    Ok(())
}
