//! Whether two samples differ, and by how much.

use fastrand::Rng;
use recording::stats;
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// Two-sided p-value of the rank test of Mann and Whitney: how often samples of one distribution would lie as far apart as these.
///
/// From 0 to 1; 1 where a sample is empty or all values are equal. Exact for small samples without ties, otherwise the normal
/// approximation with corrections for ties and continuity.
pub fn rank_test(base: &[f64], other: &[f64]) -> f64 {
    let all_equal = base.iter().chain(other).all(|value| Some(value) == base.first());
    if base.is_empty() || other.is_empty() || all_equal {
        return 1.0;
    }
    match mannwhitneyu(base, other, MannWhitneyUMethod::Automatic, Alternative::TwoSided) {
        Ok((_, p)) if p.is_finite() => p.clamp(0.0, 1.0),
        // NaN among the values: nothing can be said.
        _ => 1.0,
    }
}

/// Percentile bootstrap interval, at 95 %, of the change of the median in percent of the base's.
///
/// `None` where a sample has fewer than two values or the base's median is 0.
pub fn interval_of_change(base: &[f64], other: &[f64], resamples: usize, random: &mut Rng) -> Option<(f64, f64)> {
    if base.len() < 2 || other.len() < 2 || resamples == 0 {
        return None;
    }
    let mut changes = Vec::with_capacity(resamples);
    let (mut one, mut two) = (base.to_vec(), other.to_vec());
    for _ in 0..resamples {
        let (from, to) = (resampled_median(base, &mut one, random), resampled_median(other, &mut two, random));
        if from == 0.0 {
            return None;
        }
        changes.push((to - from) / from.abs() * 100.0);
    }
    changes.sort_by(f64::total_cmp);
    Some((stats::quantile_of_sorted(&changes, 0.025)?, stats::quantile_of_sorted(&changes, 0.975)?))
}

/// The median of as many values as there are, drawn with replacement; `drawn` is scratch space of the same length.
fn resampled_median(values: &[f64], drawn: &mut [f64], random: &mut Rng) -> f64 {
    for slot in drawn.iter_mut() {
        *slot = values[random.usize(0..values.len())];
    }
    let middle = drawn.len() / 2;
    let (below, &mut upper, _) = drawn.select_nth_unstable_by(middle, f64::total_cmp);
    if values.len() % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}

/// Holm's correction for many tests: with it, the chance that even one of them is a false alarm stays at the level at which they are
/// read. Returns the corrected p-values in the order given.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(p_values[index] * (p_values.len() - rank) as f64).min(1.0);
        corrected[index] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_test_agrees_with_hand_counted_samples() {
        // Of the 70 ways to choose 4 ranks of 8, two are as far apart as these.
        assert!((rank_test(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]) - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!(rank_test(&[5.0; 8], &[5.0; 8]), 1.0);
        assert_eq!(rank_test(&[], &[1.0]), 1.0);
        assert_eq!(rank_test(&[f64::NAN, 1.0, 2.0], &[1.0, 3.0, 4.0]), 1.0);
    }

    #[test]
    fn holm_raises_the_smallest_the_most_and_keeps_the_order() {
        let corrected = holm(&[0.01, 0.04, 0.03]);
        let expected = [0.03, 0.06, 0.06];
        assert!(corrected.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{corrected:?}");
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn the_interval_holds_the_change_and_nothing_is_said_of_single_values() {
        let base: Vec<f64> = (0..31).map(|n| 100.0 + f64::from(n) / 10.0).collect();
        let other: Vec<f64> = base.iter().map(|value| value * 1.1).collect();
        let (low, high) = interval_of_change(&base, &other, 1000, &mut Rng::with_seed(1)).unwrap();
        assert!(low < 10.0 && 10.0 < high && high - low < 5.0, "{low} to {high}");
        assert_eq!(interval_of_change(&[1.0], &base, 1000, &mut Rng::with_seed(1)), None);
        assert_eq!(interval_of_change(&[0.0, 0.0], &base, 1000, &mut Rng::with_seed(1)), None);
        let even = interval_of_change(&[1.0, 3.0], &[1.0, 3.0], 1000, &mut Rng::with_seed(1)).unwrap();
        assert_eq!(even, (-200.0 / 3.0, 200.0), "the ends are 3 to 1 and 1 to 3");
    }
}
