//! The values that are read from a recording of `rcu-energy`: benefits over draws, with the
//! published ones beside.

use super::values::{Measured, Values, at};
use findings::Run;
use published::EnergyReference;
use recording::facts;
use recording::stats;
use serde::Serialize;

/// The configuration that others are compared with.
pub(super) const REFERENCE: &str = "reference";
/// The reference where nobody queues callbacks.
const SILENT: &str = "no-callbacks";
/// The owners of what RCU takes.
const OF_RCU: [&str; 3] = ["callbacks", "tick for RCU", "RCU threads"];
/// The configurations that are compared with it.
pub(super) const CONFIGURATIONS: [&str; 3] = ["rcu-offload", "enforced-idle", "both"];

/// A range that holds 95 % of the draws, and their median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Interval {
    /// Of some values; `None` if there are none.
    pub(super) fn new(values: &[f64]) -> Option<Self> {
        let quantile = |q| stats::quantile(values, q);
        Some(Self { low: quantile(0.025)?, median: quantile(0.5)?, high: quantile(0.975)? })
    }

    /// The interval in another unit.
    pub(super) fn times(self, factor: f64) -> Self {
        Self { low: factor * self.low, median: factor * self.median, high: factor * self.high }
    }

    /// True if a value lies within.
    pub(super) fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// True if zero lies outside.
    pub(super) fn excludes_zero(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// A benchmark in a configuration.
pub(super) struct EnergyCell<'r> {
    pub(super) benchmark: &'r str,
    pub(super) configuration: &'static str,
    /// True if there are draws from the ranges: seeds of one point make no sign certain.
    drawn: bool,
    /// In units of the platform's table times seconds.
    pub(super) energy: Interval,
    pub(super) time: Interval,
    /// In percent of the reference; `None` in the reference itself.
    pub(super) benefit: Option<Interval>,
    pub(super) time_benefit: Option<Interval>,
    /// Of the central point: the least, the median and the most over its seeds.
    pub(super) central: Option<[f64; 3]>,
    pub(super) published: Option<Published>,
    /// The number of draws in which more is saved than RCU costs there (or than nothing, where it
    /// costs less) and the spread of the seeds, there or at the central point; and by how much at
    /// most, in points.
    pub(super) beyond_bound: (usize, f64),
    /// The unknown that goes most with the benefit, with Spearman's coefficient.
    pub(super) decides: Option<(&'r str, f64)>,
}

/// The published value of a cell.
#[derive(Clone, Copy)]
pub(super) struct Published {
    pub(super) energy_j: f64,
    pub(super) time_s: f64,
    pub(super) benefit: Option<f64>,
    pub(super) time_benefit: Option<f64>,
}

/// A benchmark in its reference.
pub(super) struct Bench<'r> {
    pub(super) name: &'r str,
    pub(super) busy: bool,
    /// Power of the reference, in units.
    pub(super) power: Interval,
    pub(super) published_power: Option<f64>,
    /// The cost of RCU as a whole: the reference less the same without callbacks, in percent of the
    /// reference.
    pub(super) bound: Interval,
    /// In how many draws RCU costs less than nothing, and how much less at most, in percent of the
    /// reference.
    pub(super) helps: (usize, f64),
    /// The share of RCU's owners in the reference's energy, in percent.
    pub(super) owned: Interval,
}

impl EnergyCell<'_> {
    /// `certain` or `undecided`; `None` in the reference and where nothing was drawn.
    pub(super) fn verdict(&self) -> Option<&'static str> {
        let benefit = self.benefit.filter(|_| self.drawn)?;
        Some(if benefit.excludes_zero() { "certain" } else { "undecided" })
    }

    /// True if the sign is certain and the published one is the other.
    pub(super) fn is_wrong(&self) -> bool {
        let published = self.published.and_then(|published| published.benefit);
        match (self.benefit, published) {
            (Some(benefit), Some(published)) if self.drawn => {
                benefit.excludes_zero() && (benefit.median > 0.0) != (published > 0.0)
            }
            _ => false,
        }
    }
}

/// Everything that the story tells.
pub(super) struct Energy<'r> {
    pub(super) benches: Vec<Bench<'r>>,
    pub(super) cells: Vec<EnergyCell<'r>>,
    /// Watts per unit.
    pub(super) scale: Option<f64>,
    /// The mode that intervals are over: draws, or the central point's seeds where nothing was
    /// drawn.
    pub(super) mode: &'static str,
    /// The number of those in it.
    pub(super) count: usize,
    pub(super) reference: Option<&'r EnergyReference>,
}

impl<'r> Energy<'r> {
    pub(super) fn new(run: &Run<'r>, measured: &Measured<'r>, benchmarks: &[facts::Benchmark]) -> Self {
        let recording = run.recording;
        let reference = run.published.energy.as_ref();
        let platform = recording.header.platform.as_ref();
        let reference = reference.filter(|of| platform.is_some_and(|platform| platform.name == of.platform));
        let Measured { energy, time, unknowns, .. } = measured;
        let owned: Vec<&Values<'_>> =
            measured.owned.iter().filter(|(owner, _)| OF_RCU.contains(owner)).map(|(_, values)| values).collect();
        let mode = if recording.header.iterations > 0 { "draws" } else { "central" };
        let mut benches = Vec::new();
        let mut cells = Vec::new();
        for benchmark in benchmarks {
            // The name as the rows have it; a benchmark without rows is none.
            let Some([name, ..]) = energy.keys().find(|[case, ..]| *case == benchmark.name).copied() else { continue };
            let of = |configuration| at(energy, name, configuration, mode);
            let all = of(REFERENCE);
            let powers: Vec<f64> =
                all.iter().zip(at(time, name, REFERENCE, mode)).map(|(energy, time)| energy / time).collect();
            let shares: Vec<f64> = (0..all.len())
                .map(|draw| {
                    let part =
                        |values: &&Values<'_>| at(values, name, REFERENCE, mode).get(draw).copied().unwrap_or(0.0);
                    100.0 * owned.iter().map(part).sum::<f64>() / all[draw]
                })
                .collect();
            let bounds = saved(all, of(SILENT));
            let (Some(power), Some(bound), Some(owned)) =
                (Interval::new(&powers), Interval::new(&bounds), Interval::new(&shares))
            else {
                continue;
            };
            let central = |configuration| at(energy, name, configuration, "central");
            let bound_spread = spread(&saved(central(REFERENCE), central(SILENT)));
            benches.push(Bench {
                helps: above_zero(bounds.iter().map(|bound| -bound)),
                name,
                busy: benchmark.busy,
                power,
                published_power: reference.and_then(|reference| reference.power(name)),
                bound,
                owned,
            });
            for configuration in std::iter::once(REFERENCE).chain(CONFIGURATIONS) {
                let is_reference = configuration == REFERENCE;
                let times = at(time, name, configuration, mode);
                let (Some(energies), Some(lengths)) = (Interval::new(of(configuration)), Interval::new(times)) else {
                    continue;
                };
                let benefits = saved(all, of(configuration));
                let at_centre = saved(central(REFERENCE), central(configuration));
                let extreme = |choose: fn(f64, f64) -> f64| at_centre.iter().copied().reduce(choose);
                let spread = spread(&at_centre) + bound_spread;
                let beyond = benefits.iter().zip(&bounds).enumerate().map(|(draw, (&benefit, &bound))| {
                    points_beyond(
                        benefit,
                        bound,
                        spread_of_seeds(measured, name, configuration, draw, [benefit, bound]).unwrap_or(spread),
                    )
                });
                let beyond = above_zero(beyond.filter(|_| !is_reference));
                let middle = extreme(f64::min).zip(stats::median(&at_centre)).zip(extreme(f64::max));
                let figure = reference.and_then(|reference| reference.figure(name, configuration));
                cells.push(EnergyCell {
                    benchmark: name,
                    configuration,
                    drawn: mode == "draws",
                    energy: energies,
                    time: lengths,
                    benefit: Interval::new(&benefits).filter(|_| !is_reference),
                    time_benefit: Interval::new(&saved(at(time, name, REFERENCE, mode), times))
                        .filter(|_| !is_reference),
                    central: middle.map(|((least, median), most)| [least, median, most]).filter(|_| !is_reference),
                    published: figure.map(|figure| Published {
                        energy_j: figure.energy_j,
                        time_s: figure.time_s,
                        benefit: figure.printed_energy_benefit_percent,
                        time_benefit: figure.printed_time_benefit_percent,
                    }),
                    beyond_bound: beyond,
                    decides: unknowns
                        .iter()
                        .filter(|_| !is_reference)
                        .filter_map(|(unknown, values)| Some((*unknown, spearman(values, &benefits)?)))
                        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())),
                });
            }
        }
        let scale = reference.and_then(|reference| {
            let bench = benches.iter().find(|bench| bench.name == reference.scale)?;
            Some(bench.published_power? / bench.power.median)
        });
        let count = benches.first().map_or(0, |bench| at(energy, bench.name, REFERENCE, mode).len());
        Self { benches, cells, scale, mode, count, reference }
    }

    pub(super) fn bench(&self, name: &str) -> Option<&Bench<'r>> {
        self.benches.iter().find(|bench| bench.name == name)
    }

    /// True if a figure of the reference gave the scale.
    pub(super) fn used_in_fit(&self, cell: &EnergyCell<'_>) -> bool {
        cell.configuration == REFERENCE && self.reference.is_some_and(|reference| reference.scale == cell.benchmark)
    }

    /// True if a published benefit is more than what RCU costs at all in 97.5 % of the draws.
    pub(super) fn exceeds(&self, cell: &EnergyCell<'_>) -> Option<bool> {
        let published = cell.published?.benefit?;
        Some(published > self.bench(cell.benchmark)?.bound.high)
    }
}

/// The spread of the seeds of a draw in what a configuration saves and in what RCU costs, together,
/// in points; `own` is both with the draw's own seed. `None` where no other seeds were run.
fn spread_of_seeds<'a>(
    measured: &Measured<'a>,
    benchmark: &'a str,
    configuration: &'a str,
    draw: usize,
    own: [f64; 2],
) -> Option<f64> {
    let of = |configuration: &'a str| measured.reseeded.get(&(benchmark, configuration, draw as u32));
    let reference = of(REFERENCE)?;
    let width = |other: &[f64], own: f64| {
        let mut all = saved(reference, other);
        all.push(own);
        spread(&all)
    };
    Some(width(of(configuration)?, own[0]) + width(of(SILENT)?, own[1]))
}

/// By how many points more is saved than RCU costs and the seeds spread. Where RCU costs less than
/// nothing, nothing is saved below 0 %.
fn points_beyond(benefit: f64, bound: f64, spread: f64) -> f64 {
    benefit - bound.max(0.0) - spread
}

/// The number of values that are above zero, and the highest of them; 0 where none is.
fn above_zero(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values.filter(|value| *value > 0.0).fold((0, 0.0), |(count, most), value| (count + 1, value.max(most)))
}

/// From the least to the most; 0 where there is nothing.
fn spread(values: &[f64]) -> f64 {
    let extreme = |choose: fn(f64, f64) -> f64| values.iter().copied().reduce(choose);
    extreme(f64::max).zip(extreme(f64::min)).map_or(0.0, |(most, least)| most - least)
}

/// Percent of the first that the second is less by, pair by pair.
pub(super) fn saved(of: &[f64], less: &[f64]) -> Vec<f64> {
    of.iter().zip(less).map(|(of, less)| 100.0 * (1.0 - less / of)).collect()
}

/// Spearman's rank correlation; `None` where one side never differs.
pub(super) fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 3 {
        return None;
    }
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

/// Ranks from 1; equal values share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut at = 0;
    while at < order.len() {
        let same = order[at..].iter().take_while(|&&other| values[other] == values[order[at]]).count();
        for &place in &order[at..at + same] {
            ranks[place] = at as f64 + (same as f64 + 1.0) / 2.0;
        }
        at += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_are_equal_are_shared() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 100.0, 1000.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
        let tied = spearman(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((tied - 0.75_f64.sqrt()).abs() < 1e-12, "{tied}");
    }

    #[test]
    fn a_benefit_is_beyond_what_rcu_costs_only_where_something_is_saved() {
        assert_eq!(points_beyond(7.0, 4.0, 1.0), 2.0);
        assert_eq!(points_beyond(4.0, 4.0, 1.0), -1.0);
        // RCU's ticks save ten points here, and the configuration, which has fewer of them, takes
        // more energy: no benefit.
        assert_eq!(points_beyond(-1.0, -10.0, 2.0), -3.0);
        assert_eq!(above_zero([-3.0, 2.0, 0.0, 5.0].into_iter()), (2, 5.0));
        assert_eq!(above_zero([-3.0].into_iter()), (0, 0.0));
    }

    #[test]
    fn an_interval_excludes_zero_on_either_side() {
        let interval = |low, high| Interval { low, median: 0.0, high };
        assert!(interval(0.1, 2.0).excludes_zero() && interval(-2.0, -0.1).excludes_zero());
        assert!(!interval(0.0, 2.0).excludes_zero() && !interval(-1.0, 1.0).excludes_zero());
    }
}
