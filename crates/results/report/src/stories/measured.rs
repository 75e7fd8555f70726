//! A recording whose experiment has no story of its own, such as figures that were imported: what
//! its first measure comes to, and tables of all.

use super::story::StoryContent;
use crate::blocks::{Blocks, Drawing, IntervalRow, Picture};
use crate::model::measures::measure_tables;
use crate::model::pictures::named;
use crate::words;
use findings::spread::Steadiness;
use findings::ticks::Ticks;
use findings::{Findings, MeasureRow};
use serde_json::{Value, json};

/// Rows that a picture of intervals has at most.
const MOST_ROWS: usize = 24;

/// Tells the measures.
pub fn tell(findings: &Findings<'_>) -> StoryContent {
    let header = &findings.recording.header;
    let mut blocks = Blocks::default();
    let rows = first_measure(findings);
    if rows.is_empty() {
        let events = findings.recording.events().len();
        blocks.answer(format!(
            "{}: no measures, and {events} events.",
            header.experiment
        ));
    } else {
        // Ticks of a timer are told as nanoseconds.
        let ticks = Ticks::new(findings.recording);
        let (unit, factor) = match rows[0].1.unit.as_str() {
            "ticks" => (words::clocks::unit(&ticks), ticks.factor()),
            unit => (unit, 1.0),
        };
        blocks.answer(words::measured::answer(findings, &rows, unit, factor));
        if header.world == "host" {
            let apart = rows.iter().map(|(_, row)| row.apart());
            words::clocks::noise(&Steadiness::new(apart, []), &mut blocks);
        }
        let declared = crate::model::pictures::pictures(findings)
            .into_iter()
            .next();
        blocks.picture(declared.unwrap_or_else(|| picture(&rows, unit, factor)));
    }
    measure_tables(findings.measures())
        .into_iter()
        .for_each(|table| blocks.table(table));
    StoryContent {
        blocks,
        is_plain: true,
    }
}

/// The facts of such a recording.
pub fn facts(findings: &Findings<'_>) -> Value {
    let own =
        json!({ "experiment": findings.recording.header.experiment, "recording": findings.folder });
    crate::export::json::with_recording(own, findings)
}

/// The rows of the measure that is drawn, or of the first one, each with what tells it from the
/// others.
fn first_measure<'f>(findings: &'f Findings<'_>) -> Vec<(String, &'f MeasureRow)> {
    let drawn = findings
        .recording
        .header
        .pictures
        .first()
        .map_or("", |picture| &picture.metric);
    let known = || {
        findings
            .measures()
            .iter()
            .filter(|row| row.median.is_finite())
    };
    let Some(first) = known()
        .find(|row| row.metric == drawn)
        .or_else(|| known().next())
    else {
        return Vec::new();
    };
    let rows = findings
        .measures()
        .iter()
        .filter(|row| (&row.metric, &row.unit) == (&first.metric, &first.unit));
    let parts = |row: &MeasureRow| {
        let cpu = if row.cpu.is_empty() {
            String::new()
        } else {
            format!("CPU {}", row.cpu)
        };
        [
            &row.variant,
            &row.case,
            &row.mode,
            &row.subject,
            &row.role,
            &cpu,
        ]
        .map(String::clone)
        .to_vec()
    };
    named(rows.map(|row| (parts(row), row))).collect()
}

/// A row for each value of the measure, from its least to its greatest repetition.
fn picture(rows: &[(String, &MeasureRow)], unit: &str, factor: f64) -> Picture {
    let row = |(name, row): &(String, &MeasureRow)| {
        let [low, middle, high] = [row.min, row.median, row.max].map(|value| factor * value);
        IntervalRow {
            published: row.published,
            ..IntervalRow::new(name, [low, middle, high]).of(&row.case)
        }
    };
    let heading = crate::words::capital(&recording::metrics::heading(&rows[0].1.metric));
    Picture::new(
        &heading,
        &heading,
        unit,
        Drawing::Intervals(rows.iter().take(MOST_ROWS).map(row).collect()),
    )
}
