//! `idle-predict`: what a machine would have done with another governor.

use super::story::Story;
use crate::blocks::{Blocks, Cell, Number, Table, Text, fixed, name, text};
use findings::Run;
use findings::rows::subject;
use recording::metrics::{self, Metric};
use recording::{Measure, Recording};
use serde::Serialize;

/// Predictions of governors, beside trivial ones and what was observed.
#[derive(Serialize)]
pub(super) struct Predictions<'r> {
    rows: Vec<Row<'r>>,
    notes: &'r [String],
    recording: &'r str,
}

/// A governor by one predictor. Figures that depend on what the trace does not say are ranges.
#[derive(Serialize)]
struct Row<'r> {
    governor: &'r str,
    predictor: &'r str,
    /// The share of the stays in each state, in percent.
    shares: Vec<(&'r str, Range)>,
    misses_per_s: Option<Range>,
    share_error_points: Option<Range>,
    miss_error_percent: Option<Range>,
}

/// The least and the greatest value.
#[derive(Clone, Copy, Serialize)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    fn new(values: impl Iterator<Item = f64>) -> Option<Self> {
        values.fold(None, |so_far: Option<Self>, value| {
            let Self { low, high } = so_far.unwrap_or(Self { low: value, high: value });
            Some(Self { low: low.min(value), high: high.max(value) })
        })
    }

    fn cell(self, number: fn(f64) -> Number) -> Cell {
        Cell::Range(number(self.low), number(self.high))
    }
}

fn tenths(value: f64) -> Number {
    fixed(value, 1)
}

fn whole(value: f64) -> Number {
    fixed(value, 0)
}

/// Reads the predictions.
pub(super) fn read<'r>(run: &Run<'r>) -> Predictions<'r> {
    let recording: &Recording = run.recording;
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for series in recording.all_series() {
        let (governor, predictor, _) = recording.series_texts(series);
        if !keys.contains(&(governor, predictor)) {
            keys.push((governor, predictor));
        }
    }
    let row = |(governor, predictor)| {
        let of = |metric: Metric| {
            recording.measures().iter().filter(move |measure: &&Measure| {
                let (own, by, _) = recording.series_texts(measure.series);
                (own, by) == (governor, predictor) && recording.text(measure.metric) == metric.name
            })
        };
        let range = |metric| Range::new(of(metric).map(|measure| measure.value));
        let mut states: Vec<&str> = Vec::new();
        for measure in of(metrics::IDLE_SHARE) {
            if !states.contains(&subject(recording, measure)) {
                states.push(subject(recording, measure));
            }
        }
        let share = |state| {
            let of_state = of(metrics::IDLE_SHARE).filter(|measure| subject(recording, measure) == state);
            Some((state, Range::new(of_state.map(|measure| measure.value))?))
        };
        Row {
            governor,
            predictor,
            shares: states.into_iter().filter_map(share).collect(),
            misses_per_s: range(metrics::IDLE_MISS_RATE),
            share_error_points: range(metrics::IDLE_SHARE_ERROR),
            miss_error_percent: range(metrics::IDLE_MISS_ERROR),
        }
    };
    Predictions { rows: keys.into_iter().map(row).collect(), notes: &recording.header.notes, recording: run.folder }
}

impl Predictions<'_> {
    fn answer(&self) -> Text {
        let of = |predictor: &str| self.rows.iter().find(|row| row.predictor == predictor);
        let Some(first) = of("closed loop") else { return "Nothing was predicted.".into() };
        let misses = |row: &Row<'_>| {
            let range = row.misses_per_s.unwrap_or(Range { low: 0.0, high: 0.0 });
            range.cell(whole).plain().to_string()
        };
        let mut words =
            text![name(first.governor), format!(" would have chosen a wrong state {} times a second", misses(first))];
        if let Some(traced) = of("as traced") {
            words.push(format!(", where the traced kernel did {} times", misses(traced)));
        }
        words.push(".");
        if let (Some(share), Some(missed)) = (first.share_error_points, first.miss_error_percent) {
            words.push(format!(
                " Of what was observed, the shares of states are off by at most {} points and the misses by {} %.",
                tenths(share.high),
                missed.cell(tenths).plain()
            ));
        }
        words
    }
}

impl Story for Predictions<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(self.answer());
        let longest = self.rows.iter().map(|row| &row.shares).max_by_key(|shares| shares.len());
        let states: Vec<&str> = longest.map_or_else(Vec::new, |all| all.iter().map(|(state, _)| *state).collect());
        let table = Table::with_rows(&self.rows)
            .words("governor", |row| name(row.governor))
            .words("by", |row| row.predictor)
            .each(states, |table, wanted| {
                table.numbers(wanted, "%", move |row| {
                    let (_, share) = row.shares.iter().find(|(state, _)| *state == wanted)?;
                    Some(share.cell(tenths))
                })
            })
            .numbers("misses", "1/s", |row| Some(row.misses_per_s?.cell(whole)))
            .numbers("error of shares", "points", |row| Some(row.share_error_points?.cell(tenths)))
            .numbers("of misses", "%", |row| Some(row.miss_error_percent?.cell(tenths)));
        told.table(table.done().titled("Shares of the stays, and stays that were too deep or too shallow."));
    }
}
