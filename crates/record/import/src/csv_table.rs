//! Figures as CSV: in the columns of `published/juno-psci.csv`, or as the files of TF-A's
//! documents, whose tables have no header.

use crate::error::ImportError;
use crate::figures::{self, Figure, Figures};
use crate::text::{self, Cleaned};
use crate::{Options, names, rows};
use document::{Record, RecordError, Records};
use itertools::Itertools;
use recording::place_of;
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

const RIGHT: &str = "the columns are case, metric, value, unit and, where there are any, release, mode, role, run, cluster and core, \
                     printed_change_percent, iteration; a row of case,metric,value,unit is sort,time,1.25,ms, and one of \
                     release,case,mode,cluster,core,metric,value,unit is juno-v2.12,suspend-deepest,parallel,0,0,powerdown,244.52,us";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default)]
    release: String,
    case: String,
    #[serde(default)]
    mode: String,
    cluster: Option<u16>,
    core: Option<u16>,
    #[serde(default)]
    role: String,
    metric: String,
    value: String,
    unit: String,
    printed_change_percent: Option<f64>,
    /// Only shows that the row is a repetition: iterations are numbered in the order of the rows.
    #[serde(default, rename = "iteration")]
    _iteration: Option<u32>,
    #[serde(default)]
    run: String,
}

/// Reads CSV with a header line; or, where the first line begins with a number, the file of a table
/// of TF-A's documents: cluster, core, powerdown, wakeup and cache flush (or cluster, core and
/// latency) in nanoseconds, of the test that the file is named after. A cell that comes again is
/// the next iteration. A metric
/// that no experiment has may stand in it, in any unit.
///
/// # Errors
/// The file cannot be read; a column is missing or unknown; no row is there; without `lenient`, a
/// row that is wrong.
pub fn csv_table(text: impl Read, options: &Options) -> Result<Figures, ImportError> {
    let mut text = BufReader::new(Cleaned::new(text, None));
    if text.fill_buf().is_ok_and(|bytes| {
        bytes
            .strip_prefix(b"\"")
            .unwrap_or(bytes)
            .first()
            .is_some_and(u8::is_ascii_digit)
    }) {
        let mut found = Figures::default();
        rows_without_header(text, options, &mut found)?;
        return found.finish(options, false);
    }
    let mut found = Figures::default();
    let mut records = Records::new(text, b',');
    let header = match records.next() {
        Some((_, Ok(header))) => header,
        Some((line, Err(error))) => {
            return Err(ImportError::new(
                &options.file,
                line,
                "",
                format!("no header: {error}"),
                RIGHT,
            ));
        }
        None => Record::new(),
    };
    let needed = ["case", "metric", "value", "unit"];
    rows::has_columns(&header, &needed, &options.file, RIGHT)?;
    let mut runs = Vec::new();
    for (line, record) in records {
        let shown = rows::shown(&record);
        let figure = match record {
            Ok(record) => document::row(&record, &header)
                .and_then(|row| figure(row, line, &mut runs, options)),
            Err(RecordError::Wrong(message)) => Err(message),
            Err(RecordError::Io(error)) => {
                return Err(ImportError::whole(
                    &options.file,
                    format!("cannot be read: {error}"),
                    RIGHT,
                ));
            }
        };
        let wrong = |message| ImportError::new(&options.file, line, &shown, message, RIGHT);
        let read = figure.map(|figure| vec![figure]).map_err(wrong);
        found.take(read, options)?;
    }
    found.finish(options, true)
}

/// The columns of a table of TF-A's documents.
const COLUMNS: [&str; 5] = [
    "Cluster",
    "Core",
    "Powerdown (ns)",
    "Wakeup (ns)",
    "Cache Flush (ns)",
];
const COLUMNS_OF_A_CALL: [&str; 3] = ["Cluster", "Core", "Latency (ns)"];

const RIGHT_WITHOUT_HEADER: &str = "a file without a header line is named after its test, as in test_rt_instr_susp_deep_parallel.csv, and has \
                                    the columns cluster, core, powerdown, wakeup and cache flush, or cluster, core and latency";

/// Reads the files of TF-A's tables in a folder, as its documents keep them: those that are named
/// after a test. Others are passed over.
///
/// # Errors
/// None of these files is there, or one cannot be read; without `lenient`, a row that is wrong.
pub fn csv_tables(folder: &Path, options: &Options) -> Result<Figures, ImportError> {
    let mut found = Figures::default();
    for (test, _) in names::TESTS {
        let path = folder.join(test).with_extension("csv");
        if path.is_file() {
            let options = Options {
                file: path.display().to_string(),
                ..options.clone()
            };
            rows_without_header(crate::open(&path, &options.file)?, &options, &mut found)?;
        }
    }
    if found.figures.is_empty() && found.left_out == 0 {
        return Err(ImportError::whole(
            &options.file,
            "no table of a test is in the folder",
            RIGHT_WITHOUT_HEADER,
        ));
    }
    found.finish(options, false)
}

/// Adds the figures of the file of a table of TF-A's documents.
fn rows_without_header(
    text: impl Read,
    options: &Options,
    found: &mut Figures,
) -> Result<(), ImportError> {
    let text = text::text(text, &options.file, None)?;
    let titles = [options
        .file
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .to_owned()];
    for (line, record) in rows::records(&text, b',') {
        let read = record.and_then(|record| {
            let headers = if record.len() == COLUMNS_OF_A_CALL.len() {
                &COLUMNS_OF_A_CALL[..]
            } else {
                &COLUMNS
            };
            let columns = rows::columns(headers)?.unwrap_or_default();
            let cells = record.iter().map(String::as_str).collect_vec();
            rows::row(options, line, &cells, &columns, &titles)
        });
        let wrong = |message| {
            let shown = text::line(&text, line);
            ImportError::new(&options.file, line, shown, message, RIGHT_WITHOUT_HEADER)
        };
        found.take(read.map_err(wrong), options)?;
    }
    Ok(())
}

/// The figure of a row. Runs are numbered by their names, in the order in which these come.
fn figure(
    row: Row,
    line: u64,
    runs: &mut Vec<String>,
    options: &Options,
) -> Result<Figure, String> {
    let unit = figures::label(&row.unit, "unit")?;
    let metric = figures::label(&row.metric, "metric")?;
    figures::known_unit(&metric, &unit)?;
    let (value, _) = rows::value(&row.value)?;
    figures::plausible(value, &unit)?;
    if row
        .printed_change_percent
        .is_some_and(|percent| !percent.is_finite())
    {
        return Err("the printed change is no number".to_owned());
    }
    let place = match (row.cluster, row.core) {
        (Some(cluster), Some(core)) => Some((cluster, core)),
        (None, None) => None,
        _ => return Err("of cluster and core there is one without the other".to_owned()),
    };
    place.map_or(Ok(()), |place| figures::known_place(place, options))?;
    let run = place_of(runs, |run| *run == row.run, || row.run.clone());
    let named = |text: &str, what: &str| {
        if text.is_empty() {
            Ok(String::new())
        } else {
            figures::label(text, what)
        }
    };
    // A test's own name stands for its case and mode.
    let (case, mode) = match names::of_test(&row.case) {
        Some((case, mode)) => (case.to_owned(), mode.to_owned()),
        None => (
            figures::label(&row.case, "case")?,
            named(&row.mode, "mode")?,
        ),
    };
    Ok(Figure {
        variant: match named(&row.release, "release")? {
            // The options' own name is put in its place later.
            release if release.is_empty() => release,
            release => format!("{}{release}", options.prefix),
        },
        case,
        mode,
        place,
        role: named(&row.role, "role")?,
        metric,
        value,
        unit,
        printed_change_percent: row.printed_change_percent,
        run: run as u32,
        line,
        ..Figure::default()
    })
}
