//! `idle-cases`: governors on reported workloads, with the reported counts beside.

use super::run::Run;
use super::story::Story;
use crate::blocks::{Bar, Blocks, Drawing, Figure, Picture, Table, fixed, name, text, whole};
use published::{CaseFigure, CaseSource};
use recording::metrics::{self, Metric};
use serde::Serialize;

/// Governors on reported workloads.
#[derive(Serialize)]
pub(super) struct Cases<'r> {
    rows: Vec<Row<'r>>,
    notes: &'r [String],
    recording: &'r str,
    #[serde(skip)]
    sources: &'r [CaseSource],
}

/// The result of a governor on a workload.
#[derive(Serialize)]
struct Row<'r> {
    case: &'r str,
    governor: &'r str,
    stays: f64,
    above: f64,
    below: f64,
    above_percent: f64,
    published: Option<Reported<'r>>,
}

/// The published report on the governor that is nearest to it.
#[derive(Serialize)]
struct Reported<'r> {
    governor: &'r str,
    stays: Option<u64>,
    above: Option<u64>,
    below: Option<u64>,
    above_percent: Option<f64>,
}

/// Reads the cases.
pub(super) fn read<'r>(run: &Run<'r>) -> Cases<'r> {
    let recording = run.recording;
    let known = run.published.idle_cases.as_ref();
    let of = |metric: Metric| {
        recording.measures().iter().filter(move |measure| recording.text(measure.metric) == metric.name)
    };
    let row = |entered: &'r recording::Measure| {
        let value =
            |metric| of(metric).find(|measure| measure.series == entered.series).map_or(0.0, |measure| measure.value);
        let (governor, case, _) = recording.series_texts(entered.series);
        let (stays, above) = (entered.value, value(metrics::IDLE_ABOVE));
        let figures = known.map_or(&[][..], |known| &known.figures);
        let reported = figures.iter().find(|figure| figure.case == case && figure.compared_with == governor);
        Row {
            case,
            governor,
            stays,
            above,
            below: value(metrics::IDLE_BELOW),
            above_percent: if stays > 0.0 { 100.0 * above / stays } else { 0.0 },
            published: reported.map(|figure: &CaseFigure| Reported {
                governor: &figure.governor,
                stays: figure.stays,
                above: figure.above,
                below: figure.below,
                above_percent: figure.above_percent,
            }),
        }
    };
    Cases {
        rows: of(metrics::IDLE_ENTERED).map(row).collect(),
        notes: &recording.header.notes,
        recording: run.folder,
        sources: known.map_or(&[], |known| &known.cases),
    }
}

impl Story for Cases<'_> {
    fn tell(&self, told: &mut Blocks) {
        let mut sentences = Vec::new();
        let cases: Vec<&[Row<'_>]> = self.rows.chunk_by(|a, b| a.case == b.case).collect();
        for rows in &cases {
            let by_share = |a: &&Row<'_>, b: &&Row<'_>| a.above_percent.total_cmp(&b.above_percent);
            let (Some(least), Some(most)) = (rows.iter().min_by(by_share), rows.iter().max_by(by_share)) else {
                continue;
            };
            sentences.push(format!(
                "On {} {} is too deep in {:.1} % of its stays and {} in {:.1} %.",
                least.case, most.governor, most.above_percent, least.governor, least.above_percent
            ));
        }
        let shown = sentences.len().min(3);
        if shown > 0 {
            told.answer(sentences[..shown].join(" "));
        }
        let bar = |row: &Row<'_>| Bar {
            name: format!("{}, {}", row.case, row.governor),
            parts: vec![(
                row.governor.to_owned(),
                Figure {
                    value: row.above_percent,
                    published: row.published.as_ref().and_then(|reported| reported.above_percent),
                },
            )],
        };
        let bars = Drawing::Bars(self.rows.iter().map(bar).collect());
        told.picture(Picture::new("Stays in a state that was too deep", "", "%", bars));
        for rows in cases {
            let source = self.sources.iter().find(|known| known.name == rows[0].case);
            let reported = |row: &Row<'_>, of: fn(&Reported<'_>) -> Option<u64>| {
                row.published.as_ref().and_then(of).map(|count| whole(count as f64))
            };
            let table = Table::with_rows(rows)
                .words("governor", |row| name(row.governor))
                .numbers("stays", "", |row| whole(row.stays))
                .numbers("above", "", |row| whole(row.above))
                .numbers("below", "", |row| whole(row.below))
                .numbers("above", "%", |row| fixed(row.above_percent, 2))
                .words("published as", |row| row.published.as_ref().map(|reported| name(reported.governor)))
                .numbers("stays", "", |row| reported(row, |of| of.stays))
                .numbers("above", "", |row| reported(row, |of| of.above))
                .numbers("below", "", |row| reported(row, |of| of.below))
                .numbers("above", "%", |row| row.published.as_ref()?.above_percent.map(|share| fixed(share, 2)));
            let title = source.map_or_else(String::new, |source| format!(": {}.", source.title));
            let note = source.map_or_else(String::new, |source| format!("Published: {}.", source.source));
            told.table(table.done().titled(text![name(rows[0].case), title]).noted(note));
        }
    }
}
