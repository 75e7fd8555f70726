//! `idle-cases`: governors on reported workloads, with the reported counts and orders beside.

use crate::Run;
use crate::rows::subject;
use published::{CaseFigure, CaseSource, Sign, SignOf};
use recording::{Measure, Recording, Series, distinct, metrics, stats};
use schemars::JsonSchema;
use serde::Serialize;

/// Governors on reported workloads.
#[derive(Serialize, JsonSchema)]
pub struct Cases<'r> {
    /// Each governor on each workload.
    pub rows: Vec<Row<'r>>,
    /// Reported orders of governors, held against every seed.
    pub signs: Vec<HeldOrder<'r>>,
    /// Sentences that the run left about itself.
    pub notes: &'r [String],
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The published reports.
    #[serde(skip)]
    pub sources: &'r [CaseSource],
}

/// The result of a governor on a workload: the median of each count over the seeds.
#[derive(Serialize, JsonSchema)]
pub struct Row<'r> {
    /// The workload's name.
    pub case: &'r str,
    /// The governor's name.
    pub governor: &'r str,
    /// Stays in idle states.
    pub stays: f64,
    /// Stays in a state that was too deep.
    pub above: f64,
    /// Stays in a state that was too shallow.
    pub below: f64,
    /// Stays that were too deep, in percent of all.
    pub above_percent: f64,
    /// Stays that were too shallow, in percent of all.
    pub below_percent: f64,
    /// Time in the shallowest state, in percent of the idle time.
    pub shallowest_percent: Option<f64>,
    /// Time in the deepest state, in percent of the idle time.
    pub deepest_percent: Option<f64>,
    /// Answers per second; `None` for a workload that answers nothing.
    pub per_second: Option<f64>,
    /// The published report; `None` where none was published.
    pub published: Option<CaseFigure>,
    /// The counts of each seed.
    #[serde(skip)]
    seeds: Vec<SeedCounts>,
}

/// A governor on a workload with one seed.
#[derive(Clone, Copy, Default)]
struct SeedCounts {
    stays: f64,
    above: f64,
    below: f64,
    /// The time in the shallowest state, in the deepest, and in all.
    time: [f64; 3],
    per_second: Option<f64>,
}

/// A reported order of two governors, held against every seed.
#[derive(Serialize, JsonSchema)]
pub struct HeldOrder<'r> {
    /// The workload's name.
    pub case: &'r str,
    /// The figure that is ordered, in words.
    pub of: &'static str,
    /// The governor that is reported to have more of it.
    pub more: &'r str,
    /// The governor that is reported to have less of it.
    pub less: &'r str,
    /// The median of each.
    pub figures: [f64; 2],
    /// The number of seeds with the reported order.
    pub agrees: usize,
    /// The number of seeds.
    pub seeds: usize,
    /// Why the order does not hold, as far as that is known; may be empty.
    pub reason: &'r str,
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        100.0 * part / whole
    } else {
        0.0
    }
}

impl SeedCounts {
    /// The counts of each seed of a series, in their order.
    fn all(recording: &Recording, series: Series) -> Vec<Self> {
        let mut seeds: Vec<Self> = Vec::new();
        let mut last = Vec::new();
        for measure in recording
            .measures()
            .iter()
            .filter(|measure| measure.series == series)
        {
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

fn median(seeds: &[SeedCounts], of: impl Fn(&SeedCounts) -> f64) -> f64 {
    stats::median(&seeds.iter().map(of).collect::<Vec<f64>>()).unwrap_or(0.0)
}

/// Reads the cases.
pub fn read<'r>(run: &Run<'r>) -> Cases<'r> {
    let recording = run.recording;
    let known = run.published.idle_cases.as_ref();
    let share =
        |figure: &CaseFigure, of: Option<u64>| Some(percent(of? as f64, figure.stays? as f64));
    let row = |series: Series| {
        let (governor, case, _) = recording.series_texts(series);
        let seeds = SeedCounts::all(recording, series);
        let figures = known.map_or(&[][..], |known| &known.figures);
        let reported = figures
            .iter()
            .find(|figure| figure.case == case && figure.compared_with == governor);
        let has_times = seeds.iter().any(|seed| seed.time[2] > 0.0);
        Row {
            case,
            governor,
            stays: median(&seeds, |seed| seed.stays),
            above: median(&seeds, |seed| seed.above),
            below: median(&seeds, |seed| seed.below),
            above_percent: median(&seeds, |seed| seed.of(SignOf::Above)),
            below_percent: median(&seeds, |seed| seed.of(SignOf::Below)),
            shallowest_percent: has_times
                .then(|| median(&seeds, |seed| seed.of(SignOf::Shallowest))),
            deepest_percent: has_times.then(|| median(&seeds, |seed| seed.of(SignOf::Deepest))),
            per_second: seeds
                .iter()
                .any(|seed| seed.per_second.is_some())
                .then(|| median(&seeds, |seed| seed.of(SignOf::PerSecond))),
            published: reported.map(|figure: &CaseFigure| CaseFigure {
                above_percent: figure.above_percent.or(share(figure, figure.above)),
                below_percent: figure.below_percent.or(share(figure, figure.below)),
                ..figure.clone()
            }),
            seeds,
        }
    };
    let is_entered =
        |measure: &&Measure| recording.text(measure.metric) == metrics::IDLE_ENTERED.name;
    let series = distinct(
        recording
            .measures()
            .iter()
            .filter(is_entered)
            .map(|measure| measure.series),
    );
    let rows: Vec<Row<'_>> = series.into_iter().map(row).collect();
    let sources = known.map_or(&[][..], |known| &known.cases);
    let signs = sources.iter().flat_map(|case| {
        case.signs
            .iter()
            .filter_map(|sign| held(&rows, &case.name, sign))
    });
    Cases {
        signs: signs.collect(),
        notes: &recording.header.notes,
        recording: run.folder,
        sources,
        rows,
    }
}

/// Holds a reported order against every seed; `None` if one of the two governors did not run.
fn held<'r>(rows: &[Row<'_>], case: &'r str, sign: &'r Sign) -> Option<HeldOrder<'r>> {
    let of = |governor: &str| {
        rows.iter()
            .find(|row| row.case == case && row.governor == governor)
    };
    let (more, less) = (of(&sign.more)?, of(&sign.less)?);
    let pairs = || more.seeds.iter().zip(&less.seeds);
    Some(HeldOrder {
        case,
        of: sign.of.words(),
        more: &sign.more,
        less: &sign.less,
        figures: [more, less].map(|row| median(&row.seeds, |seed| seed.of(sign.of))),
        agrees: pairs()
            .filter(|(more, less)| exceeds(more.of(sign.of), less.of(sign.of)))
            .count(),
        seeds: pairs().count(),
        reason: &sign.reason,
    })
}

/// True if there is more of something, and not by next to nothing: by more than a hundredth of it,
/// and by a tenth of a point.
fn exceeds(more: f64, less: f64) -> bool {
    more - less > (0.01 * more).max(0.1)
}

impl HeldOrder<'_> {
    /// True if the order is the reported one with more than half of the seeds.
    pub fn holds(&self) -> bool {
        2 * self.agrees > self.seeds
    }
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
