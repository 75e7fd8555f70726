//! A chunk is run and written.

use crate::axis::{Kind, Value};
use crate::dataset::{CHUNK_FILE, Dataset, POINTS_FILE, unwritable};
use crate::error::{Error, Result};
use crate::fits::Fitting;
use crate::inputs::{NotedFiles, sum_of};
use crate::manifest::{Chunk, FailedPoint};
use crate::plan::Point;
use experiment::{Conditions, Files, Kept, Observer, Progress, Request};
use itertools::Itertools;
use miette::Diagnostic;
use recording::table::{self, Column, Values};
use recording::{Header, PartWriter, Recording};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Environment that a sweep runs in.
pub struct Environment<'a> {
    /// The platform files.
    pub platforms: &'a dyn Files,
    /// Under what conditions published runs ran.
    pub conditions: Conditions,
    /// A checkout of Stopwatt, where there is one.
    pub source_tree: Option<&'a Path>,
    /// Number of threads; as many as rayon would use if `None`.
    pub threads: Option<usize>,
}

impl<'a> Environment<'a> {
    /// What the experiment is asked for at a point.
    pub(crate) fn request(
        &self,
        fitting: &Fitting,
        point: &Point,
        platforms: &'a dyn Files,
        kept: Option<&'a Kept>,
    ) -> Result<Request<'a>, experiment::Error> {
        Ok(Request {
            world: fitting.world,
            settings: fitting.settings(point)?,
            platforms,
            conditions: self.conditions.clone(),
            source_tree: self.source_tree,
            kept,
        })
    }
}

/// The surroundings that every point needs beside its settings.
pub struct Surroundings<'a> {
    pub fitting: &'a Fitting,
    pub place: &'a Environment<'a>,
    /// The platform files, each of which is read once.
    pub platforms: &'a dyn Files,
}

/// The result of a point.
struct PointResult {
    point: Point,
    /// Frequency of the counter, where there are rows and it is known.
    counter_hz: Option<u64>,
    status: &'static str,
    why: Option<String>,
}

impl PointResult {
    /// The result of a point that ran.
    fn of(point: Point, recording: &Recording) -> Self {
        let complaints = recording.header.complaints.join("\n");
        let why = (!complaints.is_empty()).then_some(complaints);
        Self {
            point,
            counter_hz: recording.header.time.counter_hz,
            status: if why.is_some() { COMPLAINT } else { "done" },
            why,
        }
    }
}

/// The kinds of results of points: those of the first kind have no rows.
const FAILED: &str = "failed";
const COMPLAINT: &str = "complaint";

/// Runs the points of a chunk, a step of the progress each, and writes it; returns its manifest.
pub fn run(
    dataset: &Dataset,
    around: &Surroundings<'_>,
    chunk: u64,
    progress: &Arc<Progress>,
) -> Result<Chunk> {
    let plan = &around.fitting.plan;
    let partial = dataset.partial(chunk, "partial")?;
    let folder = partial.path();
    fs::create_dir(folder).map_err(Error::io(folder, "create"))?;
    let noted = NotedFiles::new(around.platforms);
    // Each chunk makes what it needs of the files, and so notes which it read.
    let kept = Kept::default();
    let mut rows = None;
    let mut all = Vec::new();
    let mut named = BTreeMap::new();
    for number in plan.points_of(chunk) {
        progress.check().map_err(|_| Error::Cancelled)?;
        let point = plan.point(number);
        note_named(around.fitting, &point, &mut named);
        let kept = run_point(around, &noted, &kept, &point, rows.is_none(), progress)
            .and_then(|recording| keep(recording, plan));
        all.push(match kept {
            Ok(recording) => {
                if rows.is_none() {
                    let header = header_of(&recording);
                    rows = Some((PartWriter::create(folder, &header, plan.keep)?, header));
                }
                if let Some((writer, _)) = &mut rows {
                    writer.append(number, &recording)?;
                }
                PointResult::of(point, &recording)
            }
            Err(experiment::Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => PointResult {
                point,
                counter_hz: None,
                status: FAILED,
                why: Some(words(&error)),
            },
        });
        progress.step();
    }
    let (mut files, header) = match rows {
        Some((writer, header)) => (writer.finish()?, Some(header)),
        None => (BTreeMap::new(), None),
    };
    let points = table::write(&folder.join(POINTS_FILE), &columns(around.fitting, &all))?;
    files.insert(POINTS_FILE.to_owned(), points);
    let range = plan.points_of(chunk);
    let said = Chunk {
        plan: crc32fast::hash(plan.text().as_bytes()),
        first: range.start,
        last: range.end - 1,
        failed: with_status(&all, FAILED),
        complaints: with_status(&all, COMPLAINT),
        inputs: noted.seen(),
        named,
        files,
        header,
    };
    let path = folder.join(CHUNK_FILE);
    fs::write(
        &path,
        toml::to_string(&said).map_err(|error| unwritable(&path, &error))?,
    )
    .map_err(Error::io(&path, "write"))?;
    move_there(dataset, chunk, folder)?;
    Ok(said)
}

/// Adds the checksums of the files that a point's settings name.
fn note_named(fitting: &Fitting, point: &Point, named: &mut BTreeMap<String, u32>) {
    for path in fitting.files_named(point) {
        if let Entry::Vacant(new) = named.entry(path)
            && let Some(sum) = sum_of(new.key().as_ref())
        {
            new.insert(sum);
        }
    }
}

/// The points that ended in a status, with the reason.
fn with_status(all: &[PointResult], status: &str) -> Vec<FailedPoint> {
    let ran = all.iter().filter(|ran| ran.status == status);
    ran.filter_map(|ran| {
        Some(FailedPoint {
            point: ran.point.number,
            why: ran.why.clone()?,
        })
    })
    .collect()
}

/// Moves a whole chunk to its place, over an earlier one with points that failed.
fn move_there(dataset: &Dataset, chunk: u64, whole: &Path) -> Result {
    let to = dataset.chunk_folder(chunk);
    if to.exists() {
        let old = dataset.partial(chunk, "replaced")?;
        // Another program may have done the same chunk meanwhile, and may be moving it as well:
        // what is there then is as good as ours.
        let _ = fs::rename(&to, old.path());
    }
    match fs::rename(whole, &to) {
        Err(_) if to.join(CHUNK_FILE).is_file() => Ok(()),
        other => other.map_err(Error::io(&to, "create")),
    }
}

fn run_point(
    around: &Surroundings<'_>,
    platforms: &dyn Files,
    kept: &Kept,
    point: &Point,
    is_first: bool,
    progress: &Arc<Progress>,
) -> Result<Recording, experiment::Error> {
    let fitting = around.fitting;
    let request = around
        .place
        .request(fitting, point, platforms, Some(kept))?;
    let keep = fitting.plan.keep;
    let observer = Observer {
        // Each point counts its own steps, which are not those of the sweep.
        progress: Progress::of_part(progress),
        // Causes are read from events.
        events: keep.events || keep.causes,
        description: is_first,
    };
    // One point must not take the others with it.
    let ran = catch_unwind(AssertUnwindSafe(|| {
        fitting.experiment.run(&request, &observer)
    }))
    .unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(experiment::Error::Failed(format!(
            "the experiment panicked: {}",
            text.unwrap_or("it does not say why")
        )))
    });
    // What a signal broke off did not fail by itself.
    ran.map_err(|error| {
        if progress.check().is_err() {
            experiment::Error::Cancelled
        } else {
            error
        }
    })
}

/// Leaves what the plan keeps, with the causes of spans if it keeps those.
fn keep(
    mut recording: Recording,
    plan: &crate::plan::Plan,
) -> Result<Recording, experiment::Error> {
    if plan.keep.causes {
        attribution::record(&mut recording);
    }
    if !plan.metrics.is_empty() {
        let all = recording.measures().iter();
        let there = recording::distinct(all.map(|of| recording.text(of.metric).to_owned()));
        recording.keep_metrics(|metric| plan.metrics.iter().any(|kept| kept == metric));
        if recording.measures().is_empty() {
            let (wanted, there) = (plan.metrics.join(", "), there.join(", "));
            return Err(experiment::Error::failed(format!(
                "nothing measured {wanted}; there are {there}"
            )));
        }
    }
    Ok(recording)
}

/// The part of a point's header that is kept for the chunk: nothing that differs from run to run.
fn header_of(recording: &Recording) -> Header {
    let mut header = recording.header.clone();
    header.make_printable();
    header.run = recording::Run::default();
    header.files.clear();
    header.complaints.clear();
    header
}

/// An error with what would be right, on one line.
fn words(error: &experiment::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    if let Some(help) = error.help() {
        text = format!("{text} ({help})");
    }
    document::printable_lines(&text.split_whitespace().join(" "))
}

/// The table of points: its number, a column for each key, and what became of it.
fn columns(fitting: &Fitting, all: &[PointResult]) -> Vec<Column> {
    let column = |name: &str, values: Values| Column {
        name: name.to_owned(),
        values,
    };
    let numbers = |name: &str, of: fn(&PointResult) -> Option<u64>| {
        column(name, Values::U64(all.iter().map(of).collect()))
    };
    let texts = |name: &str, of: fn(&PointResult) -> Option<String>| {
        column(name, Values::Text(all.iter().map(of).collect()))
    };
    let mut columns = vec![numbers("sweep_point", |ran| Some(ran.point.number))];
    for (key, kind) in fitting.plan.keys() {
        let values = all.iter().map(|ran| {
            ran.point
                .varied
                .iter()
                .find(|(name, _)| *name == key)
                .map(|(_, value)| value)
        });
        columns.push(column(
            &key,
            match kind {
                Kind::Whole => Values::I64(
                    values
                        .map(|value| match value {
                            Some(Value::Whole(number)) => Some(*number),
                            _ => None,
                        })
                        .collect(),
                ),
                Kind::Number => Values::F64(
                    values
                        .map(|value| match value? {
                            Value::Quantity(number, _) => Some(*number),
                            value => value.as_number(),
                        })
                        .collect(),
                ),
                Kind::Text => Values::Text(values.map(|value| value.map(Value::text)).collect()),
            },
        ));
    }
    if fitting.plan.repeats() {
        columns.push(numbers("repetition", |ran| Some(ran.point.repetition)));
    }
    columns.extend([
        texts("status", |ran| Some(ran.status.to_owned())),
        texts("why", |ran| ran.why.clone()),
        numbers("counter_hz", |ran| ran.counter_hz),
    ]);
    columns
}
