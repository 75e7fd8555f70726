//! The first two derivatives of the logarithm of the gamma function, for degrees of freedom.

pub use statrs::function::gamma::digamma;

/// The second derivative, of numbers above 0: by its recurrence up to 8, and from there by its
/// asymptotic series (Abramowitz and Stegun, 6.4.12).
pub fn trigamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 8.0 {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0))) * square;
    below + (1.0 + 1.0 / (2.0 * x) + series) / x
}

/// The number above 0 whose [`trigamma`] is a value above 0. The function falls, so that the place
/// is found by halving.
pub fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-8_f64, 1e8_f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 1 it is the sum of 1 / n^2, and at a half three times that.
    #[test]
    fn values_that_are_known() {
        let known = std::f64::consts::PI.powi(2) / 6.0;
        assert!(
            (trigamma(1.0) - known).abs() < 1e-10 && (trigamma(0.5) - 3.0 * known).abs() < 1e-10
        );
        for x in [0.01, 0.7, 3.0, 250.0] {
            assert!(
                (inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-9,
                "{x}"
            );
        }
    }
}
