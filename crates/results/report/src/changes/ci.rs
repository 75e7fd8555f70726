//! A comparison in the formats that continuous integration reads.

use crate::words::changes::{bound, in_common};
use crate::words::names::table_name;
use comparison::{
    Basis, Change, Comparison, FEWEST_RUNS, Missing, PartChange, Row, Shift, Unjudged, Verdict,
};
use itertools::Itertools;
use maud::{Markup, html};
use recording::grouped;
use recording::stats::to_millionths;

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
    let base = row.cells[0].map_or(0.0, |cell| cell.value);
    let mut lines = vec![format!(
        "base {base:.3} {}, {}",
        row.unit,
        change.verdict.name()
    )];
    if let Basis::Runs { p, .. } = change.basis {
        lines.push(format!("p {p:.4}"));
    }
    lines.extend(
        PartChange::sorted(change.causes.clone())
            .iter()
            .filter(|cause| cause.absolute().abs() >= 0.01)
            .map(|cause| format!("{} {:+.3} us", cause.part.name(), cause.absolute())),
    );
    lines.join("\n")
}

/// JUnit's XML: a test suite per case, a test case per row, and suites of what rows have in common
/// and of what a side lacks. A row that became worse has failed; so has one that a side lacks, and
/// one that changed by more than the threshold and cannot be judged, unless the policy lets it pass.
/// A row of which nothing can be told from chance is skipped.
pub fn junit(comparison: &Comparison) -> String {
    let has_bounds = !comparison.bounds.is_empty();
    let suites = grouped(last(comparison).map(|entry| (table_name(entry.0), entry)));
    // Where there are bounds, no change decides.
    let suites = if has_bounds { Vec::new() } else { suites };
    let shifts = comparison
        .shifts
        .iter()
        .filter(|shift| !has_bounds && shift.side + 1 == comparison.sides.len())
        .collect_vec();
    let wrong = |change: &Change| match (change.verdict, comparison.unjudged) {
        (Verdict::Worse, _) => Some("regression"),
        (_, Unjudged::Pass) => None,
        _ => (change.is_open() && !change.below).then_some("cannot-be-judged"),
    };
    let skipped = |change: &Change| wrong(change).is_none() && is_unjudged(change);
    let count = |rows: &[LastRow<'_>], which: &dyn Fn(&Change) -> bool| {
        rows.iter().filter(|(.., change)| which(change)).count()
    };
    let worse = |shift: &Shift| shift.verdict == Verdict::Worse;
    let text = html! {
        testsuites name="stopwatt compare" {
            @for of in &comparison.bounds {
                @let said = bound(comparison, of);
                @let failed = !of.holds.unwrap_or(matches!(comparison.unjudged, Unjudged::Pass));
                testsuite name="bounds" tests="1" failures=(u8::from(failed)) errors="0" skipped="0" {
                    testcase classname="bounds" name=(of.bound) {
                        @if failed { failure type="bound" message=(said) {} }
                    }
                }
            }
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
            @if !has_bounds { (missing(comparison)) }
            @for (name, rows) in &suites {
                @let (failures, open) = (count(rows, &|change| wrong(change).is_some()), count(rows, &skipped));
                testsuite name=(name) tests=(rows.len()) failures=(failures) errors="0" skipped=(open) {
                    @for (row, cell, change) in rows {
                        @let said = format!("{} {}: {}", to_millionths(cell.value), row.unit, extra(row, change));
                        testcase classname=(name) name=(row.key.label()) {
                            @if let Some(kind) = wrong(change) {
                                failure type=(kind) message=(failure(row, change)) { (said) }
                            } @else if is_unjudged(change) {
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

/// The suite of what a side lacks; each is a failure, unless the policy lets it pass.
fn missing(comparison: &Comparison) -> Markup {
    let missing: &[Missing] = match comparison.unjudged {
        Unjudged::Pass => &[],
        _ => &comparison.missing,
    };
    html! {
        @if !missing.is_empty() {
            testsuite name="missing" tests=(missing.len()) failures=(missing.len()) errors="0" skipped="0" {
                @for lack in missing {
                    testcase classname="missing" name=(lack.key.label()) {
                        failure type="missing" message=(format!("{} lacks it", comparison.sides[lack.side].name)) {}
                    }
                }
            }
        }
    }
}

/// The change of a row that failed, in words.
fn failure(row: &Row, change: &Change) -> String {
    let percent = change
        .percent
        .map_or_else(String::new, |percent| format!(" ({percent:+.2} %)"));
    let open = match change.verdict {
        Verdict::TooFew | Verdict::Large => format!(
            "; too few runs to tell that from chance, a verdict needs {FEWEST_RUNS} runs a side"
        ),
        Verdict::Unjudged(condition) => format!("; the {} is another", condition.name()),
        _ => String::new(),
    };
    format!(
        "{} changed by {:+} {}{percent}{open}",
        row.key.label(),
        to_millionths(change.absolute),
        row.unit
    )
}

/// True if nothing is said of a row.
fn is_unjudged(change: &Change) -> bool {
    change.verdict == Verdict::Unclear || change.is_open()
}
