//! A data set as a recording, for reports and comparisons.

use crate::dataset::Dataset;
use crate::error::Error;
use crate::plan::Plan;
use recording::{CauseRow, Event, Measure, Reader, Recording, Series};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// With more keys than this, a point is named by its number and not by its settings.
const MOST_KEYS: usize = 4;

/// Most points that are read as one recording: each has variants of its own, of which a recording has at most 65 536.
const MOST_POINTS: u64 = 16_384;

/// Reads a data set whole, each variant under a name that says of which point it is: `juno-v2.12 scp.channels=2`, or `juno-v2.12 point=17`
/// where more than four keys vary. Chunks that are not there yet are left out.
///
/// # Errors
/// It is no data set, is damaged, has no chunk yet, or has too many points to be read as one recording.
pub fn read(folder: &Path) -> Result<Recording, Error> {
    let dataset = Dataset::open(folder)?;
    let (points, chunks) = dataset.size();
    if points > MOST_POINTS {
        let message = format!("has {points} points; a report or a comparison takes at most {MOST_POINTS}");
        let help = "read its Parquet files with duckdb, polars or pandas: docs/sweeps.md says how";
        return Err(Error::folder(folder, message, help));
    }
    let mut whole: Option<Recording> = None;
    let mut there = 0;
    let mut names = Named { plan: dataset.plan(), known: HashMap::new(), points: BTreeMap::new() };
    for chunk in 0..chunks {
        let Some(said) = dataset.chunk(chunk)? else { continue };
        there += 1;
        let Some(header) = said.header else { continue };
        let to = whole.get_or_insert_with(|| {
            let mut header = header.clone();
            if let Some(platform) = &mut header.platform {
                platform.figures.clear();
            }
            (header.versions, header.costs) = (Default::default(), Default::default());
            header.settings.clear();
            Recording::new(header)
        });
        let mut files = said.files;
        files.remove(crate::dataset::POINTS_FILE);
        let mut reader = Reader::open_part(&dataset.chunk_folder(chunk), header.clone(), &files)?;
        let mut part = Recording::new(header);
        // Series are numbered anew in each chunk.
        names.known.clear();
        while reader.next_measures(&mut part)? {
            add_measures(to, &part, reader.points_of_measures(), &mut names);
            part.clear();
        }
        while reader.next_events(&mut part)? {
            add_events(to, &part, reader.points_of_events(), &mut names);
            part.clear();
        }
        while reader.next_causes(&mut part)? {
            add_causes(to, &part, reader.points_of_causes(), &mut names);
            part.clear();
        }
    }
    let Some(mut whole) = whole else {
        let message = format!("has rows of no point yet ({there} of {chunks} chunks are there)");
        return Err(Error::folder(folder, message, "finish it first: stopwatt sweep --resume DIR"));
    };
    if there < chunks {
        whole
            .header
            .notes
            .push(format!("{there} of {chunks} chunks of the sweep are there; the others were not run yet."));
    }
    describe(&mut whole, &names);
    Ok(whole)
}

/// The names of variants with their points.
struct Named<'p> {
    plan: &'p Plan,
    known: HashMap<(u64, Series), Series>,
    /// The points of the variants.
    points: BTreeMap<String, u64>,
}

impl Named<'_> {
    fn series(&mut self, to: &mut Recording, from: &Recording, point: u64, series: Series) -> Series {
        *self.known.entry((point, series)).or_insert_with(|| {
            let (variant, case, mode) = from.series_texts(series);
            let name = format!("{variant}{}", suffix(self.plan, point));
            let series = to.series(&name, case, mode);
            self.points.insert(name, point);
            series
        })
    }
}

/// What stands behind a variant's name: which point it is of.
fn suffix(plan: &Plan, number: u64) -> String {
    let point = plan.point(number);
    if point.varied.len() > MOST_KEYS {
        return format!(" point={number}");
    }
    let mut suffix: String = point.varied.iter().map(|(key, value)| format!(" {key}={}", value.text())).collect();
    if plan.repeats() {
        suffix.push_str(&format!(" repetition={}", point.repetition));
    }
    suffix
}

/// Notes the settings of each variant's point, for comparisons to name as the inputs that differ.
fn describe(whole: &mut Recording, names: &Named<'_>) {
    let platform = whole.header.platform.get_or_insert_with(|| recording::Platform {
        name: String::new(),
        text: String::new(),
        figures: toml::Table::new(),
    });
    for (name, number) in &names.points {
        let varied = names.plan.point(*number).varied;
        let table = varied.into_iter().map(|(key, value)| (key, toml::Value::String(value.text())));
        platform.figures.insert(name.clone(), toml::Value::Table(table.collect()));
    }
}

fn add_measures(to: &mut Recording, from: &Recording, points: &[u64], names: &mut Named<'_>) {
    for (measure, point) in from.measures().iter().zip(points) {
        let series = names.series(to, from, *point, measure.series);
        let mut again = |name| to.name(from.text(name));
        let moved = Measure {
            series,
            subject: measure.subject.map(&mut again),
            role: measure.role.map(&mut again),
            metric: again(measure.metric),
            unit: again(measure.unit),
            ..*measure
        };
        to.push_measure(moved);
    }
}

fn add_events(to: &mut Recording, from: &Recording, points: &[u64], names: &mut Named<'_>) {
    for (event, number) in from.events().iter().zip(points) {
        let series = names.series(to, from, *number, event.series);
        let name = from.point_text(event.point);
        let point = match from.point_argument(event.point) {
            Some(argument) => to.point_with_argument(name, from.text(argument)),
            None => to.point(name),
        };
        to.push(Event { series, point, ..*event });
    }
}

fn add_causes(to: &mut Recording, from: &Recording, points: &[u64], names: &mut Named<'_>) {
    for (cause, point) in from.causes().iter().zip(points) {
        let series = names.series(to, from, *point, cause.series);
        let (metric, name) = (to.name(from.text(cause.metric)), to.name(from.text(cause.cause)));
        to.push_cause(CauseRow { series, metric, cause: name, ..*cause });
    }
}
