//! Iterations that hang together: what one tells of the next, and how much less a sample then says.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Fewer values than this on a side tell nothing of what one has to do with the next.
const FEWEST: usize = 8;

/// Autocorrelation is taken for real where independent values would show as much once in 20 rows.
const Z_OF_5_PERCENT: f64 = 1.645;

/// The number of values of a sample that say as much as one independent value; 1 where nothing
/// shows that they depend on each other.
///
/// Both samples together are judged by the autocorrelation of their ranks at distance 1, which a
/// few outliers do not hide. The process is taken to be autoregressive of order 1, whose estimate
/// is too low in short samples and is corrected (Marriott and Pope 1954, Kendall 1954):
/// `phi = (n r + 1) / (n - 3)`, and `(1 + phi) / (1 - phi)` values say as much as one. A drift
/// through a recording shows likewise.
pub(crate) fn values_per_independent(base: &[f64], other: &[f64]) -> f64 {
    let sides = [base, other];
    if sides.iter().any(|values| values.len() < FEWEST) {
        return 1.0;
    }
    let total = (base.len() + other.len()) as f64;
    let mean = |of: &dyn Fn(&[f64]) -> f64| {
        sides
            .iter()
            .map(|values| of(values) * values.len() as f64)
            .sum::<f64>()
            / total
    };
    let lag = mean(&|values| rank_autocorrelation(values));
    let expected = mean(&|values| -1.0 / values.len() as f64);
    if (lag - expected) * total.sqrt() <= Z_OF_5_PERCENT {
        return 1.0;
    }
    let shortest = base.len().min(other.len()) as f64;
    let phi = ((shortest * lag + 1.0) / (shortest - 3.0)).clamp(0.0, 0.99);
    // Two independent values a side are the fewest of which anything can be said.
    ((1.0 + phi) / (1.0 - phi)).min(shortest / 2.0)
}

/// Autocorrelation of the values' ranks at distance 1, from -1 to 1; 0 where all are equal.
fn rank_autocorrelation(values: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        // Equal values share a rank: the mean of their places.
        let before =
            order.partition_point(|&index| values[index].total_cmp(&values[equal[0]]).is_lt());
        let rank = before as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&index| ranks[index] = rank);
    }
    let middle = (values.len() - 1) as f64 / 2.0;
    let squares: f64 = ranks.iter().map(|rank| (rank - middle).powi(2)).sum();
    let products: f64 = ranks
        .windows(2)
        .map(|pair| (pair[0] - middle) * (pair[1] - middle))
        .sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

/// The p-value of a test that took the values as independent, for samples of which only each
/// `per`-th says something of its own. The deviation shrinks with the root of `per`, and is read
/// against Student's t, since the few that are left also estimate the spread.
pub(crate) fn corrected_p(p: f64, per: f64, base: usize, other: usize) -> f64 {
    let freedom = ((base + other) as f64 / per - 2.0).max(1.0);
    let (Ok(normal), Ok(student)) = (Normal::new(0.0, 1.0), StudentsT::new(0.0, 1.0, freedom))
    else {
        return 1.0;
    };
    // A p-value of 0 is one that the test could not tell from it.
    let deviation = -normal.inverse_cdf((p / 2.0).max(f64::MIN_POSITIVE));
    (2.0 * student.cdf(-deviation / per.sqrt())).clamp(p, 1.0)
}

/// An interval about an estimate, as much wider as samples say less.
pub(crate) fn widened((low, high): (f64, f64), estimate: f64, per: f64) -> (f64, f64) {
    let by = per.sqrt();
    (
        estimate - (estimate - low).max(0.0) * by,
        estimate + (high - estimate).max(0.0) * by,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_wave_hangs_together_and_a_shuffled_one_does_not() {
        let wave: Vec<f64> = (0..60).map(|n| (f64::from(n) / 8.0).sin()).collect();
        let shuffled: Vec<f64> = (0..60).map(|n| wave[n * 37 % 60]).collect();
        assert!(values_per_independent(&wave, &wave) > 10.0);
        assert_eq!(values_per_independent(&shuffled, &shuffled), 1.0);
        assert_eq!(
            values_per_independent(&wave[..7], &wave),
            1.0,
            "too few to tell"
        );
        assert_eq!(values_per_independent(&[5.0; 20], &[5.0; 20]), 1.0);
    }

    /// Samples of two lengths with equal values among them. By hand: ranks of the first have an
    /// autocorrelation of 0.26557, of the second of 0.4125, together 0.34953; that is 2.2 standard
    /// deviations more than chance, and phi is 0.57715.
    #[test]
    fn how_many_values_say_as_much_as_one_is_what_the_formula_gives() {
        let one = [1.0, 2.0, 2.0, 3.0, 1.0, 3.0, 4.0, 3.0, 5.0, 4.0, 2.0, 1.0];
        let other = [
            3.0, 3.0, 1.0, 2.0, 4.0, 4.0, 2.0, 1.0, 1.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0, 2.0,
        ];
        assert!((rank_autocorrelation(&one) - 0.265_567_765_567_765_6).abs() < 1e-12);
        assert!((rank_autocorrelation(&other) - 0.4125).abs() < 1e-12);
        assert_eq!(rank_autocorrelation(&[7.0; 9]), 0.0);
        for (base, changed) in [(&one[..], &other[..]), (&other, &one)] {
            let per = values_per_independent(base, changed);
            assert!((per - 3.729_807_771_636_004_5).abs() < 1e-9, "{per}");
        }
        // Eight values a side are enough to tell; of eight that rise all the way, two are left.
        let rising: Vec<f64> = (0..8).map(f64::from).collect();
        assert_eq!(values_per_independent(&rising, &rising), 4.0);
        assert_eq!(
            (
                values_per_independent(&rising, &rising[1..]),
                values_per_independent(&rising[1..], &rising)
            ),
            (1.0, 1.0)
        );
    }

    /// Six and six values of which two say as much as one leave four degrees of freedom; expected
    /// is the closed form of Student's t with four.
    #[test]
    fn a_corrected_p_value_is_that_of_the_values_that_are_left() {
        let p = corrected_p(0.05, 2.0, 6, 6);
        assert!((p - 0.238_034_250_416_871_1).abs() < 1e-9, "{p}");
        // At least one degree of freedom is left: then t is Cauchy's distribution, and 2 standard
        // deviations are 1 with four to one.
        let p = corrected_p(0.045_500_263_896_358_4, 4.0, 4, 4);
        assert!((p - 0.5).abs() < 1e-9, "{p}");
    }

    #[test]
    fn a_correction_weakens_and_never_strengthens() {
        assert!((corrected_p(0.05, 1.0, 1000, 1000) - 0.05).abs() < 1e-3);
        assert!(corrected_p(0.001, 9.0, 100, 100) > 0.2);
        assert_eq!(corrected_p(1.0, 9.0, 100, 100), 1.0);
        assert!(corrected_p(0.0, 9.0, 1000, 1000) < 1e-9);
        assert_eq!(widened((-1.0, 3.0), 1.0, 4.0), (-3.0, 5.0));
        assert_eq!(widened((-2.0, 4.0), 1.0, 9.0), (-8.0, 10.0));
        assert_eq!(
            widened((2.0, 0.0), 1.0, 9.0),
            (1.0, 1.0),
            "an estimate outside of its interval"
        );
    }
}
