//! The range of some values, with their median.

use recording::stats;
use schemars::JsonSchema;
use serde::Serialize;

/// The range of some values, or what a further draw lies between with 95 %; and their median.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Interval {
    /// The least value; of 39 draws and more, a further one lies below it with 2.5 %.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The greatest value; of 39 draws and more, a further one lies above it with 2.5 %.
    pub high: f64,
}

impl Interval {
    /// The least number of draws whose range holds a further draw with 95 %, whatever they are
    /// drawn from: the range of n holds it with (n - 1) / (n + 1).
    pub const ENOUGH: usize = 39;

    /// What a further draw lies between with 95 %; of fewer than [`Self::ENOUGH`], their range.
    /// `None` if there are none.
    pub(crate) fn of_draws(draws: &[f64]) -> Option<Self> {
        // With both ends at this place among n + 1 gaps each gap is as likely.
        let n = draws.len() as f64;
        let low = (0.025 * (n + 1.0) - 1.0).max(0.0) / (n - 1.0).max(1.0);
        Self::between(draws, low, 1.0 - low)
    }

    /// The range of some values; `None` if there are none.
    pub(crate) fn of_all(values: &[f64]) -> Option<Self> {
        Self::between(values, 0.0, 1.0)
    }

    fn between(values: &[f64], low: f64, high: f64) -> Option<Self> {
        let at = |q| stats::quantile(values, q);
        Some(Self {
            low: at(low)?,
            median: at(0.5)?,
            high: at(high)?,
        })
    }

    /// The interval in another unit.
    pub fn times(self, factor: f64) -> Self {
        Self {
            low: factor * self.low,
            median: factor * self.median,
            high: factor * self.high,
        }
    }

    /// The least, the median and the greatest.
    pub fn all(self) -> [f64; 3] {
        [self.low, self.median, self.high]
    }

    /// True if a value lies within.
    pub fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// True if zero lies outside.
    pub(crate) fn excludes_zero(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_excludes_zero_on_either_side() {
        let interval = |low, high| Interval {
            low,
            median: 0.0,
            high,
        };
        assert!(interval(0.1, 2.0).excludes_zero() && interval(-2.0, -0.1).excludes_zero());
        assert!(!interval(0.0, 2.0).excludes_zero() && !interval(-1.0, 1.0).excludes_zero());
    }
}
