//! The medians beside predictors that know nothing of RCU, and figures that no fit was made for.

use super::cells::{Cells, REFERENCE};
use super::measured::{EnergyMeasures, Values, at};
use super::statistics::spearman;
use crate::Interval;
use evidence::Leaders;
use itertools::Itertools;
use recording::{facts, stats, total_order};
use schemars::JsonSchema;
use serde::Serialize;

/// A predictor of the published benefits, and how near it comes.
#[derive(Serialize, JsonSchema)]
pub struct Predictor {
    /// The predictor, in words.
    pub name: &'static str,
    /// The number of its parameters that were fitted to the published benefits.
    #[serde(rename = "fitted_to_published_benefits")]
    pub fitted: usize,
    /// Root mean square of the errors, in points of benefit.
    #[serde(rename = "rms_points")]
    pub rms: f64,
    /// Spearman's rank correlation with the published benefits, from -1 to 1; `None` where it says
    /// the same of all.
    pub spearman: Option<f64>,
}

/// Figures that no fit was made for.
#[derive(Serialize, JsonSchema)]
pub struct UnfittedFigures<'r> {
    /// The power of andebench2's reference; `None` without published figures.
    pub andebench2_reference: Option<Power>,
    /// The power of sysbench's reference by its number of threads.
    pub sysbench_reference: Option<Sysbench>,
    /// Core energy of a callback on a big CPU over that on a LITTLE one.
    pub callback_core_energy_big_to_little: Option<f64>,
    /// Time of a callback on a LITTLE CPU over that on a big one.
    pub callback_time_little_to_big: Option<f64>,
    /// The talk's words about callbacks on LITTLE CPUs.
    pub talk_says: Option<&'r str>,
}

/// The power of a reference beside the published one, in watts.
#[derive(Serialize, JsonSchema)]
pub struct Power {
    /// Predicted power in watts.
    pub power_w: f64,
    /// Published power in watts.
    pub published_power_w: f64,
    /// Error against the published power in percent, signed.
    pub error_percent: f64,
    /// True if the error is at most 10 %.
    pub within_10_percent: bool,
}

/// The reference power of sysbench by its number of threads, which was not published.
#[derive(Serialize, JsonSchema)]
pub struct Sysbench {
    /// Power by number of threads.
    pub by_threads: Vec<ThreadPower>,
    /// Published power in watts.
    pub published_power_w: f64,
    /// True if the published power lies within all of them.
    pub covers_published: bool,
}

/// The power with a number of threads.
#[derive(Serialize, JsonSchema)]
pub struct ThreadPower {
    /// The number of threads.
    pub threads: f64,
    /// Power in watts over the draws.
    pub power_w: Interval,
}

struct Pair {
    predicted: f64,
    published: f64,
    power: f64,
    busy: bool,
}

/// All predictors, the nearest first; none where nothing was published.
pub fn predictors(cells: &Cells<'_>) -> Vec<Predictor> {
    let pairs = cells
        .cells
        .iter()
        .filter_map(|cell| {
            let reference = cells.reference(cell.benchmark)?;
            Some(Pair {
                predicted: cell.energy_benefit_percent?.median,
                published: cell.published_energy_benefit_percent?,
                power: reference.published_power_w?,
                busy: reference.busy,
            })
        })
        .collect_vec();
    if pairs.is_empty() {
        return Vec::new();
    }
    let published = pairs.iter().map(|pair| pair.published).collect_vec();
    let mean = |wanted: Option<bool>| {
        let of = pairs
            .iter()
            .filter(|pair| wanted.is_none_or(|busy| pair.busy == busy));
        stats::mean(&of.map(|pair| pair.published).collect_vec()).unwrap_or(0.0)
    };
    let (all, busy, rest) = (mean(None), mean(Some(true)), mean(Some(false)));
    // The least squares of published = k / power.
    let k = pairs
        .iter()
        .map(|pair| pair.published / pair.power)
        .sum::<f64>()
        / pairs.iter().map(|pair| pair.power.powi(-2)).sum::<f64>();
    let of = |name, fitted, predict: &dyn Fn(&Pair) -> f64| {
        let predicted = pairs.iter().map(predict).collect_vec();
        let errors = predicted
            .iter()
            .zip(&published)
            .map(|(predicted, published)| predicted - published)
            .collect_vec();
        let rms = stats::rms(&errors).unwrap_or(0.0);
        Predictor {
            name,
            fitted,
            rms,
            spearman: spearman(&predicted, &published),
        }
    };
    let mut predictors = vec![
        of("medians of the draws", 0, &|pair| pair.predicted),
        of("nothing is saved", 0, &|_| 0.0),
        of("best constant", 1, &|_| all),
        of("k / reference power", 1, &|pair| k / pair.power),
        of("a constant per class", 2, &|pair| {
            if pair.busy { busy } else { rest }
        }),
    ];
    predictors.sort_by_key(|of| total_order(of.rms));
    predictors
}

/// The predictor that is nearest, and the one that orders the benefits best; `None` where figures
/// do not tell one from the others.
pub fn best(predictors: &[Predictor]) -> [Option<&'static str>; 2] {
    let nearest = Leaders::least(predictors, |predictor| Some([predictor.rms; 2]));
    let order = Leaders::most(predictors, |predictor| Some([predictor.spearman?; 2]));
    [nearest, order].map(|of| Some(of?.alone()?.name))
}

/// Reads the figures.
pub fn read<'r>(
    measured: &EnergyMeasures<'r>,
    cells: &Cells<'r>,
    facts: &facts::Energy,
) -> UnfittedFigures<'r> {
    let watts = |name: &str| {
        let reference = cells.reference(name)?;
        let (scale, published) = (cells.scale?, reference.published_power_w?);
        Some((scale * reference.power_unit.median, published))
    };
    let second = watts("andebench2").map(|(predicted, published)| Power {
        power_w: predicted,
        published_power_w: published,
        error_percent: 100.0 * (predicted / published - 1.0),
        within_10_percent: (predicted / published - 1.0).abs() <= 0.1,
    });
    let threads = by_threads(measured, cells);
    let sysbench = watts("sysbench")
        .filter(|_| !threads.is_empty())
        .map(|(_, published)| {
            let powers = threads.iter().map(|of| &of.power_w);
            let [least, most] = stats::ends(powers.flat_map(|power| [power.low, power.high]));
            Sysbench {
                covers_published: least <= published && published <= most,
                published_power_w: published,
                by_threads: threads,
            }
        });
    let cores = facts.big.zip(facts.little);
    UnfittedFigures {
        andebench2_reference: second,
        sysbench_reference: sysbench,
        callback_core_energy_big_to_little: cores
            .map(|(big, little)| big.energy_unit_s / little.energy_unit_s),
        callback_time_little_to_big: cores.map(|(big, little)| 1.0 / (big.time_s / little.time_s)),
        talk_says: cells
            .published
            .map(|published| published.callbacks_on_little.as_str()),
    }
}

/// Reference power of sysbench in watts, by its number of threads: least, median and most of the
/// draws.
fn by_threads(measured: &EnergyMeasures<'_>, cells: &Cells<'_>) -> Vec<ThreadPower> {
    let unknowns = measured
        .unknowns
        .iter()
        .find(|(name, _)| *name == "sysbench.threads");
    let (Some(scale), Some((_, threads))) = (cells.scale, unknowns) else {
        return Vec::new();
    };
    let get = |values: &Values<'_>| at(values, "sysbench", REFERENCE, "draws").to_vec();
    let powers = get(&measured.energy)
        .iter()
        .zip(get(&measured.time))
        .map(|(energy, time)| scale * energy / time)
        .collect_vec();
    let kinds = threads.iter().copied().sorted_by(f64::total_cmp).dedup();
    let summary = |kind: f64| {
        let of = powers
            .iter()
            .zip(threads)
            .filter(|(_, other)| **other == kind)
            .map(|(power, _)| *power);
        Some(ThreadPower {
            threads: kind,
            power_w: Interval::of_all(&of.collect_vec())?,
        })
    };
    kinds.filter_map(summary).collect()
}
