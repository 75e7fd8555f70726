//! Windows of a rate, and whether one figure may stand for them.

use crate::blocks::{Cell, fixed};
use recording::stats;
use serde::Serialize;

/// Windows that lie apart by more than this share of their median have no figure that stands for
/// all of them.
const SCATTER: f64 = 0.1;

/// The range of some windows.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Spread {
    range: [f64; 2],
    /// Width of the range as a share of the median.
    relative_width: f64,
    /// True if they lie too far apart for one figure.
    pub(super) scatters: bool,
    #[serde(skip)]
    median: f64,
}

impl Spread {
    /// The range of some values; `None` of none.
    pub(super) fn new(values: &[f64]) -> Option<Self> {
        let summary = stats::summary(values)?;
        let relative_width = (summary.max - summary.min) / summary.median.max(f64::MIN_POSITIVE);
        let range = [summary.min, summary.max];
        Some(Self { range, relative_width, scatters: relative_width > SCATTER, median: summary.median })
    }

    /// The median with its range, or the range alone where the windows scatter.
    pub(super) fn words(&self, decimals: usize) -> String {
        let [least, most] = self.range.map(|value| fixed(value, decimals));
        match self.scatters {
            true => format!("between {least} and {most}"),
            false => format!("{} ({least} to {most})", fixed(self.median, decimals)),
        }
    }

    /// The same for a table.
    pub(super) fn cell(&self, decimals: usize) -> Cell {
        let [least, most] = self.range.map(|value| fixed(value, decimals));
        match self.scatters {
            true => Cell::Range(least, most.after(", scatters")),
            false => Cell::Spread(fixed(self.median, decimals), least, most),
        }
    }
}
