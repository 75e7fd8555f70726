//! Student's test of logarithms, for few runs: what ranks of three and three values cannot say.
//!
//! It takes the logarithms of runs for normal, and as scattered on one side as on the other. Ranks
//! assume neither, but with three runs a side no p-value of theirs is below 0.1.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The logarithms of values; `None` unless all are above 0.
pub(crate) fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values
        .iter()
        .map(|value| (value.is_finite() && *value > 0.0).then(|| value.ln()))
        .collect()
}

/// The mean; 0 of no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The variance within two samples.
pub(crate) fn variance(base: &[f64], other: &[f64]) -> f64 {
    let squares = |values: &[f64]| -> f64 {
        values
            .iter()
            .map(|value| (value - mean(values)).powi(2))
            .sum()
    };
    (squares(base) + squares(other)) / (base.len() + other.len()).saturating_sub(2).max(1) as f64
}

/// The change of one sample of logarithms to another, in percent of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Student {
    /// The change.
    pub(crate) percent: f64,
    /// The two-sided p-value.
    pub(crate) p: f64,
    /// The interval at the level that was asked for.
    pub(crate) interval: (f64, f64),
}

impl Student {
    /// Tests two samples of at least two values each, whose variance is at least `least`: of few
    /// values it may be far too small by chance, or 0 where a counter is coarse.
    pub(crate) fn new(base: &[f64], other: &[f64], least: f64, level: f64) -> Option<Self> {
        if base.len() < 2 || other.len() < 2 {
            return None;
        }
        let freedom = (base.len() + other.len() - 2) as f64;
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        let by = mean(other) - mean(base);
        let error = (variance(base, other).max(least)
            * (1.0 / base.len() as f64 + 1.0 / other.len() as f64))
            .sqrt();
        let p = match (by == 0.0, error > 0.0) {
            (true, _) => 1.0,
            (false, true) => (2.0 * student.cdf(-(by / error).abs())).min(1.0),
            (false, false) => 0.0,
        };
        let half = student.inverse_cdf((1.0 + level) / 2.0) * error;
        let percent = |by: f64| by.exp_m1() * 100.0;
        Some(Self {
            percent: percent(by),
            p,
            interval: (percent(by - half), percent(by + half)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: means 1 and 2, a variance of 0.01 with four degrees of freedom, so that t is 1 /
    /// (0.1 * sqrt(2 / 3)) = 12.2474. With four degrees of freedom the tail has a closed form.
    #[test]
    fn three_and_three_values_are_tested() {
        let (base, other) = ([0.9, 1.0, 1.1], [1.9, 2.0, 2.1]);
        assert!((variance(&base, &other) - 0.01).abs() < 1e-12);
        let found = Student::new(&base, &other, 0.0, 0.95).unwrap();
        let t = 1.0 / (0.01_f64 * 2.0 / 3.0).sqrt();
        let s = t / (4.0 + t * t).sqrt();
        assert!(
            (found.p - (1.0 - 1.5 * s + 0.5 * s.powi(3))).abs() < 1e-9,
            "{found:?}"
        );
        assert!((found.percent - (1.0_f64.exp() - 1.0) * 100.0).abs() < 1e-9);
        // 2.776 is in every table of t.
        let half = 2.776_445 / t;
        assert!(
            (found.interval.0 - (1.0 - half).exp_m1() * 100.0).abs() < 1e-3,
            "{found:?}"
        );
        let wider = Student::new(&base, &other, 0.04, 0.95).unwrap();
        assert!(wider.p > found.p && wider.interval.0 < found.interval.0);
    }

    #[test]
    fn what_has_no_logarithm_or_no_second_value_is_not_tested() {
        assert_eq!(logarithms(&[1.0, 0.0]), None);
        assert_eq!(logarithms(&[f64::NAN]), None);
        assert_eq!(Student::new(&[1.0], &[2.0, 3.0], 0.0, 0.95), None);
        assert_eq!(
            Student::new(&[1.0, 1.0], &[1.0, 1.0], 0.0, 0.95).unwrap().p,
            1.0
        );
        assert_eq!(
            Student::new(&[1.0, 1.0], &[2.0, 2.0], 0.0, 0.95).unwrap().p,
            0.0
        );
    }
}
