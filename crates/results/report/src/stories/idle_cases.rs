//! `idle-cases`: governors on reported workloads, with the reported counts and orders beside.

use super::story::Story;
use crate::blocks::{Bar, Blocks, Drawing, Figure, Number, Picture, Table, Text, fixed, name, text};
use findings::Run;
use findings::rows::subject;
use published::{CaseFigure, CaseSource, Sign, SignOf};
use recording::metrics;
use recording::{Measure, Recording, Series, stats};
use serde::Serialize;

/// Governors on reported workloads.
#[derive(Serialize)]
pub(super) struct Cases<'r> {
    rows: Vec<Row<'r>>,
    signs: Vec<Held<'r>>,
    notes: &'r [String],
    recording: &'r str,
    #[serde(skip)]
    sources: &'r [CaseSource],
}

/// The result of a governor on a workload: the median of each count over the seeds.
#[derive(Serialize)]
struct Row<'r> {
    case: &'r str,
    governor: &'r str,
    stays: f64,
    above: f64,
    below: f64,
    above_percent: f64,
    below_percent: f64,
    shallowest_percent: Option<f64>,
    deepest_percent: Option<f64>,
    per_second: Option<f64>,
    published: Option<Reported<'r>>,
    /// The counts of each seed.
    #[serde(skip)]
    seeds: Vec<Lived>,
}

/// A governor on a workload with one seed.
#[derive(Clone, Copy, Default)]
struct Lived {
    stays: f64,
    above: f64,
    below: f64,
    /// The time in the shallowest state, in the deepest, and in all.
    time: [f64; 3],
    per_second: Option<f64>,
}

/// The published report on the governor that is nearest to it.
#[derive(Serialize)]
struct Reported<'r> {
    governor: &'r str,
    stays: Option<u64>,
    above: Option<u64>,
    below: Option<u64>,
    above_percent: Option<f64>,
    below_percent: Option<f64>,
    shallowest_percent: Option<f64>,
    deepest_percent: Option<f64>,
    per_second: Option<f64>,
}

/// A reported order of two governors, held against every seed.
#[derive(Serialize)]
struct Held<'r> {
    case: &'r str,
    of: &'static str,
    more: &'r str,
    less: &'r str,
    /// The median of each.
    figures: [f64; 2],
    agrees: usize,
    seeds: usize,
    reason: &'r str,
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

impl Lived {
    /// The counts of each seed of a series, in their order.
    fn all(recording: &Recording, series: Series) -> Vec<Self> {
        let mut seeds: Vec<Self> = Vec::new();
        let mut last = Vec::new();
        for measure in recording.measures().iter().filter(|measure| measure.series == series) {
            let at = measure.iteration as usize;
            if at >= seeds.len() {
                // A damaged recording may name any number.
                if at > recording.measures().len() {
                    continue;
                }
                seeds.resize(at + 1, Self::default());
                last.resize(at + 1, "");
            }
            let (seed, value) = (&mut seeds[at], measure.value);
            match recording.text(measure.metric) {
                of if of == metrics::IDLE_ENTERED.name => seed.stays = value,
                of if of == metrics::IDLE_ABOVE.name => seed.above = value,
                of if of == metrics::IDLE_BELOW.name => seed.below = value,
                of if of == metrics::ANSWER_RATE.name => seed.per_second = Some(value),
                of if of == metrics::IDLE_TIME.name => {
                    // From shallow to deep.
                    if last[at].is_empty() {
                        seed.time[0] = value;
                    }
                    last[at] = subject(recording, measure);
                    seed.time[1] = value;
                    seed.time[2] += value;
                }
                _ => {}
            }
        }
        seeds
    }

    fn of(&self, of: SignOf) -> f64 {
        match of {
            SignOf::Above => percent(self.above, self.stays),
            SignOf::Below => percent(self.below, self.stays),
            SignOf::Misses => percent(self.above + self.below, self.stays),
            SignOf::Shallowest => percent(self.time[0], self.time[2]),
            SignOf::Deepest => percent(self.time[1], self.time[2]),
            SignOf::PerSecond => self.per_second.unwrap_or(0.0),
        }
    }
}

fn median(seeds: &[Lived], of: impl Fn(&Lived) -> f64) -> f64 {
    stats::median(&seeds.iter().map(of).collect::<Vec<f64>>()).unwrap_or(0.0)
}

/// Reads the cases.
pub(super) fn read<'r>(run: &Run<'r>) -> Cases<'r> {
    let recording = run.recording;
    let known = run.published.idle_cases.as_ref();
    let share = |figure: &CaseFigure, of: Option<u64>| Some(percent(of? as f64, figure.stays? as f64));
    let row = |series: Series| {
        let (governor, case, _) = recording.series_texts(series);
        let seeds = Lived::all(recording, series);
        let figures = known.map_or(&[][..], |known| &known.figures);
        let reported = figures.iter().find(|figure| figure.case == case && figure.compared_with == governor);
        let has_times = seeds.iter().any(|seed| seed.time[2] > 0.0);
        Row {
            case,
            governor,
            stays: median(&seeds, |seed| seed.stays),
            above: median(&seeds, |seed| seed.above),
            below: median(&seeds, |seed| seed.below),
            above_percent: median(&seeds, |seed| seed.of(SignOf::Above)),
            below_percent: median(&seeds, |seed| seed.of(SignOf::Below)),
            shallowest_percent: has_times.then(|| median(&seeds, |seed| seed.of(SignOf::Shallowest))),
            deepest_percent: has_times.then(|| median(&seeds, |seed| seed.of(SignOf::Deepest))),
            per_second: seeds
                .iter()
                .any(|seed| seed.per_second.is_some())
                .then(|| median(&seeds, |seed| seed.of(SignOf::PerSecond))),
            published: reported.map(|figure: &CaseFigure| Reported {
                governor: &figure.governor,
                stays: figure.stays,
                above: figure.above,
                below: figure.below,
                above_percent: figure.above_percent.or(share(figure, figure.above)),
                below_percent: figure.below_percent.or(share(figure, figure.below)),
                shallowest_percent: figure.shallowest_percent,
                deepest_percent: figure.deepest_percent,
                per_second: figure.per_second,
            }),
            seeds,
        }
    };
    let is_entered = |measure: &&Measure| recording.text(measure.metric) == metrics::IDLE_ENTERED.name;
    let mut series: Vec<Series> = Vec::new();
    for measure in recording.measures().iter().filter(is_entered) {
        if !series.contains(&measure.series) {
            series.push(measure.series);
        }
    }
    let rows: Vec<Row<'_>> = series.into_iter().map(row).collect();
    let sources = known.map_or(&[][..], |known| &known.cases);
    let signs = sources.iter().flat_map(|case| case.signs.iter().filter_map(|sign| held(&rows, &case.name, sign)));
    Cases { signs: signs.collect(), notes: &recording.header.notes, recording: run.folder, sources, rows }
}

/// Holds a reported order against every seed; `None` if one of the two governors did not run.
fn held<'r>(rows: &[Row<'_>], case: &'r str, sign: &'r Sign) -> Option<Held<'r>> {
    let of = |governor: &str| rows.iter().find(|row| row.case == case && row.governor == governor);
    let (more, less) = (of(&sign.more)?, of(&sign.less)?);
    let pairs = || more.seeds.iter().zip(&less.seeds);
    Some(Held {
        case,
        of: sign.of.words(),
        more: &sign.more,
        less: &sign.less,
        figures: [more, less].map(|row| median(&row.seeds, |seed| seed.of(sign.of))),
        agrees: pairs().filter(|(more, less)| exceeds(more.of(sign.of), less.of(sign.of))).count(),
        seeds: pairs().count(),
        reason: &sign.reason,
    })
}

/// True if there is more of something, and not by next to nothing: by more than a hundredth of it,
/// and by a tenth of a point.
fn exceeds(more: f64, less: f64) -> bool {
    more - less > (0.01 * more).max(0.1)
}

impl Held<'_> {
    /// True if the order is the reported one with more than half of the seeds.
    fn holds(&self) -> bool {
        2 * self.agrees > self.seeds
    }
}

impl Cases<'_> {
    /// The governors that are wrong most often and least often on the first workload: what can be
    /// said where nothing was published of it.
    fn extremes(&self) -> String {
        let first = self.rows.first().map_or("", |row| row.case);
        let misses = |row: &Row<'_>| row.above_percent + row.below_percent;
        let by_misses = |a: &&Row<'_>, b: &&Row<'_>| misses(a).total_cmp(&misses(b));
        let rows = || self.rows.iter().filter(|row| row.case == first);
        match (rows().max_by(by_misses), rows().min_by(by_misses)) {
            (Some(most), Some(least)) => format!(
                "On {first} {} is wrong in {:.1} % of its stays and {} in {:.1} %.",
                most.governor,
                misses(most),
                least.governor,
                misses(least)
            ),
            _ => "No governor was run.".to_owned(),
        }
    }

    /// Why orders do not hold, as far as that is known; each reason once.
    fn reasons(&self) -> Vec<Text> {
        let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
        for sign in self.signs.iter().filter(|sign| !sign.holds() && !sign.reason.is_empty()) {
            match reasons.iter_mut().find(|(_, reason)| *reason == sign.reason) {
                Some((cases, _)) if cases.contains(&sign.case) => {}
                Some((cases, _)) => cases.push(sign.case),
                None => reasons.push((vec![sign.case], sign.reason)),
            }
        }
        reasons.into_iter().map(|(cases, reason)| format!("{}: {reason}.", cases.join(", ")).into()).collect()
    }
}

impl Story for Cases<'_> {
    fn tell(&self, told: &mut Blocks) {
        if self.signs.is_empty() {
            told.answer(self.extremes());
        } else {
            let held = self.signs.iter().filter(|sign| sign.holds()).count();
            told.answer(format!(
                "Of {} reported orders of governors {held} hold here, each in more than half of the seeds.",
                self.signs.len()
            ));
        }
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
        told.table(table.done().titled("Reported orders of governors; shares in %, medians over the seeds."));
        told.list(self.reasons());
        let cases: Vec<&[Row<'_>]> = self.rows.chunk_by(|a, b| a.case == b.case).collect();
        if cases.len() > 2 {
            told.rest();
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
            let title = source.map_or_else(String::new, |source| format!(": {}.", source.title));
            let note = source.map_or_else(String::new, |source| format!("Published: {}.", source.source));
            told.table(counts(rows).titled(text![name(rows[0].case), title]).noted(note));
        }
    }
}

/// The counts of a workload, with the published ones in brackets behind them.
fn counts(rows: &[Row<'_>]) -> Table {
    let beside = |here: Number, reported: Option<Number>| match reported {
        Some(reported) => here.after(format!(" ({reported})")),
        None => here,
    };
    let share = |here: f64, row: &Row<'_>, of: fn(&Reported<'_>) -> Option<f64>| {
        beside(fixed(here, 2), row.published.as_ref().and_then(of).map(|share| fixed(share, 2)))
    };
    Table::with_rows(rows)
        .words("governor", |row| name(row.governor))
        .words("published as", |row| row.published.as_ref().map(|reported| name(reported.governor)))
        .numbers("stays", "", |row| fixed(row.stays, 0))
        .numbers("too deep", "%", |row| share(row.above_percent, row, |of| of.above_percent))
        .numbers("too shallow", "%", |row| share(row.below_percent, row, |of| of.below_percent))
        .numbers("shallowest", "%", |row| Some(share(row.shallowest_percent?, row, |of| of.shallowest_percent)))
        .numbers("deepest", "%", |row| Some(share(row.deepest_percent?, row, |of| of.deepest_percent)))
        .numbers("per second", "", |row| {
            let reported = row.published.as_ref().and_then(|of| of.per_second);
            Some(beside(fixed(row.per_second?, 0), reported.map(|rate| fixed(rate, 0))))
        })
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_holds_only_by_more_than_next_to_nothing() {
        assert!(exceeds(46.3, 0.01) && exceeds(0.5, 0.3));
        assert!(!exceeds(0.0009, 0.0004) && !exceeds(10_988.0, 10_985.0) && !exceeds(1.0, 2.0));
    }
}
