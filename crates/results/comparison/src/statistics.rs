//! True if two samples differ, and by how much.

use fastrand::Rng;
use recording::stats;
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// Fewer runs a side than this never come to a verdict: two say next to nothing of how runs
/// scatter.
pub const FEWEST_RUNS: usize = 3;

/// The runs a side from which rank tests alone can come to a verdict on each of some rows: the most
/// extreme ranks of n and n values have a p-value of 2 / C(2n, n), and Holm's correction multiplies
/// the smallest by the number of tests.
pub fn runs_for_ranks(tests: usize, level: f64) -> usize {
    let reaches = |runs: &usize| least_p(*runs, *runs) * (tests.max(1) as f64) < level;
    (FEWEST_RUNS..).find(reaches).unwrap_or(usize::MAX)
}

/// The smallest p-value that a two-sided rank test of so many values can have.
pub(crate) fn least_p(base: usize, other: usize) -> f64 {
    2.0 / (1..=base)
        .map(|i| (other + i) as f64 / i as f64)
        .product::<f64>()
}

/// Above this product of the two sizes the normal approximation is good to a few parts in a
/// thousand.
const EXACT_UP_TO: usize = 400;

/// Two-sided p-value of the rank test of Mann and Whitney: how often samples of one distribution
/// would lie as far apart as these.
///
/// From 0 to 1; 1 where a sample is empty or all values are equal. Counted exactly for small
/// samples without ties, otherwise the normal approximation with corrections for ties and
/// continuity.
pub fn rank_test(base: &[f64], other: &[f64]) -> f64 {
    let mut values: Vec<f64> = base.iter().chain(other).copied().collect();
    values.sort_by(f64::total_cmp);
    let all_equal = values.first() == values.last();
    if base.is_empty() || other.is_empty() || all_equal || values.iter().any(|value| value.is_nan())
    {
        return 1.0;
    }
    let ties = values.windows(2).any(|pair| pair[0] == pair[1]);
    if !ties && base.len() * other.len() <= EXACT_UP_TO {
        return exact_rank_test(base, other);
    }
    let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
    match mannwhitneyu(base, other, method, Alternative::TwoSided) {
        Ok((_, p)) if p.is_finite() => p.clamp(0.0, 1.0),
        _ => 1.0,
    }
}

/// Counts how many of all ways to part the ranks among the two samples are at least as far apart as
/// theirs. The exact method of statrs 0.19.1 returns the complement where the base is the smaller
/// sample or both are of one size, so it is not used.
fn exact_rank_test(base: &[f64], other: &[f64]) -> f64 {
    let above: usize = base
        .iter()
        .map(|a| other.iter().filter(|b| a > b).count())
        .sum();
    let extreme = above.max(base.len() * other.len() - above);
    // ways[u]: in how many ways u pairs have the base's value above. Coefficients of the Gaussian
    // binomial: as a product of (1 - x^(m + i)) / (1 - x^i), one factor after the other.
    let mut ways = vec![0.0_f64; base.len() * other.len() + 1];
    ways[0] = 1.0;
    for i in 1..=base.len() {
        let step = other.len() + i;
        for u in (step..ways.len()).rev() {
            ways[u] -= ways[u - step];
        }
        for u in i..ways.len() {
            ways[u] += ways[u - i];
        }
    }
    let as_far: f64 = ways[extreme..].iter().sum();
    (2.0 * as_far / ways.iter().sum::<f64>()).min(1.0)
}

/// Percentile bootstrap interval of the change of the median in percent of the base's. `level` is
/// how often such an interval holds the change, from 0 to 1, as 0.95; beyond what the resamples can
/// tell apart it is their range.
///
/// `None` where a sample has fewer than two values or the base's median is 0.
pub fn interval_of_change(
    base: &[f64],
    other: &[f64],
    level: f64,
    resamples: usize,
    random: &mut Rng,
) -> Option<(f64, f64)> {
    if base.len() < 2 || other.len() < 2 || resamples == 0 {
        return None;
    }
    let mut changes = Vec::with_capacity(resamples);
    let sorted = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let (base, other) = (sorted(base), sorted(other));
    let (mut one, mut two) = (vec![0; base.len()], vec![0; other.len()]);
    for _ in 0..resamples {
        let (from, to) = (
            resampled_median(&base, &mut one, random),
            resampled_median(&other, &mut two, random),
        );
        if from == 0.0 {
            return None;
        }
        changes.push((to - from) / from.abs() * 100.0);
    }
    changes.sort_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    Some((
        stats::quantile_of_sorted(&changes, tail)?,
        stats::quantile_of_sorted(&changes, 1.0 - tail)?,
    ))
}

/// The median of as many values as there are, drawn with replacement from sorted ones, at least
/// one; `drawn` counts how often each was.
fn resampled_median(sorted: &[f64], drawn: &mut [usize], random: &mut Rng) -> f64 {
    drawn.fill(0);
    for _ in 0..sorted.len() {
        drawn[random.usize(0..sorted.len())] += 1;
    }
    // The values being sorted, counting up to the middle is all the sorting that a resample needs.
    let (mut place, mut seen) = (0, drawn[0]);
    let mut of_rank = |rank: usize| {
        while seen <= rank {
            place += 1;
            seen += drawn[place];
        }
        sorted[place]
    };
    let lower = of_rank((sorted.len() - 1) / 2);
    lower + (of_rank(sorted.len() / 2) - lower) / 2.0
}

/// Holm's correction for many tests: with it, the chance that even one of them is a false alarm
/// stays at the level at which they are read. Returns the corrected p-values in the order given.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest
            .max(p_values[index] * (p_values.len() - rank) as f64)
            .min(1.0);
        corrected[index] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: C(6, 3) is 20, C(8, 4) is 70, C(14, 7) is 3432 and C(16, 8) is 12870.
    #[test]
    fn ranks_need_as_many_runs_as_their_number_and_the_rows_ask_for() {
        for (base, other, p) in [
            (3, 3, 0.1),
            (4, 4, 2.0 / 70.0),
            (8, 8, 2.0 / 12870.0),
            (1, 3, 0.5),
        ] {
            assert!(
                (least_p(base, other) / p - 1.0).abs() < 1e-12,
                "{base} and {other}"
            );
        }
        assert_eq!(
            [1, 2, 90].map(|tests| runs_for_ranks(tests, 0.05)),
            [4, 5, 8]
        );
    }

    #[test]
    fn the_rank_test_agrees_with_hand_counted_samples() {
        // Of the 70 ways to choose 4 ranks of 8, two are as far apart as these.
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        close(
            rank_test(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]),
            2.0 / 70.0,
        );
        close(
            rank_test(&[5.0, 6.0, 7.0, 8.0], &[1.0, 2.0, 3.0, 4.0]),
            2.0 / 70.0,
        );
        // Of the 10 ways to choose 2 ranks of 5, these and one more lie as far up, and two as far
        // down.
        close(rank_test(&[1.0, 3.0, 2.0], &[2.5, 4.0]), 4.0 / 10.0);
        close(rank_test(&[1.0], &[2.0]), 1.0);
        assert_eq!(rank_test(&[5.0; 8], &[5.0; 8]), 1.0);
        assert_eq!(rank_test(&[], &[1.0]), 1.0);
        assert_eq!(rank_test(&[f64::NAN, 1.0, 2.0], &[1.0, 3.0, 4.0]), 1.0);
        assert_eq!(
            rank_test(&[f64::NAN, 1.0, 2.0], &[5.0, 6.0, 7.0]),
            1.0,
            "without ties as well"
        );
    }

    #[test]
    fn counting_and_the_normal_approximation_agree_where_both_are_good() {
        let base: Vec<f64> = (0..20).map(|n| f64::from(n * 7 % 20)).collect();
        for shift in [0.5, 3.5, 6.5, 9.5] {
            let other: Vec<f64> = base.iter().map(|value| value + shift).collect();
            let counted = rank_test(&base, &other);
            let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
            let (_, normal) = mannwhitneyu(&base, &other, method, Alternative::TwoSided).unwrap();
            assert!(
                (counted - normal).abs() < 0.01,
                "shift {shift}: {counted} and {normal}"
            );
        }
    }

    /// The counted samples are small, with values that all differ: 400 pairs, and not 420; and none
    /// with a tie.
    #[test]
    fn ties_and_large_samples_are_approximated() {
        let normal = |base: &[f64], other: &[f64]| {
            mannwhitneyu(
                base,
                other,
                MannWhitneyUMethod::AsymptoticInclContinuityCorrection,
                Alternative::TwoSided,
            )
            .unwrap()
            .1
        };
        let even: Vec<f64> = (0..21).map(|n| f64::from(n) * 2.0).collect();
        let odd: Vec<f64> = (0..20).map(|n| f64::from(n) * 2.0 + 9.0).collect();
        assert_eq!(rank_test(&even, &odd), normal(&even, &odd));
        assert_ne!(rank_test(&even[..20], &odd), normal(&even[..20], &odd));
        let (base, other) = ([1.0, 2.0, 2.0, 3.0], [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(rank_test(&base, &other), normal(&base, &other));
    }

    #[test]
    fn holm_raises_the_smallest_the_most_and_keeps_the_order() {
        let corrected = holm(&[0.01, 0.04, 0.03]);
        let expected = [0.03, 0.06, 0.06];
        assert!(
            corrected
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12),
            "{corrected:?}"
        );
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    /// Whichever values are drawn, the median lies among them, and of values that are all equal it
    /// is that value.
    #[test]
    fn a_resample_has_the_median_of_its_values() {
        let mut random = Rng::with_seed(1);
        for sorted in [
            &[7.0][..],
            &[7.0; 2],
            &[7.0; 5],
            &[1.0, 2.0],
            &[1.0, 2.0, 4.0],
            &[1.0, 2.0, 4.0, 8.0],
        ] {
            for _ in 0..100 {
                let mut drawn = vec![0; sorted.len()];
                let found = resampled_median(sorted, &mut drawn, &mut random);
                let values: Vec<f64> = sorted
                    .iter()
                    .zip(&drawn)
                    .flat_map(|(&value, &times)| vec![value; times])
                    .collect();
                assert_eq!(
                    (values.len(), Some(found)),
                    (sorted.len(), stats::median(&values)),
                    "{values:?}"
                );
            }
        }
    }

    #[test]
    fn the_interval_holds_the_change_and_nothing_is_said_of_single_values() {
        let base: Vec<f64> = (0..31).map(|n| 100.0 + f64::from(n) / 10.0).collect();
        let other: Vec<f64> = base.iter().map(|value| value * 1.1).collect();
        let (low, high) =
            interval_of_change(&base, &other, 0.95, 1000, &mut Rng::with_seed(1)).unwrap();
        assert!(
            low < 10.0 && 10.0 < high && high - low < 5.0,
            "{low} to {high}"
        );
        let wider = interval_of_change(&base, &other, 0.999, 1000, &mut Rng::with_seed(1)).unwrap();
        assert!(
            wider.0 < low && high < wider.1,
            "{wider:?} is not wider than {low} to {high}"
        );
        assert_eq!(
            interval_of_change(&[1.0], &base, 0.95, 1000, &mut Rng::with_seed(1)),
            None
        );
        assert_eq!(
            interval_of_change(&[0.0, 0.0], &base, 0.95, 1000, &mut Rng::with_seed(1)),
            None
        );
        assert_eq!(
            interval_of_change(&base, &[1.0], 0.95, 1000, &mut Rng::with_seed(1)),
            None
        );
        assert_eq!(
            interval_of_change(&base, &base, 0.95, 0, &mut Rng::with_seed(1)),
            None
        );
        // Medians of two values of 1 and 3 are 1, 2 and 3 in a quarter, a half and a quarter of the
        // resamples, so that a tenth of the changes lies at -50 % or below, and at 100 % or above.
        let eight_tenths =
            interval_of_change(&[1.0, 3.0], &[1.0, 3.0], 0.8, 1000, &mut Rng::with_seed(1));
        assert_eq!(eight_tenths, Some((-50.0, 100.0)));
        let even = interval_of_change(&[1.0, 3.0], &[1.0, 3.0], 0.95, 1000, &mut Rng::with_seed(1))
            .unwrap();
        assert!(
            (even.0 + 200.0 / 3.0).abs() < 1e-9 && even.1 == 200.0,
            "the ends are 3 to 1 and 1 to 3: {even:?}"
        );
    }
}
