//! A row of a table of CPUs, from a grid or from comma-separated values.

use crate::Options;
use crate::error::{ImportError, printable};
use crate::figures::{self, CpuAndPlace, Figure};
use crate::names::{self, CaseAndMode, Column};
use document::{Record, RecordError, Records};
use itertools::Itertools;

/// The columns that headers name, if they are those of a table of CPUs; the message of what is
/// wrong where a table only seems to be meant as one.
pub fn columns(headers: &[impl AsRef<str>]) -> Result<Option<Vec<Column>>, &'static str> {
    let named = || {
        headers
            .iter()
            .map(|header| names::of_column(header.as_ref()))
    };
    let is_ours = |columns: &Vec<Column>| {
        let has = |column| columns.contains(&column);
        (has(Column::Cpu) || (has(Column::Cluster) && has(Column::Core)))
            && columns
                .iter()
                .any(|column| matches!(column, Column::Metric(..)))
    };
    let ours = named().collect::<Option<Vec<Column>>>().filter(is_ours);
    if ours.is_none() && named().any(|of| matches!(of, Some(Column::Cpu | Column::Cluster))) {
        return Err("a table of CPUs with a column of another kind");
    }
    Ok(ours)
}

/// The figures of a row, in the line of this number, with an empty variant where no title names a
/// release; the message of what is wrong with it. Caption and titles that stand above its table
/// come the nearest first.
pub fn row(
    options: &Options,
    line: u64,
    cells: &[&str],
    columns: &[Column],
    titles: &[String],
) -> Result<Vec<Figure>, String> {
    if cells.len() != columns.len() {
        return Err(format!(
            "{} cells where the header has {}",
            cells.len(),
            columns.len()
        ));
    }
    let (case, mode) = case_of(titles).ok_or_else(|| {
        format!(
            "cannot tell the case from `{}`",
            printable(titles.last().map_or("", String::as_str))
        )
    })?;
    let variant = match titles.iter().find_map(|title| release_of(title)) {
        Some(release) => format!("{}{release}", options.prefix),
        None => String::new(),
    };
    let (cpu, place) = cpu_of(options, columns, cells)?;
    let mut read = Vec::new();
    for (cell, &column) in cells.iter().zip(columns) {
        let Column::Metric(metric, of_header) = column else {
            continue;
        };
        let said = || of_header.or_else(|| titles.iter().find_map(|title| names::unit_of(title)));
        // Captions are written by hand, and one may say microseconds over nanoseconds: who imports
        // it knows better.
        let unit = (options.unit.clone())
            .or_else(|| said().map(str::to_owned))
            .ok_or("neither header nor caption names a unit; say which with --unit")?;
        let (value, printed_change_percent) = value(cell)?;
        figures::known_unit(metric, &unit)?;
        figures::plausible(value, &unit)?;
        read.push(Figure {
            variant: variant.clone(),
            case: case.to_owned(),
            mode: mode.to_owned(),
            cpu,
            place,
            metric: metric.to_owned(),
            value,
            unit,
            printed_change_percent,
            line,
            ..Figure::default()
        });
    }
    Ok(read)
}

/// The CPU of a row: its number, or its cluster and core.
fn cpu_of(options: &Options, columns: &[Column], cells: &[&str]) -> Result<CpuAndPlace, String> {
    let number = |column: Column| -> Result<Option<u16>, String> {
        let Some(place) = columns.iter().position(|&other| other == column) else {
            return Ok(None);
        };
        cells[place].parse().map(Some).map_err(|_| {
            format!(
                "`{}` is no number of a CPU, cluster or core",
                printable(cells[place])
            )
        })
    };
    let (cpu, place) = match (
        number(Column::Cpu)?,
        number(Column::Cluster)?,
        number(Column::Core)?,
    ) {
        (_, Some(cluster), Some(core)) => (None, Some((cluster, core))),
        (Some(cpu), _, _) => figures::cpu_of(cpu, options)?,
        _ => return Err("the row names no CPU".to_owned()),
    };
    if let Some(place) = place {
        figures::known_place(place, options)?;
    }
    Ok((cpu, place))
}

/// The case, from the nearest title that names one.
fn case_of(titles: &[String]) -> Option<CaseAndMode> {
    titles.iter().find_map(|title| names::of_title(title))
}

/// A release in parentheses: `(v2.12)`, `(2.12)`, as `v2.12`; `(current release)`, as `current`.
fn release_of(title: &str) -> Option<String> {
    title.split('(').skip(1).find_map(|part| {
        let inside = part.split_once(')')?.0.trim();
        if let Some(which @ ("current" | "previous")) = inside.strip_suffix(" release") {
            return Some(which.to_owned());
        }
        let digits = inside.strip_prefix('v').unwrap_or(inside);
        let right = digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.contains('.')
            && digits.len() <= 20
            && digits
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
        right.then(|| format!("v{digits}"))
    })
}

/// A figure, its digits behind the point and the change printed beside it: `244.52 (-65.43%)`.
pub fn value(cell: &str) -> Result<(f64, Option<f64>), String> {
    let wrong = || {
        format!(
            "`{}` is no figure; expected one such as 244.52 or 244.52 (-65.43%)",
            printable(cell)
        )
    };
    let (value, change) = match cell.split_once('(') {
        Some((value, rest)) => {
            let change = rest
                .trim_end()
                .strip_suffix(')')
                .and_then(|rest| rest.trim_end().strip_suffix('%'));
            (value, Some(change.ok_or_else(wrong)?))
        }
        None => (cell, None),
    };
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
            .ok_or_else(wrong)
    };
    Ok((number(value)?, change.map(number).transpose()?))
}

/// Refuses a header that lacks one of some columns; `right` says which there may be.
pub fn has_columns(
    header: &Record,
    columns: &[&str],
    file: &str,
    right: &str,
) -> Result<(), ImportError> {
    let is_there = |column: &&&str| header.iter().any(|name| name == **column);
    match columns.iter().find(|column| !is_there(column)) {
        None => Ok(()),
        Some(missing) => Err(ImportError::new(
            file,
            1,
            &header.iter().join(","),
            format!("there is no column `{missing}`"),
            right,
        )),
    }
}

/// A record as it stands in its file; empty where it could not be read.
pub fn shown(record: &Result<Record, RecordError>) -> String {
    record
        .as_ref()
        .map_or_else(|_| String::new(), |record| record.iter().join(","))
}

/// The records of comma-separated values with their lines, counted from 1; the message of what is
/// wrong with a line.
pub fn records(
    text: &str,
    delimiter: u8,
) -> impl Iterator<Item = (u64, Result<Vec<String>, String>)> + '_ {
    Records::new(text.as_bytes(), delimiter).map(|(line, record)| match record {
        Ok(record) => (line, Ok(record.iter().map(str::to_owned).collect())),
        Err(error) => (line, Err(error.to_string())),
    })
}
