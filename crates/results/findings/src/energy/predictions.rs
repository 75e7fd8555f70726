//! The medians beside predictors that know nothing of RCU.

use super::cells::Cells;
use super::statistics::spearman;
use evidence::Leaders;
use recording::stats;
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

struct Pair {
    predicted: f64,
    published: f64,
    power: f64,
    busy: bool,
}

/// All predictors, the nearest first; none where nothing was published.
pub(super) fn predictors(cells: &Cells<'_>) -> Vec<Predictor> {
    let pairs: Vec<Pair> = cells
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
        .collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let published: Vec<f64> = pairs.iter().map(|pair| pair.published).collect();
    let mean = |wanted: Option<bool>| {
        let of = pairs
            .iter()
            .filter(|pair| wanted.is_none_or(|busy| pair.busy == busy));
        stats::mean(&of.map(|pair| pair.published).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let (all, busy, rest) = (mean(None), mean(Some(true)), mean(Some(false)));
    // The least squares of published = k / power.
    let k = pairs
        .iter()
        .map(|pair| pair.published / pair.power)
        .sum::<f64>()
        / pairs.iter().map(|pair| pair.power.powi(-2)).sum::<f64>();
    let of = |name, fitted, predict: &dyn Fn(&Pair) -> f64| {
        let predicted: Vec<f64> = pairs.iter().map(predict).collect();
        let errors: Vec<f64> = predicted
            .iter()
            .zip(&published)
            .map(|(predicted, published)| predicted - published)
            .collect();
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
    predictors.sort_by(|a, b| a.rms.total_cmp(&b.rms));
    predictors
}

/// The predictor that is nearest, and the one that orders the benefits best; `None` where figures
/// do not tell one from the others.
pub(super) fn best(predictors: &[Predictor]) -> [Option<&'static str>; 2] {
    let nearest = Leaders::least(predictors, |predictor| Some([predictor.rms; 2]));
    let order = Leaders::most(predictors, |predictor| Some([predictor.spearman?; 2]));
    [nearest, order].map(|of| Some(of?.alone()?.name))
}
