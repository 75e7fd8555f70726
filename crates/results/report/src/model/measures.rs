//! Measures as tables: a row per CPU, subject and role, a column per metric.

use crate::blocks::{Cell, Table, one_or_range, quantity, whole};
use crate::words::case_title;
use findings::MeasureRow;
use itertools::Itertools;
use std::collections::HashMap;

/// A table for each variant, case and mode, in their order.
pub fn measure_tables<'r>(measures: &'r [MeasureRow]) -> Vec<Table> {
    measures
        .chunk_by(|a, b| (&a.variant, &a.case, &a.mode) == (&b.variant, &b.case, &b.mode))
        .map(|group| {
            let column = |row: &'r MeasureRow| (row.metric.as_str(), row.unit.as_str());
            let subject = |row: &'r MeasureRow| (row.cpu.as_str(), row.subject.as_str(), row.role.as_str());
            let columns = group.iter().map(column).unique();
            let subjects = group.iter().map(subject).unique().collect_vec();
            let by_place: HashMap<_, _> = group.iter().map(|row| ((subject(row), column(row)), row)).collect();
            let has_subjects = subjects.iter().any(|of| !of.1.is_empty());
            let named = |subject: &'r str| if subject.is_empty() { "(whole)" } else { subject };
            let table = Table::with_rows(&subjects)
                .words("CPU", |of| of.0)
                .when(has_subjects, |table| table.words("of", |of| named(of.1)))
                .words("role", |of| of.2)
                .each(columns, |table, (metric, unit)| {
                    let heading = recording::metrics::heading(metric);
                    // Calls are counted in calls.
                    let heading = if heading == unit { heading } else { format!("{heading} ({unit})") };
                    table.numbers(heading, |of| by_place.get(&(*of, (metric, unit))).map(|row| figure(row)))
                });
            let fewest = group.iter().map(|row| row.count).min().unwrap_or(0);
            let most = group.iter().map(|row| row.count).max().unwrap_or(0);
            let of = one_or_range([fewest, most]);
            let note = match most {
                0 | 1 => String::new(),
                _ => format!("Median of {of} values; in brackets the smallest and the largest, where they differ."),
            };
            table.done().without_empty_columns().titled(title(&group[0])).noted(note)
        })
        .collect()
}

/// All measures as one table: a row for each, with its variant, case, mode, CPU, subject and role.
pub fn measure_row_table(measures: &[MeasureRow]) -> Table {
    Table::with_rows(measures)
        .words("variant", |row| &row.variant)
        .words("case", |row| &row.case)
        .words("mode", |row| &row.mode)
        .words("cpu", |row| &row.cpu)
        .words("subject", |row| &row.subject)
        .words("role", |row| &row.role)
        .words("metric", |row| &row.metric)
        .words("unit", |row| &row.unit)
        .numbers("values", |row| row.count)
        .numbers("median", |row| whole(row.median))
        .numbers("min", |row| whole(row.min))
        .numbers("max", |row| whole(row.max))
        .done()
}

fn title(row: &MeasureRow) -> String {
    let parts: Vec<&str> = [case_title(&row.case), &row.mode]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    match (row.variant.as_str(), parts.join(", ")) {
        (variant, rest) if rest.is_empty() => variant.to_owned(),
        ("", rest) => rest,
        (variant, rest) => format!("{variant}: {rest}"),
    }
}

fn figure(row: &MeasureRow) -> Cell {
    let [low, median, high] =
        [row.min, row.median, row.max].map(|value| quantity(value, &row.unit));
    Cell::Spread(median, low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        case: &str,
        cpu: &str,
        subject: &str,
        metric: &str,
        [min, median, max]: [f64; 3],
    ) -> MeasureRow {
        MeasureRow {
            variant: "v".to_owned(),
            case: case.to_owned(),
            mode: "serial".to_owned(),
            cpu: cpu.to_owned(),
            subject: subject.to_owned(),
            role: String::new(),
            metric: metric.to_owned(),
            unit: "instructions".to_owned(),
            count: 3,
            min,
            median,
            max,
            quartiles: [min, max],
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
            tables
                .iter()
                .map(|table| table.title.plain())
                .collect::<Vec<_>>(),
            ["v: a, serial", "v: b, serial"]
        );
        let headings = |table: &Table| {
            table
                .columns
                .iter()
                .map(|column| column.heading.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            headings(&tables[0]),
            ["CPU", "cache flush (instructions)", "wakeup (instructions)"]
        );
        let cells: Vec<Vec<String>> = tables[0]
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::plain).collect())
            .collect();
        assert_eq!(cells, [["0.0", "7", ""], ["0.1", "8 (7\u{2013}9)", "5"]]);
        assert_eq!(
            (
                headings(&tables[1])[0].as_str(),
                tables[1].columns[0].is_number
            ),
            ("of", false)
        );
        assert!(tables[0].note.plain().starts_with("Median of 3 values"));
        assert!(measure_tables(&[]).is_empty());
    }
}
