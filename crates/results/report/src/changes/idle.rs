//! Kernels' counts of their idle states, side by side.

use crate::blocks::{Blocks, Table, fixed, grouped};
use crate::words::changed_counts::{misses, points};
use crate::words::changes::missing;
use crate::words::names::letter;
use comparison::{Comparison, IdleTest, Outcome};
use itertools::Itertools;

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
    let mut said = missing(comparison)
        .into_iter()
        .chain([misses(tests, sides) + open]);
    told.answer(said.join(" "));
    let several = tests.iter().any(|test| test.variant != tests[0].variant);
    let percent = |share: Option<f64>| share.map(|share| fixed(share, 2));
    let rows = tests
        .iter()
        .flat_map(|test| (0..sides).map(move |side| (test, side)))
        .filter(|(test, side)| test.sums[*side].is_some())
        .collect_vec();
    let table = Table::with_rows(&rows)
        .words("test", |(test, _)| &test.case)
        .when(several, |table| {
            table.words("kernel", |(test, _)| &test.variant)
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
                    test.changes(*side)[which].filter(|_| *side > 0).map(points)
                })
        },
    );
    told.table(table.titled("Entries into a wrong idle state, changes in points"));
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
        .words("test", |(test, _)| &test.case)
        .when(several, |table| {
            table.words("kernel", |(test, _)| &test.variant)
        })
        .words("state", |(_, share)| &share.state)
        .each(0..sides, |table, side| {
            let table = table.numbers(format!("{}, %", letter(side)), move |(_, share)| {
                percent(share.shares[side])
            });
            table.when(side > 0, |table| {
                table.numbers(format!("{}-A, points", letter(side)), move |(_, share)| {
                    share.shares[0].and_then(|base| Some(points(share.shares[side]? - base)))
                })
            })
        });
    let of = if tests.iter().all(|test| test.by_time) {
        "idle time"
    } else {
        "entries"
    };
    told.table(table.titled(format!("Share of the {of} in each state")));
}
