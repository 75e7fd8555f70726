//! `idle-cases`: governors on reported workloads, with the reported counts beside.

use super::{Run, Style};
use crate::grid::{PLAIN, fitted, paragraph, right, table};
use published::CaseFigure;
use recording::Recording;
use recording::metrics::{self, Metric};
use serde_json::{Value, json};
use std::fmt::Write;

/// What a governor did on a workload.
struct Counted<'r> {
    case: &'r str,
    governor: &'r str,
    stays: f64,
    above: f64,
    below: f64,
}

fn all(recording: &Recording) -> Vec<Counted<'_>> {
    let of = |metric: Metric| {
        recording.measures().iter().filter(move |measure| recording.text(measure.metric) == metric.name)
    };
    of(metrics::IDLE_ENTERED)
        .map(|stays| {
            let value =
                |metric| of(metric).find(|measure| measure.series == stays.series).map_or(0.0, |measure| measure.value);
            let (governor, case, _) = recording.series_texts(stays.series);
            let (above, below) = (value(metrics::IDLE_ABOVE), value(metrics::IDLE_BELOW));
            Counted { case, governor, stays: stays.value, above, below }
        })
        .collect()
}

/// What was reported of the governor that is nearest to one.
fn reported<'p>(run: &Run<'p>, counted: &Counted<'_>) -> Option<&'p CaseFigure> {
    let figures = &run.published.idle_cases.as_ref()?.figures;
    figures.iter().find(|figure| figure.case == counted.case && figure.compared_with == counted.governor)
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let rows: Vec<Value> = all(run.recording)
        .iter()
        .map(|counted| {
            let reported = reported(run, counted);
            json!({
                "case": counted.case,
                "governor": counted.governor,
                "stays": counted.stays,
                "above": counted.above,
                "below": counted.below,
                "above_percent": percent(counted.above, counted.stays),
                "published": reported.map(|figure| json!({
                    "governor": figure.governor,
                    "stays": figure.stays,
                    "above": figure.above,
                    "below": figure.below,
                    "above_percent": figure.above_percent,
                })),
            })
        })
        .collect();
    json!({ "rows": rows, "notes": run.recording.header.notes, "recording": run.folder })
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let mut text = String::new();
    let all = all(run.recording);
    let mut cases: Vec<&str> = all.iter().map(|counted| counted.case).collect();
    cases.dedup();
    for case in cases {
        let known = run.published.idle_cases.as_ref();
        let source = known.and_then(|known| known.cases.iter().find(|known| known.name == case));
        let title = source.map_or_else(|| case.to_owned(), |source| format!("{case}: {}.", source.title));
        paragraph(&mut text, &title, ("", "  "), PLAIN, style);
        let mut drawn = table(style);
        drawn.set_header([
            "governor",
            "stays",
            "above",
            "below",
            "above, %",
            "published as",
            "stays",
            "above",
            "below",
            "above, %",
        ]);
        for counted in all.iter().filter(|counted| counted.case == case) {
            let reported = reported(run, counted);
            let count = |of: fn(&CaseFigure) -> Option<u64>| {
                right(reported.and_then(of).map_or_else(String::new, |count| count.to_string()))
            };
            let share = reported.and_then(|figure| figure.above_percent);
            drawn.add_row([
                counted.governor.into(),
                right(counted.stays.to_string()),
                right(counted.above.to_string()),
                right(counted.below.to_string()),
                right(format!("{:.2}", percent(counted.above, counted.stays))),
                reported.map_or("", |figure| &figure.governor).into(),
                count(|figure| figure.stays),
                count(|figure| figure.above),
                count(|figure| figure.below),
                right(share.map_or_else(String::new, |share| format!("{share:.2}"))),
            ]);
        }
        let _ = writeln!(text, "{}", fitted(drawn, style));
        if let Some(source) = source {
            paragraph(&mut text, &format!("Published: {}.", source.source), ("", "  "), PLAIN, style);
        }
    }
    text
}
