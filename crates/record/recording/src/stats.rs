//! Statistics over measures. Nothing here uses a mathematical function beyond the square root,
//! which IEEE 754 defines to the last bit, so a result is the same on every machine.

/// The median; `None` if there are no values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The quantile `q` of 0 to 1, linear between neighbours (the definition that R calls type 7).
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = place as usize;
    let above = (below + 1).min(last);
    let share = place - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * share)
}

/// An interval that holds the median of what some values are drawn from with a probability of 95 %,
/// whatever their distribution (by the sign test); `None` of fewer than six.
pub fn median_interval(values: &[f64]) -> Option<[f64; 2]> {
    let count = values.len();
    let rank = ((count + 1) as f64 / 2.0 - 0.98 * (count as f64).sqrt()).floor() as usize;
    let sorted = sorted(values);
    (rank > 0).then(|| [sorted[rank - 1], sorted[count - rank]])
}

/// Arithmetic mean; `None` if there are no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values.iter().copied()) / values.len() as f64)
}

/// The least and the largest value; infinite where there is none.
pub fn ends(values: impl IntoIterator<Item = f64>) -> [f64; 2] {
    let wider = |[least, most]: [f64; 2], value| [least.min(value), most.max(value)];
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    values.into_iter().fold(none, wider)
}

/// A number to its millionths: figures for machines say no more.
pub fn to_millionths(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Root of the mean square; `None` if there are no values.
pub fn rms(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| (sum(values.iter().map(|v| v * v)) / values.len() as f64).sqrt())
}

/// A sum with the lost low bits carried along, so that long columns of small numbers stay exact.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = total + value;
        lost += if total.abs() >= value.abs() {
            (total - next) + value
        } else {
            (value - next) + total
        };
        total = next;
    }
    total + lost
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), Some(1.75));
        assert_eq!(quantile(&[1.0, 2.0], 1.0), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0], 7.0), Some(2.0));
    }

    #[test]
    fn an_interval_of_a_median_narrows_with_the_number_of_values() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(median_interval(&values[..5]), None);
        assert_eq!(median_interval(&values[..6]), Some([1.0, 6.0]));
        assert_eq!(median_interval(&values[..20]), Some([6.0, 15.0]));
        assert_eq!(median_interval(&values), Some([40.0, 61.0]));
    }

    #[test]
    fn nothing_has_no_median() {
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_long_column_of_small_numbers_adds_up() {
        let values = vec![0.1; 10_000_000];
        assert_eq!(mean(&values), Some(0.1));
    }
}
