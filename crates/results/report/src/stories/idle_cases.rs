//! `idle-cases`: governors on reported workloads, with the reported counts and orders beside.

use super::story::Story;
use crate::blocks::{
    Bar, Blocks, Drawing, Figure, Number, Picture, Table, Text, fixed, name, text,
};
use findings::idle_cases::{Cases, Row};
use published::CaseFigure;

/// Why orders do not hold, as far as that is known; each reason once.
fn reasons(cases: &Cases<'_>) -> Vec<Text> {
    let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
    for sign in cases
        .signs
        .iter()
        .filter(|sign| !sign.holds() && !sign.reason.is_empty())
    {
        match reasons
            .iter_mut()
            .find(|(_, reason)| *reason == sign.reason)
        {
            Some((cases, _)) if cases.contains(&sign.case) => {}
            Some((cases, _)) => cases.push(sign.case),
            None => reasons.push((vec![sign.case], sign.reason)),
        }
    }
    reasons
        .into_iter()
        .map(|(cases, reason)| format!("{}: {reason}.", cases.join(", ")).into())
        .collect()
}

/// How trivial rules did on the published cases of the reverted commit, of which docs/idle-cases.md
/// has the figures.
const TRIVIAL: &str = "Where a commit was reverted, trivial rules do as well: \"no change\" is nearer to the published sizes, and \"reverted goes deeper\" has as many orders right.";

impl Story for Cases<'_> {
    fn tell(&self, told: &mut Blocks) {
        let held = self.signs.iter().filter(|sign| sign.holds()).count();
        told.answer(format!(
            "Of {} reported orders of these governors {held} hold here, each in more than half of the seeds.",
            self.signs.len()
        ));
        told.warning(TRIVIAL);
        let table = Table::with_rows(&self.signs)
            .words("workload", |sign| name(sign.case))
            .words("reported: more", |sign| sign.of)
            .words("with", |sign| name(sign.more))
            .words("than with", |sign| name(sign.less))
            .numbers("here", "", |sign| fixed(sign.figures[0], 2))
            .numbers("and", "", |sign| fixed(sign.figures[1], 2))
            .words("agrees", |sign| match sign.agrees {
                agrees if agrees == sign.seeds => "yes".to_owned(),
                0 => "no".to_owned(),
                agrees => format!("in {agrees} of {} seeds", sign.seeds),
            });
        told.table(
            table
                .done()
                .titled("Reported orders of governors; shares in %, medians over the seeds."),
        );
        told.list(reasons(self));
        let cases: Vec<&[Row<'_>]> = self.rows.chunk_by(|a, b| a.case == b.case).collect();
        let bar = |row: &Row<'_>| Bar {
            name: format!("{}, {}", row.case, row.governor),
            parts: vec![(
                row.governor.to_owned(),
                Figure {
                    value: row.above_percent,
                    published: row
                        .published
                        .as_ref()
                        .and_then(|reported| reported.above_percent),
                },
            )],
        };
        let bars = Drawing::Bars(self.rows.iter().map(bar).collect());
        told.picture(Picture::new(
            "Stays in a state that was too deep",
            "of all stays",
            "%",
            bars,
        ));
        for rows in cases {
            let source = self.sources.iter().find(|known| known.name == rows[0].case);
            let title = source.map_or_else(String::new, |source| format!(": {}.", source.title));
            let note = source.map_or_else(String::new, |source| {
                format!("Published: {}.", source.source)
            });
            told.table(
                counts(rows)
                    .titled(text![name(rows[0].case), title])
                    .noted(note),
            );
        }
    }
}

/// The counts of a workload, with the published ones in brackets behind them.
fn counts(rows: &[Row<'_>]) -> Table {
    let beside = |here: Number, reported: Option<Number>| match reported {
        Some(reported) => here.after(format!(" ({reported})")),
        None => here,
    };
    let share = |here: f64, row: &Row<'_>, of: fn(&CaseFigure) -> Option<f64>| {
        beside(
            fixed(here, 2),
            row.published
                .as_ref()
                .and_then(of)
                .map(|share| fixed(share, 2)),
        )
    };
    Table::with_rows(rows)
        .words("governor", |row| name(row.governor))
        .words("published as", |row| {
            row.published
                .as_ref()
                .map(|reported| name(reported.governor.as_str()))
        })
        .numbers("stays", "", |row| fixed(row.stays, 0))
        .numbers("too deep", "%", |row| {
            share(row.above_percent, row, |of| of.above_percent)
        })
        .numbers("too shallow", "%", |row| {
            share(row.below_percent, row, |of| of.below_percent)
        })
        .numbers("shallowest", "%", |row| {
            Some(share(row.shallowest_percent?, row, |of| {
                of.shallowest_percent
            }))
        })
        .numbers("deepest", "%", |row| {
            Some(share(row.deepest_percent?, row, |of| of.deepest_percent))
        })
        .numbers("per second", "", |row| {
            let reported = row.published.as_ref().and_then(|of| of.per_second);
            Some(beside(
                fixed(row.per_second?, 0),
                reported.map(|rate| fixed(rate, 0)),
            ))
        })
        .done()
}
