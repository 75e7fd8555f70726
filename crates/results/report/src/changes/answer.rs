//! The answer of a comparison, in a few sentences.

use super::names::{letter, table_name};
use super::sizes::{in_common, in_sessions, is_alike, nothing, state, too_few};
use crate::blocks::{figure, fixed};
use crate::words::capital;
use comparison::{
    Better, Change, Comparison, CriticalPath, Row, Shift, TablePaths, Totals, Verdict,
};
use recording::{grouped, stats};
use std::collections::BTreeSet;

/// Sentences of changes at most, beside the one on the order.
const MOST_SENTENCES: usize = 2;

/// A change with its row and the recording that it is in.
type ChangedRow<'c> = (&'c Row, usize, &'c Change);

/// The changes that matter in sentences: of what measure, in how many rows, by how much and why,
/// the weightiest first; then the critical path that changed most, and what was not judged.
pub(super) fn answer(comparison: &Comparison) -> String {
    let mut groups = groups(comparison);
    let is_of = |group: &[ChangedRow<'_>], shift: &Shift| {
        let (row, side, change) = group[0];
        (shift.side, &shift.metric) == (side, &row.key.metric)
            && shift.percent * change.absolute > 0.0
    };
    // A common change tells more than rows alone where they moved alike, and less where they did
    // not.
    let (alike, others): (Vec<&Shift>, Vec<&Shift>) = comparison
        .shifts
        .iter()
        .filter(|shift| matters(shift.verdict))
        .partition(|shift| is_alike(comparison, shift));
    groups.retain(|group| !alike.iter().any(|shift| is_of(group, shift)));
    let alone = others
        .into_iter()
        .filter(|shift| !groups.iter().any(|group| is_of(group, shift)));
    let told: Vec<&Shift> = alike.into_iter().chain(alone).collect();
    let totals = comparison.totals();
    groups.sort_by(|a, b| weight(&totals, b).total_cmp(&weight(&totals, a)));
    // A regression is never left out.
    let first_worse = groups
        .iter()
        .position(|group| group[0].2.verdict == Verdict::Worse);
    if let Some(place) = first_worse.filter(|place| *place >= MOST_SENTENCES) {
        groups.swap(place, MOST_SENTENCES - 1);
    }
    let mut sentences: Vec<String> = told
        .iter()
        .map(|shift| in_common(comparison, shift))
        .collect();
    sentences.extend(
        groups
            .iter()
            .take(MOST_SENTENCES)
            .map(|group| sentence(group)),
    );
    sentences.extend(others_in_short(
        groups.get(MOST_SENTENCES..).unwrap_or_default(),
    ));
    if let (Some(first), Some(path)) = (sentences.first_mut(), longest_path(comparison)) {
        *first = format!("{first} {path}");
    }
    // What is open comes first, unless there is a regression to tell.
    let sessions = || comparison.sessions.iter();
    let few = (1..comparison.sides.len()).filter_map(|side| too_few(comparison, side));
    let open = few.chain(sessions().filter_map(|of| in_sessions(comparison, of)));
    let at = usize::from(comparison.has_regression()) * sentences.len();
    sentences.splice(at..at, open.collect::<Vec<_>>());
    sentences.splice(0..0, sessions().filter_map(state).collect::<Vec<_>>());
    if sentences.is_empty() {
        sentences.push(nothing(comparison));
    }
    sentences.extend(unjudged(comparison));
    sentences.join(" ")
}

/// The changes that matter, by recording, measure and verdict.
fn groups(comparison: &Comparison) -> Vec<Vec<ChangedRow<'_>>> {
    let changes = comparison.rows.iter().flat_map(|row| {
        let changes = (1..)
            .zip(&row.changes)
            .filter_map(|(side, change)| Some((side, change.as_ref()?)));
        changes
            .filter(|(_, change)| matters(change.verdict))
            .map(move |(side, change)| {
                // What became more and what became less is not told in one breath.
                (
                    (
                        side,
                        &row.key.metric,
                        change.verdict,
                        change.absolute.signum(),
                    ),
                    (row, side, change),
                )
            })
    });
    grouped(changes)
        .into_iter()
        .map(|(_, group)| group)
        .collect()
}

fn matters(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Worse | Verdict::Better | Verdict::Changed)
}

/// The sum of the changes as a share of the measure's total.
fn weight(totals: &Totals<'_>, group: &[ChangedRow<'_>]) -> f64 {
    group
        .iter()
        .map(|(row, _, change)| totals.share(row, change))
        .sum()
}

/// "Powerdown is 6.1 % less in B, in the median of 42 rows of 8 tables (3.0 to 10.1 %), most of it
/// SCP wait."
fn sentence(group: &[ChangedRow<'_>]) -> String {
    let (head, side, first) = group[0];
    let metric = capital(&head.key.metric.replace('_', " "));
    let way = more_or_less(first.absolute);
    let cause = main_cause(group).map_or_else(String::new, |cause| format!(", most of it {cause}"));
    let judged = match (head.better, first.verdict) {
        (Better::Lower, _) | (_, Verdict::Changed) => "",
        (_, Verdict::Worse) => ", which is worse",
        _ => ", which is better",
    };
    let mut sizes: Vec<f64> = group
        .iter()
        .filter_map(|(_, _, change)| Some(change.percent?.abs()))
        .collect();
    sizes.sort_by(f64::total_cmp);
    let text = |size: f64| fixed(size, 1).to_string();
    // In a base of 0 there is no part of it.
    let middle = match stats::median(&sizes) {
        Some(middle) => format!("{} % {way} in {}", text(middle), letter(side)),
        None => format!(
            "{} {way} in {}",
            fixed(first.absolute.abs(), 3),
            letter(side)
        ),
    };
    let [(row, ..)] = group else {
        let tables: BTreeSet<_> = group
            .iter()
            .map(|(row, ..)| (&row.key.variant, &row.key.case, &row.key.mode))
            .collect();
        let tables = match tables.len() {
            1 => table_name(head),
            count => format!("{count} tables"),
        };
        // A few rows may have changed by far more than all others.
        let (median, range) = match (sizes.first(), sizes.last()) {
            (Some(least), Some(most)) if text(*least) != text(*most) => (
                ", in the median of ",
                format!(" ({} to {} %)", text(*least), text(*most)),
            ),
            _ => (" in ", String::new()),
        };
        let largest = group
            .iter()
            .max_by(|a, b| middle_of(a.0, 0).total_cmp(&middle_of(b.0, 0)));
        let largest = largest.and_then(|(row, _, change)| Some((row, change.percent?)));
        let largest = largest.map_or_else(String::new, |(row, percent)| {
            let size = fixed(percent.abs(), 1);
            format!(
                " The largest, of {}, is {size} % {way} ({}).",
                name_of(row),
                from_to(row, side)
            )
        });
        return format!(
            "{metric} is {middle}{median}{} rows of {tables}{range}{judged}{cause}.{largest}",
            group.len()
        );
    };
    format!(
        "{metric} of {} is {middle} ({}){judged}{cause}.",
        name_of(row),
        from_to(row, side)
    )
}

/// The median of a row in a recording.
fn middle_of(row: &Row, side: usize) -> f64 {
    row.cells
        .get(side)
        .copied()
        .flatten()
        .map_or(f64::NAN, |cell| cell.median)
}

/// The row's case and place, without its measure.
fn name_of(row: &Row) -> String {
    row.key
        .label()
        .replacen(&format!(", {}", row.key.metric), "", 1)
}

/// "10.00 to 11.00 us": a row in the base and in a recording.
fn from_to(row: &Row, side: usize) -> String {
    format!(
        "{} to {} {}",
        figure(middle_of(row, 0)),
        figure(middle_of(row, side)),
        row.unit
    )
}

fn more_or_less(change: f64) -> &'static str {
    if change < 0.0 { "less" } else { "more" }
}

/// "Also wakeup is more in 20 rows of B and less in 10 rows of B.": groups that have no sentence of
/// their own.
fn others_in_short(groups: &[Vec<ChangedRow<'_>>]) -> Option<String> {
    let names = grouped(groups.iter().map(|group| {
        let (row, side, change) = group[0];
        let rows = if group.len() == 1 { "row" } else { "rows" };
        let part = format!(
            "{} in {} {rows} of {}",
            more_or_less(change.absolute),
            group.len(),
            letter(side)
        );
        (&row.key.metric, part)
    }));
    let clauses: Vec<String> = names
        .iter()
        .map(|(name, parts)| format!("{} is {}", name.replace('_', " "), parts.join(" and ")))
        .collect();
    (!clauses.is_empty()).then(|| format!("Also {}.", clauses.join(", ")))
}

/// The cause to which more than half of the changes goes, over all rows of the group.
fn main_cause(group: &[ChangedRow<'_>]) -> Option<&'static str> {
    let whole: f64 = group.iter().map(|(_, _, change)| change.absolute).sum();
    let causes: BTreeSet<_> = group
        .iter()
        .flat_map(|(_, _, change)| change.causes.iter().map(|cause| cause.cause))
        .collect();
    let part = |wanted| -> f64 {
        let of_rows = group.iter().flat_map(|(_, _, change)| &change.causes);
        of_rows
            .filter(|cause| cause.cause == wanted)
            .map(comparison::CauseChange::absolute)
            .sum()
    };
    let (cause, most) = causes
        .into_iter()
        .map(|cause| (cause, part(cause) / whole))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (most > 0.5).then(|| cause.title())
}

/// The critical path of a slowest CPU that changed most, in a sentence; of tables that are judged.
fn longest_path(comparison: &Comparison) -> Option<String> {
    let judged = |paths: &&TablePaths| {
        let of = (&paths.variant, &paths.case, &paths.mode);
        !comparison
            .orders
            .iter()
            .any(|order| (&order.variant, &order.case, &order.mode) == of)
            && comparison.rows.iter().any(|row| {
                (
                    &row.key.variant,
                    &row.key.case,
                    &row.key.mode,
                    &row.key.metric,
                ) == (&paths.variant, &paths.case, &paths.mode, &paths.metric)
                    && row
                        .changes
                        .iter()
                        .flatten()
                        .any(|change| matters(change.verdict))
            })
    };
    let change = |paths: &TablePaths| {
        Some(paths.paths.get(1)?.as_ref()?.total() - paths.paths[0].as_ref()?.total())
    };
    let (paths, by) = comparison
        .paths
        .iter()
        .filter(judged)
        .filter_map(|paths| Some((paths, change(paths)?)))
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let [Some(base), Some(other)] = &paths.paths[..] else {
        return None;
    };
    let CriticalPath { who, .. } = base;
    let part = base.changes(other).into_iter().next()?;
    // The part that changed most may have gone the other way.
    if part.absolute().signum() != by.signum() || by == 0.0 {
        return None;
    }
    let who = if *who == other.who {
        who.to_string()
    } else {
        format!("{who} and {}", other.who)
    };
    let table = [&paths.variant, &paths.case, &paths.mode].map(String::as_str);
    Some(format!(
        "The slowest CPU of {} ({who}) takes {} us {} in B ({} to {} us; {} {} us {}).",
        table
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
        figure(by.abs()),
        more_or_less(by),
        figure(base.total()),
        figure(other.total()),
        part.spent.title(),
        figure(part.absolute().abs()),
        more_or_less(part.absolute()),
    ))
}

/// The rows that the order of the CPUs decides, in a sentence.
fn unjudged(comparison: &Comparison) -> Option<String> {
    let count = comparison.count(Verdict::Order);
    let tables: Vec<String> = {
        let mut names: Vec<String> = comparison
            .orders
            .iter()
            .map(|order| format!("{} {}", order.case, order.mode))
            .collect();
        names.dedup();
        names
    };
    let which = match tables.as_slice() {
        [one] => one.clone(),
        more => format!("{} tables", more.len()),
    };
    (count > 0)
        .then(|| format!("{count} rows of {which} are not judged, because the order in which CPUs came decides them."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use comparison::{Input, Options};
    use findings::Findings;
    use recording::{Header, Recording};

    /// Rows of a simulation: case, metric, CPU, microseconds.
    fn run(rows: &[(&str, &str, u16, f64)]) -> Recording {
        let mut recording = Recording::new(Header::new("e", "sim", "ps"));
        for &(case, metric, cpu, value) in rows {
            let series = recording.series("v", case, "serial");
            recording.measure(series, 0, metric, "us", value).cpu = Some(cpu);
        }
        recording
    }

    fn told(a: &[(&str, &str, u16, f64)], b: &[(&str, &str, u16, f64)]) -> String {
        let (a, b) = (run(a), run(b));
        let [a, b] = [&a, &b].map(|recording| Findings::new(recording, "", None));
        answer(
            &comparison::compare(
                &[Input::new("A", &a), Input::new("B", &b)],
                &Options::default(),
            )
            .unwrap(),
        )
    }

    #[test]
    fn each_measure_that_changed_has_a_sentence_and_a_regression_is_among_them() {
        let base = [
            ("c", "down", 0, 100.0),
            ("c", "down", 1, 100.0),
            ("d", "down", 0, 50.0),
            ("c", "wake", 0, 10.0),
        ];
        assert_eq!(told(&base, &base), "Nothing changed: no row moved.");
        let mut other = base;
        other[3].3 = 10.05;
        assert_eq!(
            told(&base, &other),
            "No row changed by as much as the threshold: none moved by more than 0.5 %."
        );
        other[3].3 = 11.0;
        assert_eq!(
            told(&base, &other),
            "Wake of c serial, CPU 0 is 10.0 % more in B (10.00 to 11.00 us)."
        );
        (other[0].3, other[1].3) = (90.0, 80.0);
        let two = "Down is 15.0 % less in B, in the median of 2 rows of c serial (10.0 to 20.0 %). The largest, of c serial, CPU 1, is 20.0 % less (100.0 to 80.00 us). Wake of c serial, CPU 0 is 10.0 % more in B (10.00 to 11.00 us).";
        assert_eq!(told(&base, &other), two);
        other[2].3 = 25.0;
        assert!(told(&base, &other).starts_with(
            "Down is 20.0 % less in B, in the median of 3 rows of 2 tables (10.0 to 50.0 %). The largest, of"
        ));
        // The regression is the smallest of three measures.
        let more = |value: f64| {
            [
                ("c", "down", 0, 100.0 / value),
                ("c", "wake", 0, 100.0 / value),
                ("c", "call", 0, if value > 1.0 { 118.92 } else { 100.0 }),
            ]
        };
        let found = told(&more(1.0), &more(2.0));
        assert!(
            found.contains("Call of c serial, CPU 0 is 18.9 % more in B"),
            "{found}"
        );
        assert!(
            found.ends_with("Also wake is less in 1 row of B."),
            "{found}"
        );
    }
}
