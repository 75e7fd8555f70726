//! The one test of runs: whether a row changed, by how much, and what change would have been seen.
//!
//! The unit is the run. A row is a difference of the two sides' means of logarithms; of values that
//! have none, of the values themselves. From five runs a side on, a slope over the place of a run in
//! its side, alike in both, is taken out first. The variance of a row is drawn towards that of the
//! other rows of its measure (Smyth 2004), by as many degrees of freedom as those rows agree, and is
//! never lowered by it: rows of a run that move together say less than their number. Student's t
//! gives figure, interval and verdict; Holm's correction is over the rows at half of the level, and
//! over the changes that rows have in common at the other half.

use crate::gamma::{digamma, inverse_trigamma, trigamma};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewer runs a side than this come to no verdict: two say next to nothing of how runs scatter.
pub const FEWEST_RUNS: usize = 3;

/// Runs a side from which a slope over them is taken out.
const SLOPE_FROM: usize = 5;

/// What is kept of the level for the drawn variance being an approximation.
const KEPT: f64 = 0.9;

/// The least variance of logarithms: values that repeat themselves to the last digit scatter, too.
const LEAST: f64 = 1e-12;

/// Autocorrelation is taken for real where independent values show as much once in a hundred rows.
const Z_OF_ONE_IN_A_HUNDRED: f64 = 2.326;

/// The values of a row, one of each run.
pub struct Runs<'v> {
    /// Those of the base and of the other side, in the order in which they were made.
    pub sides: [&'v [f64]; 2],
    /// The step of the counter in the unit of the values; 0 where it is not known.
    pub tick: f64,
}

/// What the values of a row say of its change.
#[derive(Clone, Copy, Debug)]
pub struct Tested {
    /// The logarithm of the ratio, or the difference where values have no logarithm.
    pub change: f64,
    /// Its interval, as strict as the row's test was.
    pub interval: [f64; 2],
    /// The p-value, corrected for all rows or all common changes.
    pub p: f64,
    /// True if it is below the level.
    pub differs: bool,
    /// The size of a change that would have been told in 80 of 100.
    pub seen_from: f64,
    /// True if change, interval and size are of logarithms.
    pub is_ratio: bool,
}

/// The rows of a measure.
pub struct TestedMeasure {
    /// Each row's, in the order given; `None` of fewer than [`FEWEST_RUNS`] runs on a side.
    pub rows: Vec<Option<Tested>>,
    /// What the rows have in common, run against run; `None` of fewer than two rows.
    pub common: Option<Tested>,
}

/// Tests the rows of each measure at a level of false alarms in the whole, from 0 to 1.
pub fn test(measures: &[Vec<Runs<'_>>], level: f64) -> Vec<TestedMeasure> {
    let mut rows: Vec<Vec<Option<Scatter>>> = measures
        .iter()
        .map(|rows| rows.iter().map(Scatter::new).collect())
        .collect();
    let mut common: Vec<Option<Scatter>> = rows.iter().map(|rows| in_common(rows)).collect();
    rows.iter_mut().for_each(|rows| draw_together(rows));
    let shared = if common.iter().any(Option::is_some) {
        2.0
    } else {
        1.0
    };
    let level = KEPT * level / shared;
    let mut tested = judge(rows.iter().flatten().flatten(), level).into_iter();
    let mut tested_common = judge(common.iter().flatten(), level).into_iter();
    let measure = |(rows, common): (&Vec<Option<Scatter>>, &mut Option<Scatter>)| TestedMeasure {
        rows: rows
            .iter()
            .map(|row| row.as_ref().and_then(|_| tested.next()))
            .collect(),
        common: common.as_ref().and_then(|_| tested_common.next()),
    };
    rows.iter().zip(&mut common).map(measure).collect()
}

/// Tests pairs, as of one seed or one round, by the ratio in each; `None` of fewer than
/// [`FEWEST_RUNS`] or of values without logarithms.
pub fn test_pairs(pairs: &[[f64; 2]], level: f64) -> Option<Tested> {
    let ratios: Vec<f64> = pairs
        .iter()
        .map(|[base, other]| (other / base).ln())
        .collect();
    let is_usable = ratios.len() >= FEWEST_RUNS && ratios.iter().all(|ratio| ratio.is_finite());
    let scatter = Scatter {
        by: mean(&ratios),
        residuals: Vec::new(),
        variance: (squares(&about_mean(&ratios)) / (ratios.len() as f64 - 1.0)).max(LEAST),
        freedom: ratios.len() as f64 - 1.0,
        factor: 1.0 / ratios.len() as f64,
        is_ratio: true,
        logs: Default::default(),
    };
    is_usable.then(|| judge(std::iter::once(&scatter), level).remove(0))
}

/// A row's change, and how its runs scatter about their sides.
struct Scatter {
    by: f64,
    /// Of both sides, one behind the other.
    residuals: Vec<f64>,
    variance: f64,
    freedom: f64,
    /// The variance of a difference of means as a multiple of a run's.
    factor: f64,
    is_ratio: bool,
    logs: [Vec<f64>; 2],
}

impl Scatter {
    fn new(row: &Runs<'_>) -> Option<Self> {
        let enough = row.sides.iter().all(|values| values.len() >= FEWEST_RUNS);
        let all = || row.sides.iter().flat_map(|values| values.iter());
        if !enough || !all().all(|value| value.is_finite()) {
            return None;
        }
        let is_ratio = all().all(|value| *value > 0.0);
        let scaled = row.sides.map(|values| -> Vec<f64> {
            values
                .iter()
                .map(|value| if is_ratio { value.ln() } else { *value })
                .collect()
        });
        // Both stamps of a span are rounded to a tick.
        let size = if is_ratio {
            mean(&all().copied().collect::<Vec<_>>())
        } else {
            1.0
        };
        Some(Self::of_scaled(
            scaled,
            (row.tick / size).powi(2) / 6.0,
            is_ratio,
        ))
    }

    fn of_scaled(sides: [Vec<f64>; 2], least: f64, is_ratio: bool) -> Self {
        let counts = sides.each_ref().map(|side| side.len() as f64);
        let mut residuals: Vec<f64> = sides.iter().flat_map(|side| about_mean(side)).collect();
        let mut freedom = counts[0] + counts[1] - 2.0;
        if sides.iter().all(|side| side.len() >= SLOPE_FROM) {
            let places: Vec<f64> = sides
                .iter()
                .flat_map(|side| about_mean(&(0..side.len()).map(|n| n as f64).collect::<Vec<_>>()))
                .collect();
            let slope = product(&residuals, &places) / squares(&places);
            for (residual, place) in residuals.iter_mut().zip(&places) {
                *residual -= slope * place;
            }
            freedom -= 1.0;
        }
        let per = values_per_independent(&residuals, sides.each_ref().map(Vec::len));
        Self {
            by: mean(&sides[1]) - mean(&sides[0]),
            variance: (squares(&residuals) / freedom).max(least).max(LEAST),
            residuals,
            freedom,
            factor: per * (1.0 / counts[0] + 1.0 / counts[1]),
            is_ratio,
            logs: if is_ratio { sides } else { Default::default() },
        }
    }

    fn student(&self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.freedom).ok()
    }

    fn error(&self) -> f64 {
        (self.variance * self.factor).sqrt()
    }

    fn p(&self) -> f64 {
        let t = self.by.abs() / self.error();
        self.student()
            .map_or(1.0, |student| (2.0 * student.cdf(-t)).min(1.0))
    }
}

/// How many values say as much as one that is independent of the others, by the autocorrelation of
/// residuals at distance 1; 1 where independent values would often show as much. The process is
/// taken for autoregressive of order 1, whose estimate is too low in short samples (Marriott and
/// Pope 1954). A multiple of the variance, so that no change is too large to be told.
fn values_per_independent(residuals: &[f64], counts: [usize; 2]) -> f64 {
    let shortest = counts[0].min(counts[1]) as f64;
    let sides = residuals.split_at(counts[0]);
    let lag: f64 = [sides.0, sides.1]
        .iter()
        .map(|side| product(side, side.get(1..).unwrap_or_default()))
        .sum::<f64>()
        / squares(residuals).max(f64::MIN_POSITIVE);
    // Mean and slope taken out leave each side a little below 0.
    let is_real = (lag + 2.0 / shortest) * (residuals.len() as f64).sqrt() > Z_OF_ONE_IN_A_HUNDRED;
    if shortest < 8.0 || !is_real {
        return 1.0;
    }
    let phi = ((shortest * lag + 2.0) / (shortest - 4.0)).clamp(0.0, 0.99);
    ((1.0 + phi) / (1.0 - phi)).min(shortest / 2.0)
}

/// The rows of ratios that every run has, which alone can be set against each other.
fn whole(rows: &[Option<Scatter>]) -> Vec<&Scatter> {
    let of_ratios = || rows.iter().flatten().filter(|row| row.is_ratio);
    let most = of_ratios()
        .map(|row| row.residuals.len())
        .max()
        .unwrap_or(0);
    of_ratios()
        .filter(|row| row.residuals.len() == most)
        .collect()
}

/// What rows have in common: a row of the runs' means over them.
fn in_common(rows: &[Option<Scatter>]) -> Option<Scatter> {
    let whole = whole(rows);
    let first = whole.first().filter(|_| whole.len() > 1)?;
    let sides = [0, 1].map(|side| -> Vec<f64> {
        (0..first.logs[side].len())
            .map(|run| {
                whole.iter().map(|row| row.logs[side][run]).sum::<f64>() / whole.len() as f64
            })
            .collect()
    });
    Some(Scatter::of_scaled(sides, 0.0, true))
}

/// Draws the variances of rows towards what they have in common.
fn draw_together(rows: &mut [Option<Scatter>]) {
    let Some((freedom, variance)) = prior(&whole(rows)) else {
        return;
    };
    for row in rows.iter_mut().flatten().filter(|row| row.is_ratio) {
        let drawn = (freedom * variance + row.freedom * row.variance) / (freedom + row.freedom);
        // No row is surer than its own runs make it.
        row.variance = row.variance.max(drawn);
        row.freedom += freedom;
    }
}

/// The degrees of freedom and the variance that the rows of a measure lend each other.
fn prior(rows: &[&Scatter]) -> Option<(f64, f64)> {
    let count = rows.len() as f64;
    let own = rows.first().filter(|_| rows.len() > 1)?.freedom;
    let alike = ((correlation(rows) - 1.0 / own) / (1.0 - 1.0 / own)).clamp(0.0, 1.0);
    let most = (own * (count / (1.0 + (count - 1.0) * alike) - 1.0) / 2.0).max(0.0);
    let half = own / 2.0;
    let logs: Vec<f64> = rows
        .iter()
        .map(|row| row.variance.ln() - digamma(half) + half.ln())
        .collect();
    // Variances of few rows may agree by chance: they are taken to differ by a standard error more.
    let spread = squares(&about_mean(&logs)) / (count - 1.0) * (1.0 + (2.0 / (count - 1.0)).sqrt())
        - trigamma(half);
    let wanted = if spread > 1e-3 {
        2.0 * inverse_trigamma(spread)
    } else {
        f64::INFINITY
    };
    let plain = rows.iter().map(|row| row.variance).sum::<f64>() / count;
    if most <= 0.0 {
        return None;
    }
    Some(if wanted < most {
        let half = wanted / 2.0;
        (wanted, (mean(&logs) + digamma(half) - half.ln()).exp())
    } else {
        (most, plain)
    })
}

/// The mean of the squared correlations of the residuals of all pairs of rows, from 0 to 1.
fn correlation(rows: &[&Scatter]) -> f64 {
    let count = rows.len() as f64;
    let unit: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let length = squares(&row.residuals).sqrt().max(f64::MIN_POSITIVE);
            row.residuals.iter().map(|it| it / length).collect()
        })
        .collect();
    // The sum over pairs of rows is that over pairs of runs: the smaller of the two is taken.
    let runs = unit[0].len();
    let all = if rows.len() <= runs {
        sum_of_squares(rows.len(), |a, b| product(&unit[a], &unit[b]))
    } else {
        sum_of_squares(runs, |a, b| unit.iter().map(|row| row[a] * row[b]).sum())
    };
    ((all - count) / (count * (count - 1.0))).clamp(0.0, 1.0)
}

/// The sum of the squares of a symmetrical matrix.
fn sum_of_squares(size: usize, of: impl Fn(usize, usize) -> f64) -> f64 {
    let row = |a: usize| {
        let beside: f64 = (0..a).map(|b| of(a, b).powi(2)).sum();
        of(a, a).powi(2) + 2.0 * beside
    };
    (0..size).map(row).sum()
}

/// Holm's correction, and for each change an interval as strict as its test: it holds 0 where the
/// change is not told, and else it does not.
fn judge<'s>(changes: impl Iterator<Item = &'s Scatter>, level: f64) -> Vec<Tested> {
    let changes: Vec<(&Scatter, f64)> = changes.map(|change| (change, change.p())).collect();
    let mut order: Vec<usize> = (0..changes.len()).collect();
    order.sort_by(|&a, &b| changes[a].1.total_cmp(&changes[b].1));
    let (mut largest, mut strict, mut open) = (0.0_f64, 0.0, false);
    let mut tested = vec![None; changes.len()];
    for (rank, &place) in order.iter().enumerate() {
        let (change, p) = changes[place];
        let left = (changes.len() - rank) as f64;
        largest = largest.max((p * left).min(1.0));
        if !open {
            (strict, open) = (left, largest >= level);
        }
        tested[place] = Some(change.tested(largest, level, [strict, changes.len() as f64]));
    }
    tested.into_iter().flatten().collect()
}

impl Scatter {
    /// By a corrected p-value and a level, which is shared by so many tests in the interval and so
    /// many in a change that is to be seen.
    fn tested(&self, p: f64, level: f64, tests: [f64; 2]) -> Tested {
        let quantile = |tail: f64| match self.student() {
            Some(student) => -student.inverse_cdf(tail.max(1e-15)),
            None => f64::INFINITY,
        };
        let error = self.error();
        let half = quantile(level / tests[0] / 2.0) * error;
        // Of few degrees the variance that is found is mostly below the true one.
        let short = (1.0 - 2.0 / (9.0 * self.freedom)).powi(3).sqrt().recip();
        Tested {
            change: self.by,
            interval: [self.by - half, self.by + half],
            p,
            differs: p < level,
            seen_from: (quantile(level / tests[1] / 2.0) + quantile(0.1)) * error * short,
            is_ratio: self.is_ratio,
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn about_mean(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|value| value - mean).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn squares(values: &[f64]) -> f64 {
    product(values, values)
}
