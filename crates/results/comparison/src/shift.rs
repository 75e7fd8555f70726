//! The common change of a measure: rows of one run move together, and say more together than each
//! alone.
//!
//! Each run has one figure, the mean of the logarithms of its rows, and two sides of runs are set
//! against each other ([`Student`]). So the unit is the run, however many rows and iterations it
//! has, and the correction is for the number of measures and not of rows.

use crate::matching::Pending;
use crate::policy::Policy;
use crate::result::{Basis, Shift, Verdict};
use crate::statistics::{FEWEST_RUNS, holm};
use crate::student::{Student, logarithms, mean};
use recording::grouped;
use recording::metrics::Better;

/// Rows of a metric whose values are runs, by their place, and the side in which they are compared.
type Group = ((usize, String), Vec<usize>);

/// The common changes of all measures that have several rows with enough runs; `is_run` says of a
/// side whether its values and the base's are runs that were measured.
pub(crate) fn shifts(
    rows: &[Pending<'_>],
    policy: &Policy,
    is_run: impl Fn(usize) -> bool,
) -> Vec<Shift> {
    let sides = rows
        .iter()
        .enumerate()
        .flat_map(|(place, Pending { row, .. })| {
            (1..).zip(&row.changes).filter_map(move |(side, change)| {
                let enough = row.values[0].len().min(row.values[side].len()) >= FEWEST_RUNS;
                let sampled = change
                    .as_ref()
                    .is_some_and(|change| change.basis != Basis::Exact);
                (enough && sampled).then(|| ((side, row.key.metric.clone()), place))
            })
        });
    let groups: Vec<Group> = grouped(sides.filter(|((side, _), _)| is_run(*side)));
    let level = 1.0 - policy.alpha / 2.0 / groups.len().max(1) as f64;
    let shift = |group: &Group| shift(rows, group, policy, level);
    let mut shifts: Vec<(Shift, f64)> = groups.iter().filter_map(shift).collect();
    let p_values: Vec<f64> = shifts.iter().map(|(shift, _)| shift.p).collect();
    for ((shift, threshold), corrected) in shifts.iter_mut().zip(holm(&p_values)) {
        shift.corrected = corrected;
        let differs = corrected < policy.alpha / 2.0;
        shift.verdict = match (differs, shift.better) {
            (false, _) => Verdict::Unclear,
            (true, _) if shift.percent.abs() < *threshold || shift.moved == 0 => Verdict::Small,
            (true, Better::Neither) => Verdict::Changed,
            (true, better) if (better == Better::Lower) == (shift.percent < 0.0) => Verdict::Better,
            (true, _) => Verdict::Worse,
        };
    }
    shifts.into_iter().map(|(shift, _)| shift).collect()
}

/// The change of a group of at least two rows with the threshold that it must reach, the largest of
/// its rows; without a verdict.
fn shift(
    rows: &[Pending<'_>],
    ((side, metric), places): &Group,
    policy: &Policy,
    level: f64,
) -> Option<(Shift, f64)> {
    let sides = [0, *side];
    let runs = sides.map(|side| {
        places
            .iter()
            .map(|&place| rows[place].row.values[side].len())
            .max()
            .unwrap_or(0)
    });
    let logs = |&place: &usize| -> Option<(usize, [Vec<f64>; 2])> {
        let [base, other] = sides.map(|side| &rows[place].row.values[side]);
        let is_whole = [base.len(), other.len()] == runs;
        is_whole.then_some((place, [logarithms(base)?, logarithms(other)?]))
    };
    let whole: Vec<_> = places.iter().filter_map(logs).collect();
    if whole.len() < 2 {
        return None;
    }
    let of_run = |which: usize, run| {
        mean(
            &whole
                .iter()
                .map(|(_, logs)| logs[which][run])
                .collect::<Vec<_>>(),
        )
    };
    let [base, other] = [0, 1].map(|which| {
        (0..runs[which])
            .map(|run| of_run(which, run))
            .collect::<Vec<f64>>()
    });
    let Student {
        percent,
        p,
        interval,
    } = Student::new(&base, &other, 0.0, level)?;
    let of_group = || whole.iter().map(|(place, _)| &rows[*place]);
    let moved = |pending: &&Pending<'_>| {
        let change = pending.row.changes[side - 1].as_ref();
        change.is_some_and(|change| {
            change.absolute * percent > 0.0 && !pending.is_below(change, policy)
        })
    };
    let better = of_group()
        .map(|pending| pending.row.better)
        .reduce(|a, b| if a == b { a } else { Better::Neither })?;
    let shift = Shift {
        side: *side,
        metric: metric.clone(),
        rows: whole.len(),
        moved: of_group().filter(moved).count(),
        runs,
        percent,
        interval,
        p,
        corrected: 1.0,
        better,
        verdict: Verdict::Unclear,
    };
    let threshold = of_group()
        .map(|pending| pending.threshold(policy))
        .fold(0.0, f64::max);
    Some((shift, threshold))
}
