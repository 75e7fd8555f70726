//! Measures as tables: a row per CPU or subject, a column per metric.

use super::findings::MeasureRow;
use crate::words::{case_title, quantity};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The measures of one case of one variant.
pub(crate) struct MeasureTable {
    /// Variant, case and mode, as far as there are any.
    pub(crate) title: String,
    /// Headings: what a row is of, then each metric with its unit.
    pub(crate) header: Vec<String>,
    /// How many of the first columns are names; the others are figures.
    pub(crate) names: usize,
    /// As many cells as there are headings; empty where a row has no such measure.
    pub(crate) rows: Vec<Vec<String>>,
    /// What a figure is, in words, where it is not a single value.
    pub(crate) note: Option<String>,
}

/// A table for each variant, case and mode, in their order.
pub(crate) fn measure_tables<'r>(measures: &'r [MeasureRow]) -> Vec<MeasureTable> {
    measures
        .chunk_by(|a, b| (&a.variant, &a.case, &a.mode) == (&b.variant, &b.case, &b.mode))
        .map(|group| {
            let column = |row: &'r MeasureRow| (row.metric.as_str(), row.unit.as_str());
            let subject = |row: &'r MeasureRow| (row.cpu.as_str(), row.subject.as_str());
            let (columns, subjects) = (distinct(group, column), distinct(group, subject));
            let by_place: HashMap<_, _> = group.iter().map(|row| ((subject(row), column(row)), row)).collect();
            let (has_cpus, has_subjects) =
                (subjects.iter().any(|of| !of.0.is_empty()), subjects.iter().any(|of| !of.1.is_empty()));
            let mut header = Vec::new();
            header.extend(has_cpus.then(|| "CPU".to_owned()));
            header.extend(has_subjects.then(|| "of".to_owned()));
            let names = header.len();
            header.extend(columns.iter().map(|(metric, unit)| {
                let metric = recording::metrics::heading(metric);
                // Calls are counted in calls.
                if metric == *unit { metric } else { format!("{metric} ({unit})") }
            }));
            let rows = subjects.iter().map(|&(cpu, subject)| {
                let mut cells = Vec::new();
                cells.extend(has_cpus.then(|| cpu.to_owned()));
                cells.extend(has_subjects.then(|| if subject.is_empty() { "(whole)" } else { subject }.to_owned()));
                let of = |&column| by_place.get(&((cpu, subject), column)).map_or_else(String::new, |row| figure(row));
                cells.extend(columns.iter().map(of));
                cells
            });
            let fewest = group.iter().map(|row| row.count).min().unwrap_or(0);
            let most = group.iter().map(|row| row.count).max().unwrap_or(0);
            let of = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
            let note = (most > 1)
                .then(|| format!("median of {of} values; in brackets the smallest and the largest, where they differ"));
            MeasureTable { title: title(&group[0]), header, names, rows: rows.collect(), note }
        })
        .collect()
}

fn title(row: &MeasureRow) -> String {
    let parts: Vec<&str> = [case_title(&row.case), &row.mode].into_iter().filter(|part| !part.is_empty()).collect();
    match (row.variant.as_str(), parts.join(", ")) {
        (variant, rest) if rest.is_empty() => variant.to_owned(),
        ("", rest) => rest,
        (variant, rest) => format!("{variant}: {rest}"),
    }
}

fn figure(row: &MeasureRow) -> String {
    let [low, median, high] = [row.min, row.median, row.max].map(|value| quantity(value, &row.unit));
    if low == high { median } else { format!("{median} ({low} to {high})") }
}

/// The different keys of rows, in the order in which they first come.
fn distinct<'r, K: Copy + Eq + Hash>(rows: &'r [MeasureRow], key: impl Fn(&'r MeasureRow) -> K) -> Vec<K> {
    let mut seen = HashSet::new();
    rows.iter().map(key).filter(|key| seen.insert(*key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, cpu: &str, subject: &str, metric: &str, [min, median, max]: [f64; 3]) -> MeasureRow {
        MeasureRow {
            variant: "v".to_owned(),
            case: case.to_owned(),
            mode: "serial".to_owned(),
            cpu: cpu.to_owned(),
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            unit: "instructions".to_owned(),
            count: 3,
            min,
            median,
            max,
            published: None,
        }
    }

    #[test]
    fn a_metric_is_a_column_and_what_was_not_measured_is_left_empty() {
        let rows = [
            row("a", "0.0", "", "cache_flush", [7.0; 3]),
            row("a", "0.1", "", "cache_flush", [7.0, 8.0, 9.0]),
            row("a", "0.1", "", "wakeup", [5.0; 3]),
            row("b", "", "node", "wakeup", [1.0; 3]),
        ];
        let tables = measure_tables(&rows);
        assert_eq!(
            tables.iter().map(|table| table.title.as_str()).collect::<Vec<_>>(),
            ["v: a, serial", "v: b, serial"]
        );
        assert_eq!(tables[0].header, ["CPU", "cache flush (instructions)", "wakeup (instructions)"]);
        assert_eq!(tables[0].rows, [["0.0", "7", ""], ["0.1", "8 (7 to 9)", "5"]]);
        assert_eq!((&tables[1].header[0], tables[1].names), (&"of".to_owned(), 1));
        assert!(tables[0].note.as_ref().is_some_and(|note| note.starts_with("median of 3 values")));
        assert!(measure_tables(&[]).is_empty());
    }
}
