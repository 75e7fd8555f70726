//! The verdict on each change.

use crate::matching::Pending;
use crate::policy::Policy;
use crate::result::{Basis, Change, Row, Shift, Test, Verdict};
use crate::statistics::{FEWEST_RUNS, holm};
use recording::metrics::Better;

/// Corrects p-values over all rows, and gives each change its verdict at a level.
pub(crate) fn judge(rows: &mut [Pending<'_>], policy: &Policy, level: f64) {
    let sampled = |change: &Option<Change>| match change.as_ref()?.basis {
        Basis::Sampled { p, .. } => Some(p),
        Basis::Exact => None,
    };
    let p_values: Vec<f64> = rows
        .iter()
        .flat_map(|pending| pending.row.changes.iter().filter_map(sampled))
        .collect();
    let mut corrected_values = holm(&p_values).into_iter();
    for pending in rows {
        let threshold = pending.threshold(policy);
        let below: Vec<bool> = {
            let changes = pending.row.changes.iter();
            changes
                .map(|change| {
                    change
                        .as_ref()
                        .is_some_and(|change| pending.is_below(change, policy))
                })
                .collect()
        };
        let Pending { row, ticks, .. } = pending;
        let mut changes = std::mem::take(&mut row.changes);
        for ((change, tick), below) in changes.iter_mut().zip(ticks).zip(below) {
            let Some(change) = change else { continue };
            change.below = below;
            if let Basis::Sampled { corrected, .. } = &mut change.basis {
                *corrected = corrected_values.next().unwrap_or(1.0);
            }
            if matches!(change.verdict, Verdict::Same | Verdict::Order) || change.too_few {
                continue;
            }
            change.verdict = verdict(change, row, *tick, level, threshold);
        }
        row.changes = changes;
    }
}

/// The verdict on a change of a row, whose counter ticks in `tick` of the row's unit.
fn verdict(change: &Change, row: &Row, tick: f64, level: f64, threshold: f64) -> Verdict {
    let within_tick = change.absolute.abs() <= tick * (1.0 + 1e-6);
    let differs = match change.basis {
        // Each of the two stamps of a span is rounded down to a tick: two spans of the same
        // length can differ by one.
        Basis::Exact if within_tick => return Verdict::Same,
        Basis::Exact => true,
        // Runs that are all alike do not show how coarse their counter is.
        Basis::Sampled {
            test: Test::Student,
            ..
        } if within_tick => false,
        Basis::Sampled {
            corrected,
            interval,
            ..
        } => corrected < level && interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
    };
    let within = |(low, high): (f64, f64)| low > -threshold && high < threshold;
    match (differs, change.basis) {
        (
            false,
            Basis::Sampled {
                interval: Some(interval),
                ..
            },
        ) if row.cells.iter().flatten().all(|cell| cell.n >= FEWEST_RUNS) && within(interval) => {
            Verdict::Same
        }
        (false, _) => Verdict::Unclear,
        (true, _) if change.below => Verdict::Small,
        (true, _) => match row.better {
            Better::Neither => Verdict::Changed,
            Better::Lower if change.absolute < 0.0 => Verdict::Better,
            Better::Higher if change.absolute > 0.0 => Verdict::Better,
            Better::Lower | Better::Higher => Verdict::Worse,
        },
    }
}

/// Leaves changes of measured runs open that moved by their threshold and have no verdict: more
/// runs may show that they are none. A row whose measure has a verdict on its common change, or one
/// below the threshold, is not among them: alone among many it may well have moved by chance.
pub(crate) fn leave_open(
    rows: &mut [Pending<'_>],
    shifts: &[Shift],
    policy: &Policy,
    is_run: impl Fn(usize) -> bool,
) {
    for pending in rows {
        let threshold = pending.threshold(policy);
        let metric = &pending.row.key.metric;
        for (side, change) in (1..).zip(pending.row.changes.iter_mut()) {
            let Some(change) = change
                .as_mut()
                .filter(|change| change.verdict == Verdict::Unclear)
            else {
                continue;
            };
            let common = shifts
                .iter()
                .find(|shift| (shift.side, &shift.metric) == (side, metric));
            let is_open = common
                .is_none_or(|of| of.verdict == Verdict::Unclear && of.percent.abs() >= threshold);
            change.too_few |= is_open && is_run(side) && !change.below;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Rule;
    use crate::result::{Cell, Row};
    use crate::table::{Key, Who};

    /// A row with one change; its cells hold `n` values each.
    fn row(better: Better, n: usize, absolute: f64, percent: Option<f64>, basis: Basis) -> Row {
        let named = str::to_owned;
        let who = Who::Whole;
        let key = Key {
            variant: named(""),
            case: named("c"),
            mode: named(""),
            metric: named("m"),
            subject: named(""),
            role: named(""),
            who,
        };
        let cell = Some(Cell {
            n,
            median: 0.0,
            min: 0.0,
            max: 0.0,
        });
        let change = Change {
            absolute,
            percent,
            basis,
            verdict: Verdict::Unclear,
            runs: n,
            too_few: false,
            below: false,
            causes: Vec::new(),
        };
        Row {
            key,
            unit: named("us"),
            better,
            cells: vec![cell, cell],
            values: Vec::new(),
            changes: vec![Some(change)],
        }
    }

    fn sampled(p: f64, interval: (f64, f64)) -> Basis {
        Basis::Sampled {
            test: Test::Ranks,
            p,
            corrected: f64::NAN,
            interval: Some(interval),
            values_per_independent: 1.0,
        }
    }

    /// The verdict of one change by a policy of 2 % at a level of 0.05.
    fn verdict(row: Row, rule: Option<&Rule>, tick: f64) -> Verdict {
        let policy = Policy {
            threshold: 2.0,
            ..Policy::default()
        };
        let mut rows = [Pending {
            row,
            rule,
            ticks: vec![tick],
        }];
        judge(&mut rows, &policy, 0.05);
        rows[0].row.changes[0].as_ref().unwrap().verdict
    }

    #[test]
    fn an_exact_change_is_judged_by_tick_threshold_and_direction() {
        use Better::{Higher, Lower, Neither};
        for (better, absolute, percent, tick, expected) in [
            (Lower, 3.0, Some(3.0), 0.0, Verdict::Worse),
            (Lower, -3.0, Some(-3.0), 0.0, Verdict::Better),
            (Higher, 3.0, Some(3.0), 0.0, Verdict::Better),
            (Higher, -3.0, Some(-3.0), 0.0, Verdict::Worse),
            (Neither, 3.0, Some(3.0), 0.0, Verdict::Changed),
            (Lower, 2.0, Some(2.0), 0.0, Verdict::Worse),
            (Lower, 1.9, Some(1.9), 0.0, Verdict::Small),
            (Lower, -1.9, Some(-1.9), 0.0, Verdict::Small),
            (Lower, 5.0, None, 0.0, Verdict::Worse),
            (Lower, 5.0, Some(50.0), 5.0, Verdict::Same),
            (Lower, -5.0, Some(-50.0), 5.0, Verdict::Same),
            (Lower, 5.1, Some(51.0), 5.0, Verdict::Worse),
            (Lower, 0.0, Some(0.0), 0.0, Verdict::Same),
        ] {
            let found = verdict(row(better, 1, absolute, percent, Basis::Exact), None, tick);
            assert_eq!(
                found, expected,
                "{better:?}, {absolute} us, {percent:?} %, a tick of {tick}"
            );
        }
    }

    #[test]
    fn a_sampled_change_needs_a_p_value_and_an_interval() {
        for (p, interval, n, expected) in [
            (0.01, (3.0, 9.0), 30, Verdict::Worse),
            (0.01, (-9.0, -3.0), 30, Verdict::Worse),
            (0.05, (3.0, 9.0), 30, Verdict::Unclear),
            (0.01, (0.0, 9.0), 30, Verdict::Unclear),
            (0.01, (-9.0, 0.0), 30, Verdict::Unclear),
            (0.9, (-1.0, 1.0), 30, Verdict::Same),
            (0.9, (-1.0, 1.0), 3, Verdict::Same),
            (0.9, (-1.0, 1.0), 2, Verdict::Unclear),
            (0.9, (-2.0, 1.0), 30, Verdict::Unclear),
            (0.9, (-1.0, 2.0), 30, Verdict::Unclear),
            (0.9, (-5.0, 1.0), 30, Verdict::Unclear),
        ] {
            let found = verdict(
                row(Better::Lower, n, 5.0, Some(5.0), sampled(p, interval)),
                None,
                0.0,
            );
            assert_eq!(found, expected, "p {p}, {interval:?}, {n} values");
        }
    }

    #[test]
    fn a_rule_has_a_threshold_and_a_least_change_of_its_own() {
        let exact = |absolute| row(Better::Lower, 1, absolute, Some(5.0), Basis::Exact);
        let threshold = Rule {
            threshold: Some(10.0),
            ..Rule::default()
        };
        assert_eq!(verdict(exact(5.0), Some(&threshold), 0.0), Verdict::Small);
        let least = Rule {
            least: 1.0,
            ..Rule::default()
        };
        for (absolute, expected) in [
            (0.9, Verdict::Small),
            (-0.9, Verdict::Small),
            (1.0, Verdict::Worse),
        ] {
            assert_eq!(
                verdict(exact(absolute), Some(&least), 0.0),
                expected,
                "{absolute}"
            );
        }
    }

    /// Three tests: the smallest p-value counts three times as much. What is equal stays so, but is
    /// a test like the others.
    #[test]
    fn p_values_are_corrected_for_all_rows_together() {
        let sampled_row = |p| row(Better::Lower, 30, 5.0, Some(5.0), sampled(p, (3.0, 9.0)));
        let mut equal = sampled_row(1.0);
        equal.changes[0].as_mut().unwrap().verdict = Verdict::Same;
        let exact = row(Better::Lower, 1, 5.0, Some(5.0), Basis::Exact);
        let mut rows: Vec<_> = [sampled_row(0.02), exact, sampled_row(0.01), equal]
            .map(|row| Pending {
                row,
                rule: None,
                ticks: vec![0.0],
            })
            .into();
        let policy = Policy {
            threshold: 2.0,
            ..Policy::default()
        };
        judge(&mut rows, &policy, 0.05);
        let found: Vec<_> = rows
            .iter()
            .map(|pending| {
                let change = pending.row.changes[0].as_ref().unwrap();
                let corrected = match change.basis {
                    Basis::Sampled { corrected, .. } => Some(corrected),
                    Basis::Exact => None,
                };
                (corrected, change.verdict)
            })
            .collect();
        assert_eq!(
            found,
            [
                (Some(0.04), Verdict::Worse),
                (None, Verdict::Worse),
                (Some(0.03), Verdict::Worse),
                (Some(1.0), Verdict::Same)
            ]
        );
    }
}
