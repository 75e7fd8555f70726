//! A comparison in the formats that continuous integration reads.

use super::sizes::{in_common, runs_a_side};
use comparison::{Basis, Change, Comparison, Row, Shift, Unjudged, Verdict};
use maud::html;
use recording::grouped;

/// A row, its figure in the last recording, and the change of that.
type LastRow<'c> = (&'c Row, comparison::Cell, &'c Change);

/// Rows that the last recording has, with the last recording's change.
fn last(comparison: &Comparison) -> impl Iterator<Item = LastRow<'_>> {
    comparison.rows.iter().filter_map(|row| {
        let cell = row.cells.last().copied().flatten()?;
        let change = row.changes.last()?.as_ref()?;
        Some((row, cell, change))
    })
}

/// What the comparison found of a row, with its causes.
fn extra(row: &Row, change: &Change) -> String {
    let base = row.cells[0].map_or(0.0, |cell| cell.median);
    let mut lines = vec![format!(
        "base {base:.3} {}, {}",
        row.unit,
        change.verdict.name()
    )];
    if let Basis::Sampled { corrected, .. } = change.basis {
        lines.push(format!("p {corrected:.4}"));
    }
    let mut causes = change.causes.clone();
    causes.sort_by(|a, b| b.absolute().abs().total_cmp(&a.absolute().abs()));
    lines.extend(
        causes
            .iter()
            .filter(|cause| cause.absolute().abs() >= 0.01)
            .map(|cause| format!("{} {:+.3} us", cause.cause.name(), cause.absolute())),
    );
    lines.join("\n")
}

/// JUnit's XML: a test suite per case, a test case per row, and a suite of what rows have in
/// common. A row that became worse has failed, and one that changed by more than the threshold with
/// too few runs for a verdict, unless the policy lets it pass. A row of which nothing can be said,
/// or whose order is another, is skipped.
pub fn junit(comparison: &Comparison) -> String {
    let suites = grouped(last(comparison).map(|entry| {
        let key = &entry.0.key;
        let parts = [&key.variant, &key.case, &key.mode].map(String::as_str);
        (
            parts
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
            entry,
        )
    }));
    let shifts = comparison
        .shifts
        .iter()
        .filter(|shift| shift.side + 1 == comparison.sides.len());
    let shifts: Vec<&Shift> = shifts.collect();
    let wrong = |change: &Change| match (change.verdict, comparison.unjudged) {
        (Verdict::Worse, _) => Some("regression"),
        (_, Unjudged::Pass) => None,
        _ => (change.is_open() && !change.below).then_some("cannot-be-judged"),
    };
    let skipped = |change: &Change| wrong(change).is_none() && is_unjudged(change.verdict);
    let count = |rows: &[LastRow<'_>], which: &dyn Fn(&Change) -> bool| {
        rows.iter().filter(|(.., change)| which(change)).count()
    };
    let worse = |shift: &Shift| shift.verdict == Verdict::Worse;
    let text = html! {
        testsuites name="stopwatt compare" {
            @if !shifts.is_empty() {
                @let failures = shifts.iter().filter(|shift| worse(shift)).count();
                testsuite name="in common" tests=(shifts.len()) failures=(failures) errors="0" skipped="0" {
                    @for shift in &shifts {
                        @let said = in_common(comparison, shift);
                        testcase classname="in common" name=(shift.metric) {
                            @if worse(shift) { failure type="regression" message=(said) {} }
                            system-out { (said) }
                        }
                    }
                }
            }
            @for (name, rows) in &suites {
                @let (failures, open) = (count(rows, &|change| wrong(change).is_some()), count(rows, &skipped));
                testsuite name=(name) tests=(rows.len()) failures=(failures) errors="0" skipped=(open) {
                    @for (row, cell, change) in rows {
                        @let said = format!("{} {}: {}", number(cell.median), row.unit, extra(row, change));
                        testcase classname=(name) name=(row.key.label()) {
                            @if let Some(kind) = wrong(change) {
                                failure type=(kind) message=(failure(comparison, row, change)) { (said) }
                            } @else if is_unjudged(change.verdict) {
                                skipped message=(change.verdict.name()) {}
                            }
                            system-out { (said) }
                        }
                    }
                }
            }
        }
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        text.into_string()
    )
}

/// A figure with six digits at most, as people read them.
fn number(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The change of a row that failed, in words.
fn failure(comparison: &Comparison, row: &Row, change: &Change) -> String {
    let percent = change
        .percent
        .map_or_else(String::new, |percent| format!(" ({percent:+.2} %)"));
    let open = comparison
        .too_few(comparison.sides.len() - 1)
        .filter(|_| change.too_few)
        .map_or_else(String::new, |open| {
            let runs = runs_a_side(change.runs);
            format!(
                "; with {runs} that cannot be told from chance, a verdict needs {} or more",
                open.needed
            )
        });
    let session = if change.verdict == Verdict::Session {
        "; two sessions of one firmware differ by as much"
    } else {
        ""
    };
    format!(
        "{} changed by {:+} {}{percent}{open}{session}",
        row.key.label(),
        number(change.absolute),
        row.unit
    )
}

/// True if nothing is said of a row.
fn is_unjudged(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Unclear | Verdict::Order | Verdict::Session
    )
}
