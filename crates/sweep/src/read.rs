//! A data set as a recording, for reports and comparisons.

use crate::dataset::{Dataset, POINTS_FILE};
use crate::error::{Error, Result};
use crate::manifest::Chunk;
use crate::plan::Plan;
use recording::{Event, Header, Reader, Recording, Series};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// With more keys than this, a point is named by its number and not by its settings.
const MOST_KEYS: usize = 4;

/// Most points that are read as one recording: each has variants of its own, of which a recording
/// has at most 65 536.
const MOST_POINTS: u64 = 16_384;

/// Reads a data set whole, each variant under a name that says of which point it is:
/// `juno-v2.12 scp.channels=2`, or `juno-v2.12 point=17` where more than four keys vary. Chunks
/// that are not there yet are left out.
///
/// # Errors
/// It is no data set, is damaged, has no chunk yet, or has too many points to be read as one
/// recording.
pub fn read(folder: &Path) -> Result<Recording> {
    let dataset = opened(folder)?;
    let mut whole = None;
    let mut points = BTreeMap::new();
    let note = each_point(&dataset, |number, part| {
        let to = whole.get_or_insert_with(|| Recording::new(part.header.clone()));
        let suffix = suffix(&dataset.plan, number);
        to.append_as(&part, |variant| format!("{variant}{suffix}"));
        points.extend(
            part.all_series()
                .map(|series| (format!("{}{suffix}", part.series_texts(series).0), number)),
        );
    })?;
    // A data set of which no chunk has rows was refused.
    let mut whole = whole.expect("a point has rows");
    whole.header.notes.extend(note);
    describe(&mut whole, &dataset.plan, &points);
    Ok(whole)
}

/// A data set that is small enough to be read whole.
fn opened(folder: &Path) -> Result<Dataset> {
    let dataset = Dataset::open(folder)?;
    let (points, _) = dataset.size();
    if points > MOST_POINTS {
        let message =
            format!("has {points} points; a report or a comparison takes at most {MOST_POINTS}");
        let help = "read its Parquet files with duckdb, polars or pandas: docs/sweeps.md says how";
        return Err(Error::folder(folder, message, help));
    }
    Ok(dataset)
}

/// Hands over the rows of each point that has some; returns a note if not every chunk is there.
fn each_point(dataset: &Dataset, mut take: impl FnMut(u64, Recording)) -> Result<Option<String>> {
    let (_, chunks) = dataset.size();
    let (mut there, mut any) = (0, false);
    for chunk in 0..chunks {
        let Some(said) = dataset.chunk(chunk)? else {
            continue;
        };
        there += 1;
        let Some(header) = &said.header else { continue };
        let rows = rows_of_chunk(dataset, chunk, &said, &header_of(header.clone()))?;
        any |= !rows.is_empty();
        rows.into_iter()
            .for_each(|(number, recording)| take(number, recording));
    }
    if !any {
        return Err(Error::folder(
            &dataset.folder,
            format!("has rows of no point yet ({there} of {chunks} chunks are there)"),
            "finish it first: stopwatt sweep --resume DIR",
        ));
    }
    Ok((there < chunks).then_some(format!(
        "{there} of {chunks} chunks of the sweep are there; the others were not run yet."
    )))
}

/// The rows of each point of a chunk that has some, under a header.
pub fn rows_of_chunk(
    dataset: &Dataset,
    chunk: u64,
    said: &Chunk,
    header: &Header,
) -> Result<BTreeMap<u64, Recording>> {
    let mut files = said.files.clone();
    files.remove(POINTS_FILE);
    let damaged = |error| Error::of_rows(&dataset.folder, error);
    let mut reader =
        Reader::open_part(&dataset.chunk_folder(chunk), header.clone(), &files).map_err(damaged)?;
    let mut part = Recording::new(header.clone());
    let mut points = Points {
        header: header.clone(),
        of: BTreeMap::new(),
        known: HashMap::new(),
    };
    while reader.next_measures(&mut part).map_err(damaged)? {
        for (measure, number) in part.measures().iter().zip(reader.points()) {
            let (to, series) = points.place(&part, *number, measure.series);
            let moved = measure.moved(series, |name| to.name(part.text(name)));
            to.push_measure(moved);
        }
        part.clear();
    }
    while reader.next_events(&mut part).map_err(damaged)? {
        for (event, number) in part.events().iter().zip(reader.points()) {
            let (to, series) = points.place(&part, *number, event.series);
            let argument = part.point_argument(event.point);
            let argument = argument.map(|argument| part.text(argument));
            let point = to.point_with(part.point_text(event.point), argument);
            to.push(Event {
                series,
                point,
                ..*event
            });
        }
        part.clear();
    }
    while reader.next_causes(&mut part).map_err(damaged)? {
        for (cause, number) in part.causes().iter().zip(reader.points()) {
            let (to, series) = points.place(&part, *number, cause.series);
            let moved = cause.moved(series, |name| to.name(part.text(name)));
            to.push_cause(moved);
        }
        part.clear();
    }
    Ok(points.of)
}

/// The header without what belongs to single points.
fn header_of(mut header: Header) -> Header {
    if let Some(platform) = &mut header.platform {
        platform.figures.clear();
    }
    (header.versions, header.costs) = (Default::default(), Default::default());
    header.settings.clear();
    header.texts.clear();
    header.complaints.clear();
    header
}

/// The points of a chunk as they are read.
struct Points {
    header: Header,
    of: BTreeMap<u64, Recording>,
    known: HashMap<(u64, Series), Series>,
}

impl Points {
    /// The recording of a point, and its series for one of the chunk's.
    fn place(&mut self, from: &Recording, point: u64, series: Series) -> (&mut Recording, Series) {
        let to = self
            .of
            .entry(point)
            .or_insert_with(|| Recording::new(self.header.clone()));
        let series = *self.known.entry((point, series)).or_insert_with(|| {
            let (variant, case, mode) = from.series_texts(series);
            to.series(variant, case, mode)
        });
        (to, series)
    }
}

/// The suffix of a variant's name: which point it is of.
fn suffix(plan: &Plan, number: u64) -> String {
    let varied = plan.point(number).varied;
    if varied.len() > MOST_KEYS {
        return format!(" point={number}");
    }
    let mut suffix: String = varied
        .iter()
        .map(|(key, value)| format!(" {key}={}", value.text()))
        .collect();
    if plan.repeats() {
        suffix.push_str(&format!(" repetition={}", plan.point(number).repetition));
    }
    suffix
}

/// Notes the settings of each variant's point, for comparisons to name as the inputs that differ.
fn describe(whole: &mut Recording, plan: &Plan, points: &BTreeMap<String, u64>) {
    let platform = whole
        .header
        .platform
        .get_or_insert_with(|| recording::Platform {
            name: String::new(),
            text: String::new(),
            figures: toml::Table::new(),
        });
    for (name, number) in points {
        let table = plan
            .point(*number)
            .varied
            .into_iter()
            .map(|(key, value)| (key, toml::Value::String(value.text())));
        platform
            .figures
            .insert(name.clone(), toml::Value::Table(table.collect()));
    }
}
