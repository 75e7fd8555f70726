//! The medians of `rcu-energy` beside predictors that know nothing of RCU.

use super::cells::{Energy, spearman};
use recording::stats;
use serde::Serialize;

/// A predictor of the published benefits, and how near it comes.
#[derive(Serialize)]
pub(super) struct Predictor {
    pub(super) name: &'static str,
    /// The number of its parameters that were fitted to the published benefits.
    #[serde(rename = "fitted_to_published_benefits")]
    pub(super) fitted: usize,
    /// In points of benefit.
    #[serde(rename = "rms_points")]
    pub(super) rms: f64,
    /// `None` where it says the same of all.
    pub(super) spearman: Option<f64>,
}

struct Pair {
    predicted: f64,
    published: f64,
    power: f64,
    busy: bool,
}

/// All predictors, the nearest first; none where nothing was published.
pub(super) fn predictors(energy: &Energy<'_>) -> Vec<Predictor> {
    let pairs: Vec<Pair> = energy
        .cells
        .iter()
        .filter_map(|cell| {
            let bench = energy.bench(cell.benchmark)?;
            Some(Pair {
                predicted: cell.benefit?.median,
                published: cell.published?.benefit?,
                power: bench.published_power?,
                busy: bench.busy,
            })
        })
        .collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let published: Vec<f64> = pairs.iter().map(|pair| pair.published).collect();
    let mean = |wanted: Option<bool>| {
        let of = pairs.iter().filter(|pair| wanted.is_none_or(|busy| pair.busy == busy));
        stats::mean(&of.map(|pair| pair.published).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let (all, busy, rest) = (mean(None), mean(Some(true)), mean(Some(false)));
    // The least squares of published = k / power.
    let k = pairs.iter().map(|pair| pair.published / pair.power).sum::<f64>()
        / pairs.iter().map(|pair| pair.power.powi(-2)).sum::<f64>();
    let of = |name, fitted, predict: &dyn Fn(&Pair) -> f64| {
        let predicted: Vec<f64> = pairs.iter().map(predict).collect();
        let errors: Vec<f64> =
            predicted.iter().zip(&published).map(|(predicted, published)| predicted - published).collect();
        let rms = stats::rms(&errors).unwrap_or(0.0);
        Predictor { name, fitted, rms, spearman: spearman(&predicted, &published) }
    };
    let mut predictors = vec![
        of("medians of the draws", 0, &|pair| pair.predicted),
        of("nothing is saved", 0, &|_| 0.0),
        of("best constant", 1, &|_| all),
        of("k / reference power", 1, &|pair| k / pair.power),
        of("a constant per class", 2, &|pair| if pair.busy { busy } else { rest }),
    ];
    predictors.sort_by(|a, b| a.rms.total_cmp(&b.rms));
    predictors
}

/// The predictor that orders the benefits best; the first of equals.
pub(super) fn best_order(predictors: &[Predictor]) -> Option<&Predictor> {
    let ordered = predictors.iter().filter(|predictor| predictor.spearman.is_some());
    ordered.reduce(|best, other| if other.spearman > best.spearman { other } else { best })
}
