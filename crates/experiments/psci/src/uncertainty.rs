//! Uncertainty in simulated figures, drawn: the costs, within what their fit leaves open, and what
//! the fit leaves over.

use crate::timer_owners::Owner;
use engine::SplitMix64;
use itertools::Itertools;
use recording::{Interval, Recording, TimerMode, place_of};
use serde::Deserialize;
use soc::config::Costs;
use std::collections::BTreeMap;

/// The uncertainty of the costs of a release, as their file says it. Empty for costs that were not
/// fitted: nothing is drawn then.
#[derive(Default, Deserialize)]
pub struct Uncertainty {
    #[serde(rename = "uncertainty")]
    costs: OfCosts,
    /// Other values of all keys that fit the cells alike.
    #[serde(rename = "valley", default)]
    valleys: Vec<Valley>,
    gate: Gate,
}

/// What the fit leaves open of the costs.
#[derive(Default, Deserialize)]
struct OfCosts {
    keys: Vec<String>,
    /// The lower triangle of a factor of the covariance, by rows, in microseconds or as a share.
    factor: Vec<Vec<f64>>,
    /// The error that the fit grants a cell, as a part of its value and in microseconds.
    granted: [f64; 2],
}

/// One of the places in which the costs fit alike.
#[derive(Deserialize)]
struct Valley {
    /// The costs, in microseconds or as a share.
    values: Vec<f64>,
}

/// How well the fit does.
#[derive(Default, Deserialize)]
struct Gate {
    /// Residuals of the fit, as a multiple of what a cell is granted.
    weighted_rms: f64,
}

/// The ends of a 90 % interval among sorted draws.
const ENDS: (f64, f64) = (0.05, 0.95);

impl Uncertainty {
    /// Reads it from a costs file; empty if the file says nothing of a fit.
    pub fn new(costs: &toml::Table) -> Self {
        let fit = costs.get("fit").cloned();
        fit.and_then(|fit| fit.try_into().ok()).unwrap_or_default()
    }

    /// Moves costs by a draw. A cost ends at 0. Where other costs fit alike, half of the draws
    /// begin from those: the cells do not say which they are.
    pub(crate) fn draw(&self, costs: &mut Costs, seed: u64) {
        let mut random = SplitMix64::fork(seed, 1);
        let OfCosts { keys, factor, .. } = &self.costs;
        let normals = keys.iter().map(|_| normal(&mut random)).collect_vec();
        // A stream of its own, beside those of the costs and of what the fit leaves over.
        let valley = match self.valleys.len() {
            0 => None,
            count => self
                .valleys
                .get(SplitMix64::fork(seed, 3).next() as usize % (2 * count)),
        };
        for (place, (key, row)) in keys.iter().zip(factor).enumerate() {
            let moved: f64 = row
                .iter()
                .zip(&normals)
                .map(|(part, normal)| part * normal)
                .sum();
            if let Some(cost) = costs.cost_mut(key) {
                let from = valley
                    .and_then(|valley| valley.values.get(place))
                    .map_or(*cost as f64, |value| value * 1e6);
                *cost = (from + moved * 1e6).max(0.0).round() as u64;
            }
        }
    }

    /// The rest that the fit leaves of a value in microseconds, drawn.
    pub(crate) fn left_over(&self, value: f64, random: &mut SplitMix64) -> f64 {
        let [part, least] = self.costs.granted;
        (part * value).max(least) * self.gate.weighted_rms.max(1.0) * normal(random)
    }
}

/// A number that is as good as normal: the sum of twelve uniform ones, which needs no mathematical
/// library.
fn normal(random: &mut SplitMix64) -> f64 {
    let sum: u64 = (0..12).map(|_| random.next() >> 12).sum();
    sum as f64 / (1u64 << 52) as f64 - 6.0
}

/// The ends and the middle of a 90 % interval of draws.
fn ends(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let at =
        |part: f64, round: fn(f64) -> f64| values[round((values.len() - 1) as f64 * part) as usize];
    [
        at(ENDS.0, f64::floor).max(0.0),
        at(0.5, f64::round),
        at(ENDS.1, f64::ceil),
    ]
}

/// Intervals of every cell, from draws that a recording each holds. Those with an owner are of its
/// mode: the first of them has the fitted costs, and those of the likeliest owner come first.
pub(crate) fn intervals(drawn: impl Iterator<Item = (Option<Owner>, Recording)>) -> Vec<Interval> {
    // Variant, case, mode, CPU and metric.
    type Place = (String, String, String, u16, String);
    type Draws = Vec<(Option<Owner>, Vec<f64>)>;
    let mut values: BTreeMap<Place, Draws> = BTreeMap::new();
    for (owner, part) in drawn {
        for measure in part.measures() {
            let Some(cpu) = measure.cpu else { continue };
            let (variant, case, mode) = part.series_texts(measure.series);
            let cell = values
                .entry((
                    variant.to_owned(),
                    case.to_owned(),
                    mode.to_owned(),
                    cpu,
                    part.text(measure.metric).to_owned(),
                ))
                .or_default();
            let at = place_of(
                cell,
                |(other, _)| *other == owner,
                || (owner.clone(), Vec::new()),
            );
            cell[at].1.push(measure.value);
        }
    }
    let interval = |((variant, case, mode, cpu, metric), drawn): (Place, Draws)| {
        let mut whole = (0, [0.0; 3]);
        let mut modes = Vec::new();
        for (owner, values) in drawn {
            let (draws, figure) = (values.len() as u32, values[0]);
            let [low, middle, high] = ends(values);
            match owner {
                Some(Owner { cpu, weight }) => modes.push(TimerMode {
                    timer: cpu,
                    weight,
                    figure,
                    low,
                    high,
                }),
                None => whole = (draws, [low, middle, high]),
            }
        }
        // Where one value is in all of them, the owner decides nothing.
        let highest_low = modes
            .iter()
            .map(|mode| mode.low)
            .fold(f64::NEG_INFINITY, f64::max);
        if modes.iter().all(|mode| mode.high >= highest_low) {
            modes.clear();
        }
        let (draws, [low, middle, high]) = whole;
        Interval {
            variant,
            case,
            mode,
            cpu,
            metric,
            low,
            high,
            middle,
            draws,
            modes,
        }
    };
    values.into_iter().map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Document;
    use soc::config::Platform;
    use std::path::Path;

    fn costs() -> (Costs, toml::Table) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
        let open = |name: &str| Document::open(&root.join(name)).unwrap();
        let platform = Platform::read(&open("juno-r1.toml")).unwrap();
        let document = open("juno-r1/costs/juno-v2.12.toml");
        (
            Costs::read(&document, &platform).unwrap(),
            toml::from_str(document.text()).unwrap(),
        )
    }

    #[test]
    fn costs_that_only_show_together_are_drawn_together() {
        let (fitted, table) = costs();
        let uncertainty = Uncertainty::new(&table);
        let drawn: Vec<Costs> = (0..400)
            .map(|seed| {
                let mut costs = fitted.clone();
                uncertainty.draw(&mut costs, seed);
                costs
            })
            .collect();
        let spread = |of: &dyn Fn(&Costs) -> f64| {
            let values: Vec<f64> = drawn.iter().map(of).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (values
                .iter()
                .map(|value| (value - mean).powi(2))
                .sum::<f64>()
                / values.len() as f64)
                .sqrt()
                / 1e6
        };
        // A wakeup's parts are not told apart; their sum is known well.
        let core = |costs: &Costs| costs.cores["cortex-a53"];
        let restore = spread(&|costs| core(costs).context_restore as f64);
        let sum = spread(&|costs| (core(costs).context_restore + core(costs).warm_reset) as f64);
        assert!(
            restore > 0.5 && sum < restore / 3.0,
            "{restore} and {sum} us"
        );
        assert!(spread(&|costs| costs.scp.take as f64) > 0.1);
    }

    /// Of two valleys that fit alike each is drawn in half of the draws.
    #[test]
    fn other_costs_that_fit_alike_are_drawn_as_well() {
        let (fitted, table) = costs();
        let mut uncertainty = Uncertainty::new(&table);
        let costs = &mut uncertainty.costs;
        let key = costs
            .keys
            .iter()
            .position(|key| key == "scp.core_on")
            .unwrap();
        costs.factor.iter_mut().for_each(|row| row.fill(0.0));
        let mut other: Vec<f64> = vec![1.0; costs.keys.len()];
        other[key] = 17.0;
        uncertainty.valleys = vec![Valley { values: other }];
        let drawn = (0..200).filter(|&seed| {
            let mut costs = fitted.clone();
            uncertainty.draw(&mut costs, seed);
            costs.scp.core_on == Some(17_000_000)
        });
        assert!((60..140).contains(&drawn.count()));
    }

    #[test]
    fn costs_that_nobody_fitted_are_not_drawn() {
        let (fitted, _) = costs();
        let mut same = fitted.clone();
        Uncertainty::new(&toml::Table::new()).draw(&mut same, 7);
        assert_eq!(same, fitted);
    }

    #[test]
    fn a_normal_number_has_the_mean_and_the_spread_of_one() {
        let mut random = SplitMix64::new(1);
        let numbers: Vec<f64> = (0..20_000).map(|_| normal(&mut random)).collect();
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        let variance = numbers
            .iter()
            .map(|number| (number - mean).powi(2))
            .sum::<f64>()
            / 20_000.0;
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03,
            "{mean} {variance}"
        );
        let beyond = numbers.iter().filter(|number| number.abs() > 1.645).count();
        assert!((1800..2200).contains(&beyond), "{beyond}");
    }
}
