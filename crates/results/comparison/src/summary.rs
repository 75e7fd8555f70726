//! Changes of many rows in a few figures.

use crate::result::{Basis, Change, Comparison, Row, Verdict};
use crate::statistics::FEWEST_RUNS;
use recording::metrics::Better;
use recording::stats;

/// The changes of a side that too few runs stand behind.
#[derive(Clone, Debug, PartialEq)]
pub struct TooFew {
    /// The number of runs a side, where it is least.
    pub runs: usize,
    /// True if those runs have iterations, which say nothing about the next run.
    pub has_iterations: bool,
    /// The runs a side that a verdict needs, at least. From [`FEWEST_RUNS`] on it is an estimate:
    /// as many as make the interval as narrow as the change, if more runs scatter as these do.
    pub needed: usize,
    /// The number of rows that are compared.
    pub rows: usize,
    /// The number of rows that moved by their threshold, with too few runs to tell that from
    /// chance.
    pub moved: usize,
    /// The number of those that became more.
    pub more: usize,
    /// The median of their changes in percent, where they have any.
    pub percent: Option<f64>,
    /// Their measure, if it is one of several that are compared.
    pub metric: Option<String>,
    /// True if all of them are times that had better be short.
    pub is_time: bool,
}

impl Row {
    /// True if it is of a time that had better be short.
    pub fn is_time(&self) -> bool {
        self.better == Better::Lower && crate::matching::nanoseconds(&self.unit).is_some()
    }
}

impl Comparison {
    /// The rows that a side shares with the base, each with its change.
    pub fn of_side(&self, side: usize) -> impl Iterator<Item = (&Row, &Change)> {
        self.rows
            .iter()
            .filter_map(move |row| Some((row, row.changes[side - 1].as_ref()?)))
    }

    /// What too few runs of a side leave open; `None` where all rows have enough.
    pub fn too_few(&self, side: usize) -> Option<TooFew> {
        let few: Vec<_> = self
            .of_side(side)
            .filter(|(_, change)| change.too_few)
            .collect();
        let runs = few.iter().map(|(_, change)| change.runs).min()?;
        let moved: Vec<_> = few.iter().filter(|(_, change)| !change.below).collect();
        let metric = moved.first().map(|(row, _)| &row.key.metric);
        let is_one = moved.iter().all(|(row, _)| Some(&row.key.metric) == metric)
            && self.rows.iter().any(|row| Some(&row.key.metric) != metric);
        let percent: Vec<f64> = moved
            .iter()
            .filter_map(|(_, change)| change.percent)
            .collect();
        Some(TooFew {
            runs,
            has_iterations: runs == 1
                && few
                    .iter()
                    .any(|(row, _)| row.values.iter().any(|values| values.len() > 1)),
            needed: if runs < FEWEST_RUNS {
                FEWEST_RUNS
            } else {
                self.estimate(side, runs, &moved)
            },
            rows: self.of_side(side).count(),
            moved: moved.len(),
            more: moved
                .iter()
                .filter(|(_, change)| change.absolute > 0.0)
                .count(),
            percent: stats::median(&percent),
            metric: metric.filter(|_| is_one).cloned(),
            is_time: moved.iter().all(|(row, _)| row.is_time()),
        })
    }

    /// The runs a side that a verdict on open changes needs: on the common changes of their
    /// measures, or else on half of the rows.
    fn estimate(&self, side: usize, runs: usize, open: &[&(&Row, &Change)]) -> usize {
        let of = |percent: f64, (low, high): (f64, f64)| {
            runs as f64 * ((high - low) / 2.0 / percent).powi(2)
        };
        let is_open = |metric: &str| open.iter().any(|(row, _)| row.key.metric == metric);
        let common = self
            .shifts
            .iter()
            .filter(|shift| shift.side == side && is_open(&shift.metric));
        let common = common
            .map(|shift| of(shift.percent, shift.interval))
            .reduce(f64::max);
        let alone = open.iter().filter_map(|(_, change)| match change.basis {
            Basis::Sampled {
                interval: Some(interval),
                ..
            } => Some(of(change.percent?, interval)),
            _ => None,
        });
        let estimate = common
            .or_else(|| stats::median(&alone.collect::<Vec<_>>()))
            .filter(|runs| runs.is_finite());
        estimate.map_or_else(
            || self.runs_for_ranks(),
            |needed| (needed.ceil() as usize).max(runs + 1),
        )
    }

    /// The most that a row of a side moved, in percent; rows that the order of CPUs decides, and
    /// bases of 0, aside.
    pub fn most_percent(&self, side: usize) -> f64 {
        let judged = self
            .of_side(side)
            .filter(|(_, change)| change.verdict != Verdict::Order);
        judged
            .filter_map(|(_, change)| change.percent)
            .map(f64::abs)
            .fold(0.0, f64::max)
    }
}
