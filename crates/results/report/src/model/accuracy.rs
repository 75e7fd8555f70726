//! How good predictions are.

use super::compared::Compared;
use recording::metrics::{CACHE_FLUSH, POWERDOWN, WAKEUP};
use recording::stats;

/// Errors of the predicted cells of a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Accuracy {
    /// The release.
    pub release: String,
    /// Which metrics: "powerdown and cache flush" or "wakeup".
    pub what: &'static str,
    /// Number of predicted cells in the parallel suspend tables.
    pub cells: usize,
    /// Median of the absolute errors, in percent.
    pub median_percent: f64,
    /// How many are within the larger of 10 % and 1 us.
    pub within: usize,
    /// The largest absolute error, in percent.
    pub worst_percent: f64,
}

/// Accuracy of every release that has published figures, over the predicted cells of its parallel suspend tables.
pub fn accuracy(compared: &[Compared]) -> Vec<Accuracy> {
    let mut releases: Vec<&str> = Vec::new();
    for cell in compared.iter().filter(|cell| cell.published.is_some()) {
        if !releases.contains(&cell.recorded.variant.as_str()) {
            releases.push(&cell.recorded.variant);
        }
    }
    let mut all = Vec::new();
    for release in releases {
        for (what, metrics) in
            [("powerdown and cache flush", &[POWERDOWN.name, CACHE_FLUSH.name][..]), ("wakeup", &[WAKEUP.name])]
        {
            let predicted = compared.iter().filter(|cell| {
                cell.recorded.variant == release
                    && cell.recorded.mode == "parallel"
                    && metrics.contains(&cell.recorded.metric.as_str())
                    && !cell.used_in_fit()
            });
            let mut errors = Vec::new();
            let mut within = 0;
            for cell in predicted {
                let (Some(error), Some(published)) = (cell.error_percent(), &cell.published) else { continue };
                errors.push(error.abs());
                let microseconds = (cell.recorded.value - published.value_us).abs();
                within += usize::from(error.abs() <= 10.0 || microseconds <= 1.0);
            }
            let (Some(median_percent), Some(worst_percent)) =
                (stats::median(&errors), errors.iter().copied().max_by(f64::total_cmp))
            else {
                continue;
            };
            all.push(Accuracy {
                release: release.to_owned(),
                what,
                cells: errors.len(),
                median_percent,
                within,
                worst_percent,
            });
        }
    }
    all
}
