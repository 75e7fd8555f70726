//! The change of each row, and the verdict on it.

use crate::policy::Policy;
use crate::result::{Basis, CauseChange, Cell, Change, Row, Shift, Verdict};
use crate::rows::{Matched, SideRows, is_exact};
use crate::table::{Key, Samples};
use attribution::Cause;
use evidence::{Runs, Tested};
use itertools::Itertools;
use recording::facts::TraceEnergy;
use recording::metrics::{self, Better};
use recording::units::{nanoseconds, unit};
use recording::{Header, grouped, stats};
use std::collections::HashMap;

/// A factor from which a change of too few runs is told as large.
const LARGE: f64 = 2.0;

/// The share of rows whose intervals hold their common change where they moved alike.
const ALIKE: f64 = 0.9;

/// Rows before their verdicts, with the values of each side in the base's unit.
pub struct Judge<'r> {
    pub headers: &'r [&'r Header],
    pub sides: &'r [SideRows],
    pub policy: &'r Policy,
}

impl Judge<'_> {
    /// The rows with their changes, and what the rows of each measure have in common.
    pub fn judge(&self, matched: &[Matched<'_>]) -> (Vec<Row>, Vec<Shift>) {
        let mut rows = matched.iter().map(|of| self.row(of)).collect_vec();
        let mut shifts = Vec::new();
        for side in 1..self.sides.len() {
            shifts.extend(self.judge_side(matched, &mut rows, side));
            judge_ranges(&mut rows, side);
            judge_points(&mut rows, side);
        }
        (rows, shifts)
    }

    /// A row whose changes have no verdict yet.
    fn row(&self, of: &Matched<'_>) -> Row {
        let is_exact = |side: usize| is_exact(self.headers, side, &of.key.mode);
        let values = std::iter::once(of.base.values.clone())
            .chain(of.others.iter().map(|other| {
                other
                    .as_ref()
                    .map(|(samples, by)| samples.values.iter().map(|value| value * by).collect())
                    .unwrap_or_default()
            }))
            .collect_vec();
        let all_exact = (1..self.sides.len()).all(is_exact);
        let has_logarithms = values.iter().flatten().all(|value| *value > 0.0);
        let cell = |values: &Vec<f64>| {
            let value = match (all_exact, has_logarithms) {
                (true, _) => evidence::median(values)?,
                (false, true) => {
                    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
                }
                (false, false) => stats::mean(values)?,
            };
            let [min, max] = stats::ends(values.iter().copied());
            (!values.is_empty()).then_some(Cell {
                n: values.len(),
                value,
                min,
                max,
            })
        };
        let cells = values.iter().map(cell).collect_vec();
        let change = |(side, other): (usize, &Option<(&Samples, f64)>)| {
            let (base, after) = (cells[0]?.value, cells[side]?.value);
            let is_same = values[0] == values[side];
            Some(Change {
                absolute: after - base,
                percent: (base != 0.0).then(|| (after - base) / base.abs() * 100.0),
                basis: if is_exact(side) {
                    Basis::Exact
                } else {
                    Basis::TooFew
                },
                verdict: if is_same {
                    Verdict::Same
                } else {
                    Verdict::Unclear
                },
                below: false,
                causes: cause_changes(of.base, other.as_ref()?.0),
            })
        };
        let changes = (1..).zip(&of.others).map(change).collect();
        let better = of.rule.and_then(|rule| rule.better);
        Row {
            key: of.key.clone(),
            unit: of.base.unit.clone(),
            better: better.unwrap_or_else(|| metrics::better(&of.key.metric, &of.base.unit)),
            cells,
            values,
            changes,
        }
    }

    /// Tests what is no exact change of a side, and gives each its verdict.
    fn judge_side(&self, matched: &[Matched<'_>], rows: &mut [Row], side: usize) -> Vec<Shift> {
        let sampled = rows.iter().enumerate().filter(|(_, row)| {
            row.changes[side - 1]
                .as_ref()
                .is_some_and(|change| change.basis == Basis::TooFew)
        });
        let measures = grouped(
            sampled.map(|(place, row)| ((row.key.metric.clone(), kind_of(row), row.better), place)),
        );
        let runs = |&place: &usize| Runs {
            sides: [&rows[place].values[0], &rows[place].values[side]],
            tick: self.tick(&rows[place], side),
        };
        let of_measures = measures
            .iter()
            .map(|(_, places)| places.iter().map(runs).collect())
            .collect_vec();
        let tested = evidence::test(&of_measures, self.policy.alpha);
        drop(of_measures);
        let mut shifts = Vec::new();
        for (((metric, _, better), places), of_measure) in measures.iter().zip(tested) {
            for (&place, tested) in places.iter().zip(&of_measure.rows) {
                if let (Some(tested), Some(change)) =
                    (tested, rows[place].changes[side - 1].as_mut())
                {
                    change.take(tested);
                }
            }
            if let Some(common) = of_measure.common {
                let threshold = places
                    .iter()
                    .map(|&place| self.threshold(&matched[place]))
                    .fold(0.0, f64::max);
                let size = if common.is_ratio {
                    percent(common.change)
                } else {
                    0.0
                };
                let is_alike = is_alike(&of_measure.rows, common.change);
                let differs = common.differs && is_alike && !is_below(size, threshold);
                shifts.push(Shift {
                    side,
                    metric: metric.clone(),
                    rows: places.len(),
                    percent: size,
                    interval: common.interval.map(percent),
                    p: common.p,
                    verdict: if differs {
                        direction(*better, common.change)
                    } else {
                        Verdict::Unclear
                    },
                });
            }
        }
        for (row, of) in rows.iter_mut().zip(matched) {
            let tick = self.tick(row, side);
            let verdict = row.changes[side - 1]
                .as_ref()
                .map(|change| self.verdict(change, row, of, tick));
            if let (Some(change), Some((verdict, below))) =
                (row.changes[side - 1].as_mut(), verdict)
            {
                (change.verdict, change.below) = (verdict, below);
            }
        }
        shifts
    }

    /// A tick of the coarser counter in the row's unit; 0 where it is not known.
    fn tick(&self, row: &Row, side: usize) -> f64 {
        let ns = |header: &Header| header.time.counter_hz.map_or(0.0, |hz| 1e9 / hz as f64);
        let tick = ns(self.headers[0]).max(ns(self.headers[side]));
        nanoseconds(&row.unit).map_or(0.0, |unit| tick / unit)
    }

    /// The change in percent below which one does not matter.
    fn threshold(&self, of: &Matched<'_>) -> f64 {
        of.rule
            .and_then(|rule| rule.threshold)
            .unwrap_or(self.policy.threshold)
    }

    /// The verdict on a change of a row, whose counter ticks in `tick` of the row's unit; and
    /// whether the change is too small to matter.
    fn verdict(&self, change: &Change, row: &Row, of: &Matched<'_>, tick: f64) -> (Verdict, bool) {
        let threshold = self.threshold(of);
        let least = of.rule.map_or(0.0, |rule| rule.least);
        let below = change.absolute.abs() < least
            || change
                .percent
                .is_some_and(|percent| is_below(percent, threshold));
        let differs = match change.basis {
            _ if change.verdict == Verdict::Same => return (Verdict::Same, below),
            // Each of the two stamps of a span is rounded down to a tick: two spans of the same
            // length can differ by one.
            Basis::Exact if change.absolute.abs() <= tick * (1.0 + 1e-6) => {
                return (Verdict::Same, below);
            }
            Basis::Exact => true,
            Basis::TooFew if change.size() >= LARGE.ln() => return (Verdict::Large, below),
            Basis::TooFew => return (Verdict::TooFew, below),
            Basis::Runs { interval, .. } => interval[0] > 0.0 || interval[1] < 0.0,
        };
        let is_within = match change.basis {
            Basis::Runs { interval, .. } => interval.iter().all(|end| is_below(*end, threshold)),
            _ => false,
        };
        let verdict = match (differs, below) {
            (false, _) if is_within => Verdict::Same,
            (false, _) => Verdict::Unclear,
            (true, true) => Verdict::Small,
            (true, false) => direction(row.better, change.absolute),
        };
        (verdict, below)
    }
}

/// Takes back the verdicts on the least and the most of one thing where the sides' ranges overlap:
/// what lies in them may be the same.
fn judge_ranges(rows: &mut [Row], side: usize) {
    let ends = TraceEnergy::ENDS.map(|end| {
        let of_end = rows.iter().enumerate();
        of_end.filter_map(move |(at, row)| {
            let cell = |side: usize| row.cells[side].as_ref();
            let key = Key {
                mode: String::new(),
                ..row.key.clone()
            };
            let pair = cell(0).zip(cell(side))?;
            (row.key.mode == end).then_some((key, (at, pair)))
        })
    });
    let [least, most] = ends.map(Iterator::collect::<HashMap<_, _>>);
    let overlaps = least
        .iter()
        .filter_map(|(key, (low, (low_before, low_after)))| {
            let (high, (high_before, high_after)) = most.get(key)?;
            (low_before.min <= high_after.max && low_after.min <= high_before.max)
                .then_some([*low, *high])
        });
    for at in overlaps.flatten().collect_vec() {
        if let Some(change) = &mut rows[at].changes[side - 1]
            && change.verdict != Verdict::Same
        {
            change.verdict = Verdict::Unclear;
        }
    }
}

/// Takes back the verdicts on a governor's idle energy where what a round trip costs, or what the
/// trace does not say, decides whether it is more or less.
fn judge_points(rows: &mut [Row], side: usize) {
    let of_energy = rows
        .iter_mut()
        .filter(|row| row.key.metric == metrics::IDLE_ENERGY.name);
    let by_governor = of_energy.into_group_map_by(|row| row.key.variant.clone());
    for mut rows in by_governor.into_values() {
        let changes = rows
            .iter_mut()
            .filter_map(|row| row.changes[side - 1].as_mut());
        let changes = changes.collect_vec();
        let ways = changes.iter().filter(|of| of.absolute != 0.0);
        if !ways.map(|of| of.absolute > 0.0).all_equal() {
            for change in changes {
                change.verdict = Verdict::Unclear;
            }
        }
    }
}

/// A unit's kind: rows in milliseconds and in microseconds are of one measure.
fn kind_of(row: &Row) -> String {
    unit(&row.unit).map_or_else(|| row.unit.clone(), |unit| format!("{:?}", unit.dimension))
}

/// True if a change in percent is smaller than a threshold; a rise and a fall by one factor are as
/// large.
fn is_below(percent: f64, threshold: f64) -> bool {
    let size = |percent: f64| (percent / 100.0).max(-1.0 + 1e-12).ln_1p();
    size(percent).abs() < size(threshold) * (1.0 - 1e-9)
}

fn direction(better: Better, change: f64) -> Verdict {
    match better {
        Better::Neither => Verdict::Changed,
        Better::Lower if change < 0.0 => Verdict::Better,
        Better::Higher if change > 0.0 => Verdict::Better,
        Better::Lower | Better::Higher => Verdict::Worse,
    }
}

/// True if rows moved alike: nearly all of their intervals hold the common change.
fn is_alike(rows: &[Option<Tested>], change: f64) -> bool {
    let of_ratios = || rows.iter().flatten().filter(|row| row.is_ratio);
    of_ratios()
        .filter(|row| row.interval[0] <= change && change <= row.interval[1])
        .count() as f64
        >= ALIKE * of_ratios().count() as f64
}

/// A ratio, told by its logarithm, in percent.
fn percent(logarithm: f64) -> f64 {
    logarithm.exp_m1() * 100.0
}

impl Change {
    /// Takes what a test made of it. One of a base of 0 has its interval in the row's unit.
    fn take(&mut self, tested: &Tested) {
        let scale = match (tested.is_ratio, self.percent) {
            (false, Some(percent)) if self.absolute != 0.0 => percent / self.absolute,
            _ => 1.0,
        };
        let in_percent = |change: f64| {
            if tested.is_ratio {
                percent(change)
            } else {
                change * scale
            }
        };
        self.basis = Basis::Runs {
            p: tested.p,
            interval: tested.interval.map(in_percent),
            seen_from: in_percent(tested.seen_from),
        };
    }
}

fn cause_changes(base: &Samples, other: &Samples) -> Vec<CauseChange> {
    if base.causes.is_empty() || other.causes.is_empty() {
        return Vec::new();
    }
    let of = |samples: &Samples, cause| samples.causes.get(&cause).copied().unwrap_or(0.0);
    Cause::ALL
        .into_iter()
        .map(|part| CauseChange {
            part,
            base: of(base, part),
            other: of(other, part),
        })
        .filter(|change| change.base != 0.0 || change.other != 0.0)
        .collect()
}
