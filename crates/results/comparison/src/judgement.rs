//! What each change comes to.

use crate::matching::Pending;
use crate::policy::Policy;
use crate::result::{Basis, Change, Verdict};
use crate::statistics::{SMALLEST_SAMPLE, holm};
use recording::metrics::Better;

/// Corrects p-values over all rows, and gives each change its verdict. Returns how many tests there were.
pub(crate) fn judge(rows: &mut [Pending<'_>], policy: &Policy) -> usize {
    let sampled = |change: &Option<Change>| match change.as_ref()?.basis {
        Basis::Sampled { p, .. } => Some(p),
        Basis::Exact => None,
    };
    let p_values: Vec<f64> = rows.iter().flat_map(|pending| pending.row.changes.iter().filter_map(sampled)).collect();
    let mut corrected_values = holm(&p_values).into_iter();
    for Pending { row, rule, ticks } in rows {
        let threshold = rule.and_then(|rule| rule.threshold).unwrap_or(policy.threshold);
        let least = rule.map_or(0.0, |rule| rule.least);
        for (change, tick) in row.changes.iter_mut().zip(ticks) {
            let Some(change) = change else { continue };
            if let Basis::Sampled { corrected, .. } = &mut change.basis {
                *corrected = corrected_values.next().unwrap_or(1.0);
            }
            if change.verdict == Verdict::Same {
                continue;
            }
            let differs = match change.basis {
                // Each of the two stamps of a span is rounded down to a tick: two spans of the same length can differ by one.
                Basis::Exact if change.absolute.abs() <= *tick * (1.0 + 1e-6) => {
                    change.verdict = Verdict::Same;
                    continue;
                }
                Basis::Exact => true,
                Basis::Sampled { corrected, interval, .. } => {
                    corrected < policy.alpha && interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
                }
            };
            let below =
                change.percent.is_some_and(|percent| percent.abs() < threshold) || change.absolute.abs() < least;
            let within = |(low, high): (f64, f64)| low > -threshold && high < threshold;
            change.verdict = match (differs, change.basis) {
                (false, Basis::Sampled { interval: Some(interval), .. })
                    if row.cells.iter().flatten().all(|cell| cell.n >= SMALLEST_SAMPLE) && within(interval) =>
                {
                    Verdict::Same
                }
                (false, _) => Verdict::Unclear,
                (true, _) if below => Verdict::Small,
                (true, _) => match row.better {
                    Better::Neither => Verdict::Changed,
                    Better::Lower if change.absolute < 0.0 => Verdict::Better,
                    Better::Higher if change.absolute > 0.0 => Verdict::Better,
                    Better::Lower | Better::Higher => Verdict::Worse,
                },
            };
        }
    }
    p_values.len()
}
