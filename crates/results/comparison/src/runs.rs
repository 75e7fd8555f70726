//! The runs behind a side: recordings of one thing, put together, and how many a verdict needs.

use crate::matching::factor;
use crate::policy::{Iterations, Policy};
use crate::request::Input;
use crate::table::{Key, Samples, Table};
use findings::Findings;
use recording::stats;
use std::collections::HashMap;

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
    2.0 / (1..=base).map(|i| (other + i) as f64 / i as f64).product::<f64>()
}

/// True if the values of a side are iterations of one run that was measured. The next run may
/// differ from it by more than they do from each other.
pub(crate) fn is_one_run(input: &Input<'_>, policy: &Policy) -> bool {
    input.more.is_empty() && !input.header().is_repeatable() && policy.iterations == Iterations::OfOneRun
}

/// The rows of a side: those of its recording, or of several with one value of each, the median of
/// its iterations. Where iterations are runs, all of them are values.
pub(crate) fn table(input: &Input<'_>, policy: &Policy, read: impl Fn(&Findings<'_>) -> Table) -> Table {
    let mut whole = read(input.findings);
    if input.more.is_empty() {
        return whole;
    }
    let as_runs = |rows: &mut Vec<(Key, Samples)>| {
        for (_, samples) in rows.iter_mut().filter(|_| policy.iterations == Iterations::OfOneRun) {
            samples.values = stats::median(&samples.values).into_iter().collect();
        }
    };
    as_runs(&mut whole.rows);
    let mut places: HashMap<Key, usize> =
        whole.rows.iter().enumerate().map(|(place, (key, _))| (key.clone(), place)).collect();
    for findings in &input.more {
        let mut table = read(findings);
        as_runs(&mut table.rows);
        // An order that is not that of all runs is no condition of theirs.
        whole.orders.retain(|name, order| table.orders.get(name) == Some(order));
        for (key, samples) in table.rows {
            match places.get(&key).map(|&place| &mut whole.rows[place].1) {
                Some(known) => {
                    let factor = factor(&samples.unit, &known.unit);
                    known.values.extend(factor.into_iter().flat_map(|by| samples.values.iter().map(move |v| v * by)));
                }
                None => {
                    places.insert(key.clone(), whole.rows.len());
                    whole.rows.push((key, samples));
                }
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: C(6, 3) is 20, C(8, 4) is 70, C(14, 7) is 3432 and C(16, 8) is 12870.
    #[test]
    fn ranks_need_as_many_runs_as_their_number_and_the_rows_ask_for() {
        for (base, other, p) in [(3, 3, 0.1), (4, 4, 2.0 / 70.0), (8, 8, 2.0 / 12870.0), (1, 3, 0.5)] {
            assert!((least_p(base, other) / p - 1.0).abs() < 1e-12, "{base} and {other}");
        }
        assert_eq!([1, 2, 90].map(|tests| runs_for_ranks(tests, 0.05)), [4, 5, 8]);
    }
}
