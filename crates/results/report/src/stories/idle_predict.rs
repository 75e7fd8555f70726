//! `idle-predict`: what a machine would have done with another governor.

use super::idle_bounds::{cell, tenths};
use super::story::Story;
use crate::blocks::{
    Blocks, Drawing, IntervalRow, Number, Picture, Table, Text, fixed, name, text,
};
use findings::idle_predict::{Predictions, Row};
use findings::idle_replay::Bounds;

fn whole(value: f64) -> Number {
    fixed(value, 0)
}

/// How the judge of predictions found the closed loop beside the trivial one, of which
/// docs/idle-prediction.md has the figures.
const TRIVIAL: &str =
    "The open loop, in which nothing moves, came within the aim in as many pairs of runs.";

fn answer(predictions: &Predictions<'_>) -> Text {
    let of = |predictor: &str| {
        predictions
            .rows
            .iter()
            .find(|row| row.predictor == predictor)
    };
    let Some(first) = of("closed loop") else {
        return "Nothing was predicted.".into();
    };
    let misses = |row: &Row<'_>| {
        let range = row.misses_per_s.unwrap_or(Bounds {
            low: 0.0,
            high: 0.0,
        });
        cell(range, whole).plain().to_string()
    };
    let mut words = text![
        name(first.governor),
        format!(
            " would have chosen a wrong state {} times a second",
            misses(first)
        )
    ];
    if let Some(traced) = of("as traced") {
        words.push(format!(
            ", where the traced kernel did {} times",
            misses(traced)
        ));
    }
    words.push(".");
    if let (Some(share), Some(missed)) = (first.share_error_points, first.miss_error_percent) {
        words.push(format!(
            " Of what was observed, the shares of states are off by at most {} points and the misses by {} %.",
            tenths(share.high),
            cell(missed, tenths).plain()
        ));
    }
    words
}

impl Story for Predictions<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(answer(self));
        let row = |row: &Row<'_>| {
            let Bounds { low, high } = row.misses_per_s?;
            let (name, series) = (
                format!("{}, {}", row.governor, row.predictor),
                row.predictor.to_owned(),
            );
            Some(IntervalRow {
                name,
                series,
                low,
                middle: (low + high) / 2.0,
                high,
                published: None,
            })
        };
        let rows = Drawing::Intervals(self.rows.iter().filter_map(row).collect());
        told.picture(Picture::new(
            "Stays that were too deep or too shallow",
            "",
            "1/s",
            rows,
        ));
        told.warning(TRIVIAL);
        let longest = self
            .rows
            .iter()
            .map(|row| &row.shares)
            .max_by_key(|shares| shares.len());
        let states: Vec<&str> = longest.map_or_else(Vec::new, |all| {
            all.iter().map(|(state, _)| *state).collect()
        });
        let table = Table::with_rows(&self.rows)
            .words("governor", |row| name(row.governor))
            .words("by", |row| row.predictor)
            .each(states, |table, wanted| {
                table.numbers(wanted, "%", move |row| {
                    let (_, share) = row.shares.iter().find(|(state, _)| *state == wanted)?;
                    Some(cell(*share, tenths))
                })
            })
            .numbers("misses", "1/s", |row| Some(cell(row.misses_per_s?, whole)))
            .numbers("error of shares", "points", |row| {
                Some(cell(row.share_error_points?, tenths))
            })
            .numbers("of misses", "%", |row| {
                Some(cell(row.miss_error_percent?, tenths))
            });
        told.table(
            table
                .done()
                .titled("Shares of the stays, and stays that were too deep or too shallow."),
        );
    }
}
