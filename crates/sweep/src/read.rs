//! A data set as a recording, for reports and comparisons.

use crate::dataset::{Dataset, POINTS_FILE};
use crate::error::{Error, Result};
use crate::plan::Plan;
use recording::{Header, Reader, Recording};
use std::collections::BTreeMap;
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
    let (_, chunks) = dataset.size();
    let (mut there, mut whole) = (0, None);
    let mut points = BTreeMap::new();
    for chunk in 0..chunks {
        let Some(mut said) = dataset.chunk(chunk)? else {
            continue;
        };
        there += 1;
        let Some(header) = said.header.map(header_of) else {
            continue;
        };
        said.files.remove(POINTS_FILE);
        let to = whole.get_or_insert_with(|| Recording::new(header.clone()));
        let mut rename = |variant: &str, number| {
            let name = format!("{variant}{}", suffix(&dataset.plan, number));
            points.insert(name.clone(), number);
            name
        };
        Reader::open_part(&dataset.chunk_folder(chunk), header, &said.files)
            .and_then(|reader| reader.read_runs(to, &mut rename))
            .map_err(|error| Error::of_rows(folder, error))?;
    }
    let Some(mut whole) = whole.filter(|whole| !whole.is_empty()) else {
        return Err(Error::folder(
            folder,
            format!("has rows of no point yet ({there} of {chunks} chunks are there)"),
            "finish it first: stopwatt sweep --resume DIR",
        ));
    };
    if there < chunks {
        whole.header.notes.push(format!(
            "{there} of {chunks} chunks of the sweep are there; the others were not run yet."
        ));
    }
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
    let platform = whole.header.platform.get_or_insert_default();
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
