//! Windows of a rate, and whether one figure may stand for them.

use recording::stats;
use schemars::JsonSchema;
use serde::Serialize;

/// Windows that lie apart by more than this share of their median have no figure that stands for
/// all of them.
const SCATTER: f64 = 0.1;

/// The range of some windows.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub struct Spread {
    /// The least and the greatest.
    pub range: [f64; 2],
    /// Width of the range as a share of the median.
    pub relative_width: f64,
    /// True if they lie too far apart for one figure.
    pub scatters: bool,
    /// The median.
    #[serde(skip)]
    pub median: f64,
}

impl Spread {
    /// The range of some values; `None` of none.
    pub(crate) fn new(values: &[f64]) -> Option<Self> {
        let summary = stats::summary(values)?;
        let relative_width = (summary.max - summary.min) / summary.median.max(f64::MIN_POSITIVE);
        let range = [summary.min, summary.max];
        Some(Self { range, relative_width, scatters: relative_width > SCATTER, median: summary.median })
    }
}
