//! The range of some values, with their median.

use recording::stats;
use schemars::JsonSchema;
use serde::Serialize;

/// The range of some values, or the part of it that holds 95 % of some draws; and their median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// The least value; of draws, 2.5 % lie below it.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The greatest value; of draws, 2.5 % lie above it.
    pub high: f64,
}

impl Interval {
    /// The interval that holds 95 % of some draws; `None` if there are none.
    pub(crate) fn of_draws(draws: &[f64]) -> Option<Self> {
        Self::between(draws, 0.025, 0.975)
    }

    /// The range of some values; `None` if there are none.
    pub(crate) fn of_all(values: &[f64]) -> Option<Self> {
        Self::between(values, 0.0, 1.0)
    }

    fn between(values: &[f64], low: f64, high: f64) -> Option<Self> {
        let at = |q| stats::quantile(values, q);
        Some(Self { low: at(low)?, median: at(0.5)?, high: at(high)? })
    }

    /// The interval in another unit.
    pub fn times(self, factor: f64) -> Self {
        Self { low: factor * self.low, median: factor * self.median, high: factor * self.high }
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
        let interval = |low, high| Interval { low, median: 0.0, high };
        assert!(interval(0.1, 2.0).excludes_zero() && interval(-2.0, -0.1).excludes_zero());
        assert!(!interval(0.0, 2.0).excludes_zero() && !interval(-1.0, 1.0).excludes_zero());
    }
}
