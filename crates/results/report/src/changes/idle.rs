//! Kernels' counts of their idle states, side by side.

use super::answer::missing;
use super::names::letter;
use crate::blocks::{Blocks, Number, Table, fixed, grouped, name};
use comparison::{Comparison, IdleShare, IdleTest, Outcome};
use itertools::Itertools;

/// Tests that the answer names at most.
const MOST_NAMED: usize = 2;

/// Tells what changed: the answer, then a table of misses and one of each state's share.
pub fn tell(told: &mut Blocks, comparison: &Comparison) {
    let tests = &comparison.idle;
    let sides = comparison.sides.len();
    let open = match comparison.outcome() {
        Outcome::Unjudged if comparison.missing.is_empty() => {
            " One run a side cannot tell that from chance."
        }
        _ => "",
    };
    let lacks = missing(comparison).into_iter();
    let mut said = lacks.chain([answer(tests, sides) + open]);
    told.answer(said.join(" "));
    let several = tests.iter().any(|test| test.variant != tests[0].variant);
    let percent = |share: Option<f64>| share.map(|share| fixed(share, 2));
    let rows = tests
        .iter()
        .flat_map(|test| (0..sides).map(move |side| (test, side)))
        .collect_vec();
    let rows = rows
        .into_iter()
        .filter(|(test, side)| test.sums[*side].is_some())
        .collect_vec();
    let table = Table::with_rows(&rows)
        .words("test", |(test, _)| name(test.case.as_str()))
        .when(several, |table| {
            table.words("kernel", |(test, _)| name(test.variant.as_str()))
        })
        .words("", |(_, side)| letter(*side))
        .numbers("entries", |(test, side)| {
            test.sums[*side].map(|sum| grouped(sum.entered as u64))
        });
    let table = ["above", "below", "misses"].into_iter().enumerate().fold(
        table,
        |table, (which, heading)| {
            table
                .numbers(format!("{heading}, %"), move |(test, side)| {
                    percent(test.misses(*side)[which])
                })
                .numbers("change", move |(test, side)| {
                    if *side > 0 {
                        points(test.changes(*side)[which])
                    } else {
                        None
                    }
                })
        },
    );
    told.table(
        table
            .done()
            .titled("Entries into a wrong idle state, changes in points"),
    );
    shares(told, tests, sides, several);
    told.note("above: too deep, below: too shallow, misses: both, in percent of all entries, summed over CPUs.");
}

/// The share of each state, by test and recording.
fn shares(told: &mut Blocks, tests: &[IdleTest], sides: usize, several: bool) {
    let percent = |share: Option<f64>| share.map(|share| fixed(share, 2));
    let shares = tests
        .iter()
        .flat_map(|test| test.states.iter().map(move |share| (test, share)))
        .collect_vec();
    let table = Table::with_rows(&shares)
        .words("test", |(test, _)| name(test.case.as_str()))
        .when(several, |table| {
            table.words("kernel", |(test, _)| name(test.variant.as_str()))
        })
        .words("state", |(_, share)| name(share.state.as_str()))
        .each(0..sides, |table, side| {
            let table = table.numbers(format!("{}, %", letter(side)), move |(_, share)| {
                percent(share.shares[side])
            });
            table.when(side > 0, |table| {
                table.numbers(format!("{}-A, points", letter(side)), move |(_, share)| {
                    points(share.shares[0].and_then(|base| Some(share.shares[side]? - base)))
                })
            })
        });
    let of = if tests.iter().all(|test| test.by_time) {
        "idle time"
    } else {
        "entries"
    };
    told.table(
        table
            .done()
            .titled(format!("Share of the {of} in each state")),
    );
}

/// A change in points; one that is written as 0 has no minus.
fn points(change: Option<f64>) -> Option<Number> {
    change.map(|change| fixed(if change.abs() < 0.005 { 0.0 } else { change }, 2).signed())
}

/// The state whose share moved most, where wrong states are not counted on both sides.
fn moved(tests: &[IdleTest], side: usize) -> String {
    let shares = tests
        .iter()
        .flat_map(|test| test.states.iter().map(move |share| (test, share)));
    let change = |of: &(&IdleTest, &IdleShare)| {
        let [base, other] = [0, side].map(|side| of.1.shares[side].unwrap_or(0.0));
        other - base
    };
    let most = shares.max_by(|a, b| change(a).abs().total_cmp(&change(b).abs()));
    let Some((test, share)) = most else {
        return "No idle state was entered.".to_owned();
    };
    let percent = |side: usize| fixed(share.shares[side].unwrap_or(0.0), 2);
    let (other, of) = (
        letter(side),
        if test.by_time { "idle time" } else { "entries" },
    );
    format!(
        "{} has {} % of the {of} in {other} and {} % in A; no state's share moved more. Stays above and below are not counted on both \
         sides.",
        share.state,
        percent(side),
        percent(0)
    )
}

/// "B misses more than A in 3 of 4 tests, ...": of each recording but the base.
fn answer(tests: &[IdleTest], sides: usize) -> String {
    let mut sentences = (1..sides).map(|side| {
        let mut changed = tests
            .iter()
            .filter_map(|test| match test.changes(side) {
                [Some(above), Some(below), Some(misses)] => Some((test, [above, below, misses])),
                _ => None,
            })
            .collect_vec();
        changed.sort_by(|a, b| b.1[2].abs().total_cmp(&a.1[2].abs()));
        let other = letter(side);
        let signed = |change: f64| points(Some(change)).map_or_else(String::new, |points| points.to_string());
        match &changed[..] {
            [] => moved(tests, side),
            [(test, [above, below, misses])] => {
                let percent = |side: usize| fixed(test.misses(side)[2].unwrap_or(0.0), 2);
                format!(
                    "{other} chose a wrong idle state in {} % of the entries and A in {} %: {} points, {} above (too deep) and {} below (too shallow).",
                    percent(side),
                    percent(0),
                    signed(*misses),
                    signed(*above),
                    signed(*below)
                )
            }
            several => {
                let more = several.iter().filter(|(_, [.., misses])| *misses > 0.0).count();
                let clause = |(test, [above, below, misses]): &(&IdleTest, [f64; 3])| {
                    let name = [test.variant.as_str(), test.case.as_str()].join(" ");
                    format!("{} {} points ({} above, {} below)", name.trim(), signed(*misses), signed(*above), signed(*below))
                };
                let clauses = several.iter().take(MOST_NAMED).map(clause).collect_vec();
                format!(
                    "{other} chose a wrong idle state more often than A in {more} of {} tests. The share changed most in {}.",
                    several.len(),
                    clauses.join(", ")
                )
            }
        }
    });
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::idle::IdleSum;

    fn test(case: &str, base: [f64; 3], other: [f64; 3]) -> IdleTest {
        let sum = |[entered, above, below]: [f64; 3]| {
            Some(IdleSum {
                entered,
                above: Some(above),
                below: Some(below),
                ..IdleSum::default()
            })
        };
        IdleTest {
            variant: String::new(),
            case: case.to_owned(),
            sums: vec![sum(base), sum(other)],
            states: Vec::new(),
            by_time: false,
        }
    }

    #[test]
    fn the_answer_names_the_largest_change_first() {
        let (small, large) = (
            test("fio", [100.0, 20.0, 5.0], [100.0, 20.0, 3.0]),
            test("jbb", [100.0, 20.0, 5.0], [200.0, 80.0, 5.0]),
        );
        let one = answer(std::slice::from_ref(&large), 2);
        assert!(
            one.starts_with("B chose a wrong idle state in 42.50 % of the entries and A in 25.00 %: +17.50 points"),
            "{one}"
        );
        let two = answer(&[small, large], 2);
        assert_eq!(
            two,
            "B chose a wrong idle state more often than A in 1 of 2 tests. The share changed most in jbb +17.50 points (+20.00 above, -2.50 below), fio -2.00 points (+0.00 above, -2.00 below)."
        );
    }
}
