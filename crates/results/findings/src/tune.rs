//! `tune`: distances and choices of a loop that somebody wrote.

use crate::Findings;
use crate::rows::of_metric;
use crate::spread::{Steadiness, apart};
use crate::ticks::Ticks;
use itertools::Itertools;
use recording::facts::{self, FactsError};
use recording::{Recording, distinct, grouped, metrics, stats, total_order};
use schemars::JsonSchema;
use serde::Serialize;

/// The share of the least clocks within which distances are as good as the best.
pub const NEAR: f64 = 0.02;

/// Values that may take less than the best by more than this share leave the answer unsure.
const SURE: f64 = 0.01;

/// Nobody shall paste values beside which others may take less by more than this share.
const PASTED: f64 = 0.05;

/// The working set of calls of a varying size.
const PARTIAL: &str = "partial";

/// The story of a loop.
#[derive(Serialize, JsonSchema)]
pub struct Tune<'r> {
    /// The settings of the run and of its loop.
    #[serde(rename = "loop")]
    pub facts: facts::TunedLoop,
    /// The counter whose ticks are clocks.
    #[serde(flatten)]
    pub ticks: Ticks,
    /// Whether the machine repeats itself.
    pub steadiness: Steadiness,
    /// The best of the largest working set at the batch that was asked for.
    pub best: Option<Best>,
    /// What stands beside the best, measured in the same rounds: each rule's best.
    pub beside: Vec<Beside>,
    /// The best for vectors that are not full; `None` where that was not searched.
    pub partial: Option<Partial>,
    /// Each candidate that was compared.
    pub cells: Vec<TunedCell>,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// A candidate, measured.
#[derive(Serialize, JsonSchema)]
pub struct TunedCell {
    /// The working set's name.
    pub set: String,
    /// Records of a batch, at least 1.
    pub batch: u64,
    /// A value for each knob.
    pub values: Vec<u32>,
    /// The median of its rounds. Only cells of one working set and batch have the same rounds.
    pub clocks: f64,
    /// The number of rounds that were measured.
    pub rounds: usize,
    /// Ticks per record in each of them.
    pub measured: Vec<f64>,
}

/// How much less one candidate takes than another, from the rounds in which both were measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Less {
    /// Clocks less, in percent of the other's: the median over the rounds.
    pub percent: f64,
    /// A 95 % interval of it, of both halves of the rounds where these contradict each other.
    pub interval: [f64; 2],
    /// True if the first half of the rounds and the second one contradict each other: the
    /// intervals of both halves have nothing in common.
    pub drifts: bool,
}

impl Less {
    /// How much less `one` takes than `other`; `None` of fewer than six rounds.
    fn new(one: &TunedCell, other: &TunedCell) -> Option<Self> {
        let less = one
            .measured
            .iter()
            .zip(&other.measured)
            .map(|(a, b)| 100.0 * (1.0 - a / b))
            .collect_vec();
        let (first, second) = less.split_at(less.len() / 2);
        let apart = stats::median_interval(first)
            .zip(stats::median_interval(second))
            .filter(|(first, second)| first[1] < second[0] || second[1] < first[0]);
        let interval = apart
            .map(|(first, second)| [first[0].min(second[0]), first[1].max(second[1])])
            .or(stats::median_interval(&less))?;
        Some(Self {
            percent: stats::median(&less)?,
            interval,
            drifts: apart.is_some(),
        })
    }

    /// True if it surely takes less, or surely more.
    pub fn is_certain(&self) -> bool {
        self.interval[0] > 0.0 || self.interval[1] < 0.0
    }
}

/// The best values, and how sure they are.
#[derive(Serialize, JsonSchema)]
pub struct Best {
    /// The best value of each knob.
    pub values: Vec<u32>,
    /// Ticks per record there.
    pub clocks: f64,
    /// Ticks per record without prefetch; `None` where that was not measured.
    pub none: Option<f64>,
    /// Ticks per record with the loop's present values; `None` where those were not measured.
    pub today: Option<f64>,
    /// How much less the best takes than today's values; `None` where it is today's, or where that
    /// cannot be known.
    pub less_than_today: Option<Less>,
    /// True if nothing that was measured beside it may take less by more than a percent.
    pub is_sure: bool,
    /// What may take less than the best by more than a percent, if anything.
    pub rival: Option<Rival>,
    /// The values that are to be pasted into a source; none unless they surely take less, do the
    /// same work as far as was looked, and nothing may take less by more than 5 %.
    pub defines: Vec<String>,
}

/// The best for vectors that are not full.
#[derive(Serialize, JsonSchema)]
pub struct Partial {
    /// The fewest and the most records of a call.
    pub frames: [u64; 2],
    /// A value for each knob.
    pub values: Vec<u32>,
    /// How much less they take there than the best of full vectors; `None` where they are the same.
    pub less_than_best: Option<Less>,
}

/// Values that may be better than the best.
#[derive(Serialize, JsonSchema)]
pub struct Rival {
    /// A value for each knob.
    pub values: Vec<u32>,
    /// Clocks less than the best's at most, in percent: the end of a 95 % interval.
    pub less_percent: f64,
}

/// A rule that an engineer would follow.
#[derive(Serialize, JsonSchema)]
pub struct Beside {
    /// The rule.
    pub name: String,
    /// The values that it gives; of several, those that take the least.
    pub values: Vec<u32>,
    /// Ticks per record.
    pub clocks: f64,
    /// How much less the best takes; `None` where it is the best.
    pub best_takes_less: Option<Less>,
}

/// Reads the story.
pub fn read<'r>(findings: &Findings<'r>) -> Result<Tune<'r>, FactsError> {
    let facts: facts::TunedLoop = findings.recording.header.facts()?;
    let cells = cells(findings.recording, &facts);
    let far = facts.sets.last().map_or("", |set| &set.name);
    let last = cells
        .iter()
        .filter(|cell| cell.set == far && cell.batch == facts.batch)
        .collect_vec();
    let pick = last
        .iter()
        .find(|cell| cell.values == facts.pick)
        .or(least(last.iter()))
        .copied();
    let best = pick.map(|pick| best(&facts, &last, pick));
    Ok(Tune {
        ticks: Ticks::new(findings.recording),
        steadiness: Steadiness::new(
            cells.iter().map(|cell| apart(&cell.measured)),
            [pick.and_then(|of| apart(&of.measured))],
        ),
        beside: pick.map_or_else(Vec::new, |pick| beside(&facts, &last, pick)),
        partial: partial(&facts, &cells),
        best,
        cells,
        facts,
        recording: findings.folder,
    })
}

fn cells(recording: &Recording, facts: &facts::TunedLoop) -> Vec<TunedCell> {
    let rows = of_metric(recording, metrics::CLOCKS_PER_PACKET);
    let found = grouped(rows.map(|row| ((row.variant, row.subject), row.value)));
    let cell = |((set, subject), measured): ((&str, &str), Vec<f64>)| {
        let place = recording.header.coordinates.get(subject)?;
        let number = |key: &str| place.get(key)?.as_integer();
        let knobs = facts
            .knobs
            .iter()
            .map(|knob| Some(number(&knob.name)? as u32));
        Some(TunedCell {
            set: set.to_owned(),
            batch: number("batch")? as u64,
            values: knobs.collect::<Option<_>>()?,
            clocks: stats::median(&measured)?,
            rounds: measured.len(),
            measured,
        })
    };
    found.into_iter().filter_map(cell).collect()
}

fn least<'c, 'd: 'c>(cells: impl Iterator<Item = &'c &'d TunedCell>) -> Option<&'c &'d TunedCell> {
    cells.min_by_key(|of| total_order(of.clocks))
}

/// What follows a rule, the least of it.
fn follows<'c>(
    facts: &facts::TunedLoop,
    cells: &[&'c TunedCell],
    rule: &str,
) -> Option<&'c TunedCell> {
    least(cells.iter().filter(|cell| {
        facts
            .beside
            .iter()
            .any(|of| of.name == rule && of.values == cell.values)
    }))
    .copied()
}

/// The rule of the loop's present values, and that of a loop without prefetch.
pub const TODAY: &str = "today";
const NONE: &str = "no prefetch";

fn best(facts: &facts::TunedLoop, group: &[&TunedCell], best: &TunedCell) -> Best {
    let today = follows(facts, group, TODAY);
    let less_than_today = today
        .filter(|today| today.values != best.values)
        .and_then(|today| Less::new(best, today));
    let rival = group
        .iter()
        .filter(|cell| cell.values != best.values)
        .filter_map(|cell| {
            Some(Rival {
                values: cell.values.clone(),
                less_percent: -Less::new(best, cell)?.interval[0],
            })
        })
        .max_by_key(|of| total_order(of.less_percent));
    let rival = rival.filter(|rival| rival.less_percent > 100.0 * SURE / (1.0 - SURE));
    let is_near = rival
        .as_ref()
        .is_none_or(|rival| rival.less_percent <= 100.0 * PASTED);
    let is_less = less_than_today.is_some_and(|less| less.is_certain() && less.percent > 0.0);
    let defines = facts
        .knobs
        .iter()
        .zip(&best.values)
        .filter_map(|(knob, value)| Some(format!("#define {} {value}", knob.define.as_ref()?)))
        .filter(|_| is_less && facts.is_checked && is_near);
    Best {
        values: best.values.clone(),
        clocks: best.clocks,
        none: follows(facts, group, NONE).map(|cell| cell.clocks),
        today: today.map(|today| today.clocks),
        less_than_today,
        is_sure: rival.is_none() && best.rounds > 5,
        rival,
        defines: defines.collect(),
    }
}

/// What was found for vectors that are not full, beside the best of full ones.
fn partial(facts: &facts::TunedLoop, cells: &[TunedCell]) -> Option<Partial> {
    let found = facts.partial.as_ref()?;
    let there = cells.iter().filter(|cell| cell.set == PARTIAL);
    let with = |values: &[u32]| there.clone().find(|cell| cell.values == values);
    let (one, best) = (with(&found.pick)?, with(&facts.pick)?);
    Some(Partial {
        frames: found.frames,
        values: found.pick.clone(),
        less_than_best: (found.pick != facts.pick)
            .then(|| Less::new(one, best))
            .flatten(),
    })
}

/// Each rule beside the best, in the order of the recording.
fn beside(facts: &facts::TunedLoop, group: &[&TunedCell], best: &TunedCell) -> Vec<Beside> {
    let rules = distinct(facts.beside.iter().map(|place| place.name.as_str()));
    let rule = |name: &str| {
        let cell = follows(facts, group, name)?;
        Some(Beside {
            name: name.to_owned(),
            values: cell.values.clone(),
            clocks: cell.clocks,
            best_takes_less: (cell.values != best.values)
                .then(|| Less::new(best, cell))
                .flatten(),
        })
    };
    rules.into_iter().filter_map(rule).collect()
}

impl Tune<'_> {
    /// The name of the largest working set; empty if there is none.
    pub fn far(&self) -> &str {
        self.facts.sets.last().map_or("", |set| &set.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(measured: Vec<f64>) -> TunedCell {
        let clocks = stats::median(&measured).unwrap();
        TunedCell {
            set: "memory".to_owned(),
            batch: 256,
            values: vec![1],
            clocks,
            rounds: measured.len(),
            measured,
        }
    }

    #[test]
    fn what_drifts_together_is_told_apart_and_what_changes_sides_is_not() {
        let drift = |round: u32| 100.0 * (1.0 + f64::from(round));
        let rounds = || (0..40).map(drift);
        let slow = cell(rounds().collect());
        let less = Less::new(&cell(rounds().map(|ticks| ticks * 0.97).collect()), &slow).unwrap();
        assert!((less.percent - 3.0).abs() < 1e-9 && less.is_certain());
        let even = rounds()
            .enumerate()
            .map(|(round, ticks)| ticks * if round % 2 == 0 { 0.9 } else { 1.1 });
        assert!(
            !Less::new(&cell(even.collect()), &slow)
                .unwrap()
                .is_certain()
        );
        let late = rounds()
            .enumerate()
            .map(|(round, ticks)| ticks * if round < 20 { 0.98 } else { 0.9 });
        let late = Less::new(&cell(late.collect()), &slow).unwrap();
        assert!(
            late.drifts
                && late.is_certain()
                && (late.interval[1] - late.interval[0] - 8.0).abs() < 1e-9
        );
        let turns = rounds()
            .enumerate()
            .map(|(round, ticks)| ticks * if round < 20 { 1.02 } else { 0.9 });
        assert!(
            !Less::new(&cell(turns.collect()), &slow)
                .unwrap()
                .is_certain(),
            "the halves differ in sign"
        );
        assert_eq!(
            Less::new(&cell(vec![1.0; 5]), &slow),
            None,
            "five rounds say nothing"
        );
    }
}
