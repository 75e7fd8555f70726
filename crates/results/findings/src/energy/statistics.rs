//! What one saves against another, and rank correlation.

/// Percent of the first that the second is less by, pair by pair.
pub fn saved(of: &[f64], less: &[f64]) -> Vec<f64> {
    of.iter()
        .zip(less)
        .map(|(of, less)| 100.0 * (1.0 - less / of))
        .collect()
}

/// Spearman's rank correlation; `None` where one side never differs.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 3 {
        return None;
    }
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| {
        x.iter()
            .zip(y)
            .map(|(x, y)| (x - mean) * (y - mean))
            .sum::<f64>()
    };
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

/// Ranks from 1; equal values share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut at = 0;
    while at < order.len() {
        let same = order[at..]
            .iter()
            .take_while(|&&other| values[other] == values[order[at]])
            .count();
        for &place in &order[at..at + same] {
            ranks[place] = at as f64 + (same as f64 + 1.0) / 2.0;
        }
        at += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_are_equal_are_shared() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(
            spearman(&[1.0, 2.0, 3.0], &[10.0, 100.0, 1000.0]),
            Some(1.0)
        );
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
        let tied = spearman(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((tied - 0.75_f64.sqrt()).abs() < 1e-12, "{tied}");
    }
}
