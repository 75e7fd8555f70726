//! Exponentially distributed numbers from additions, shifts and multiplications alone.

use random::XorShift;

/// Exponentially distributed with mean 1.
pub fn exponential(random: &mut XorShift) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    let uniform = ((random.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    -ln(uniform)
}

/// Natural logarithm of a normal positive number, by the series of the inverse hyperbolic tangent:
/// good to 1e-15, and the same bits everywhere.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let mut sum = 0.0;
    for odd in (1..=21).rev().step_by(2) {
        sum = sum * square + 1.0 / odd as f64;
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * t * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_logarithm_agrees_with_the_system_one() {
        for x in [
            1e-300, 1e-9, 0.1, 0.5, 0.70, 0.71, 1.0, 1.41, 1.42, 2.0, 12345.678,
        ] {
            let (ours, theirs) = (ln(x), x.ln());
            assert!(
                (ours - theirs).abs() <= 1e-14 * theirs.abs().max(1.0),
                "{x}: {ours} {theirs}"
            );
        }
    }

    #[test]
    fn the_exponential_has_mean_and_deviation_one() {
        let mut random = XorShift::new(3);
        let values: Vec<f64> = (0..200_000).map(|_| exponential(&mut random)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square =
            values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64;
        assert!(
            (mean - 1.0).abs() < 0.01 && (square - 1.0).abs() < 0.03,
            "{mean} {square}"
        );
    }
}
