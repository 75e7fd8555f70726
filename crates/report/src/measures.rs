//! Measures of any recording, with nothing beside them.

use crate::Style;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use recording::{Measure, Recording};
use serde_json::{Value, json};

/// Measures of one kind: equal but for the iteration.
struct Row<'r> {
    recording: &'r Recording,
    first: &'r Measure,
    values: Vec<f64>,
}

impl Row<'_> {
    fn what(&self) -> String {
        let subject = self.first.subject.map(|subject| format!(" {}", self.recording.text(subject)));
        format!("{}{}", self.recording.text(self.first.metric), subject.unwrap_or_default())
    }

    fn cpu(&self) -> String {
        match (self.first.cluster, self.first.core, self.first.cpu) {
            (Some(cluster), Some(core), _) => format!("{cluster}.{core}"),
            (_, _, Some(cpu)) => cpu.to_string(),
            _ => String::new(),
        }
    }
}

fn rows(recording: &Recording) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for measure in recording.measures() {
        let key = |m: &Measure| (m.series, m.metric, m.subject, m.cpu);
        match rows.iter_mut().find(|row| key(row.first) == key(measure)) {
            Some(row) => row.values.push(measure.value),
            None => rows.push(Row { recording, first: measure, values: vec![measure.value] }),
        }
    }
    for row in &mut rows {
        row.values.sort_by(f64::total_cmp);
    }
    rows
}

/// Smallest, middle and largest of sorted values, of which there is at least one.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    (values[0], values[values.len() / 2], values[values.len() - 1])
}

/// A table: a row for each measure, with the median over the iterations and its spread.
pub fn measures_text(recording: &Recording, style: Style) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(style.width.clamp(40, 120) as u16);
    table.set_header(["case", "measure", "CPU", "median", "min", "max", "n", "unit"]);
    for row in rows(recording) {
        let (_, case, mode) = recording.series_texts(row.first.series);
        let (min, median, max) = spread(&row.values);
        let right = |value: f64| Cell::new(format!("{value}")).set_alignment(CellAlignment::Right);
        table.add_row([
            Cell::new(format!("{case} {mode}")),
            Cell::new(row.what()),
            Cell::new(row.cpu()),
            right(median),
            right(min),
            right(max),
            right(row.values.len() as f64),
            Cell::new(recording.text(row.first.unit)),
        ]);
    }
    format!("{table}\n")
}

/// The same for machines: `measures` are objects with `variant`, `case`, `mode`, `metric`, `subject`, `cpu`, `unit`, `median`,
/// `min`, `max` and `n`.
pub fn measures_json(recording: &Recording, path: &std::path::Path) -> Value {
    let measures: Vec<Value> = rows(recording)
        .iter()
        .map(|row| {
            let (variant, case, mode) = recording.series_texts(row.first.series);
            let (min, median, max) = spread(&row.values);
            json!({
                "variant": variant, "case": case, "mode": mode,
                "metric": recording.text(row.first.metric),
                "subject": row.first.subject.map(|subject| recording.text(subject)),
                "cpu": row.first.cpu, "unit": recording.text(row.first.unit),
                "median": median, "min": min, "max": max, "n": row.values.len(),
            })
        })
        .collect();
    json!({
        "experiment": recording.header.experiment,
        "world": recording.header.world,
        "recording": path.display().to_string(),
        "measures": measures,
    })
}
