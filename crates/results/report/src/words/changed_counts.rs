//! Changed counts: of functions' instructions, of wrong idle states, and of calls in time of a board.

use super::listed;
use super::names::letter;
use crate::blocks::{Number, figure, fixed, one_or_range};
use comparison::{CallFunctions, Comparison, IdleShare, IdleTest, OnBoard};
use itertools::Itertools;
use recording::total_order;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Functions that the sentence names.
const MOST_FUNCTIONS: usize = 3;

/// Tests that the answer names at most.
const MOST_TESTS: usize = 2;

/// A function over all calls: its instructions in each recording if each call is made once, and its
/// changes in the calls in which it changed.
pub struct Whole<'c> {
    /// The function.
    pub name: &'c str,
    /// Its instructions in each recording.
    pub instructions: Vec<f64>,
    /// Its changes, call by call.
    pub changes: Vec<f64>,
}

/// The functions whose instructions changed in a recording, over all calls, the one that changed
/// most first.
pub fn wholes(calls: &[CallFunctions], side: usize) -> Vec<Whole<'_>> {
    let mut functions = BTreeMap::new();
    for row in calls
        .iter()
        .flat_map(|call| &call.changed)
        .filter(|row| row.change(side) != 0.0)
    {
        let instructions = || vec![0.0; row.instructions.len()];
        let whole = functions.entry(&row.name).or_insert_with(|| Whole {
            name: &row.name,
            instructions: instructions(),
            changes: Vec::new(),
        });
        whole
            .instructions
            .iter_mut()
            .zip(&row.instructions)
            .for_each(|(sum, value)| *sum += value);
        whole.changes.push(row.change(side));
    }
    let mut functions = functions.into_values().collect_vec();
    let moved = |whole: &Whole<'_>| whole.changes.iter().map(|change| change.abs()).sum::<f64>();
    functions.sort_by(|a, b| moved(b).total_cmp(&moved(a)).then(a.name.cmp(b.name)));
    functions
}

/// A change of a count with its sign: whole where it is whole.
pub fn signed(value: f64) -> Number {
    fixed(value, usize::from(value.fract() != 0.0)).signed()
}

/// "The change is in `a` (new, +80 instructions a call in 9 calls), `b` (+5 to +8 in 9) and 2 more
/// functions.", a sentence for each recording; empty if nothing was counted by function.
pub fn functions(comparison: &Comparison) -> Vec<String> {
    let calls = &comparison.functions;
    let sides = 1..comparison.sides.len();
    let sentence = |side: usize| {
        let which = match comparison.sides.len() {
            3.. => format!("{}: ", letter(side)),
            _ => String::new(),
        };
        let functions = wholes(calls, side);
        if functions.is_empty() {
            return format!("{which}No function has another number of instructions.");
        }
        let mut named = functions
            .iter()
            .take(MOST_FUNCTIONS)
            .enumerate()
            .map(|(at, whole)| format!("`{}` ({})", whole.name, size(whole, side, at == 0)));
        let named = match functions.len().saturating_sub(MOST_FUNCTIONS) {
            0 => listed(named),
            more => {
                let plural = if more == 1 { "" } else { "s" };
                format!("{} and {more} more function{plural}", named.join(", "))
            }
        };
        format!("{which}The change is in {named}.")
    };
    sides.filter(|_| !calls.is_empty()).map(sentence).collect()
}

/// "new, +80 instructions a call in 9 calls".
fn size(whole: &Whole<'_>, side: usize, is_first: bool) -> String {
    let ends = whole
        .changes
        .iter()
        .copied()
        .minmax_by(f64::total_cmp)
        .into_option();
    let (least, most) = ends.unwrap_or_default();
    let range = one_or_range([least, most].map(signed));
    let is_new = whole.instructions[0] == 0.0;
    let life = match whole.instructions[side] == 0.0 {
        true => "gone, ",
        false if is_new => "new, ",
        false => "",
    };
    let calls = whole.changes.len();
    let unit = if is_first { " instructions a call" } else { "" };
    let plural = if calls == 1 { "" } else { "s" };
    format!("{life}{range}{unit} in {calls} call{plural}")
}

/// A change in points; one that is written as 0 has no minus.
pub fn points(change: f64) -> Number {
    fixed(if change.abs() < 0.005 { 0.0 } else { change }, 2).signed()
}

/// The state whose share moved most, where wrong states are not counted on both sides.
fn moved(tests: &[IdleTest], side: usize) -> String {
    let shares = tests
        .iter()
        .flat_map(|test| test.states.iter().map(move |share| (test, share)));
    let share = |of: &IdleShare, side: usize| of.shares[side].unwrap_or(0.0);
    let change = |of: &(&IdleTest, &IdleShare)| (share(of.1, side) - share(of.1, 0)).abs();
    let Some((test, state)) = shares.max_by_key(|of| total_order(change(of))) else {
        return "No idle state was entered.".to_owned();
    };
    let of = if test.by_time { "idle time" } else { "entries" };
    format!(
        "{} has {:.2} % of the {of} in {} and {:.2} % in A; no state's share moved more. Stays above and below are not counted on both \
         sides.",
        state.state,
        share(state, side),
        letter(side),
        share(state, 0)
    )
}

/// "B misses more than A in 3 of 4 tests, ...": of each recording but the base.
pub fn misses(tests: &[IdleTest], sides: usize) -> String {
    (1..sides).map(|side| misses_of(tests, side)).join(" ")
}

fn misses_of(tests: &[IdleTest], side: usize) -> String {
    let changes = |test: &'_ IdleTest| match test.changes(side) {
        [Some(above), Some(below), Some(misses)] => Some([above, below, misses]),
        _ => None,
    };
    let changed = tests
        .iter()
        .filter_map(|test| Some((test, changes(test)?)))
        .sorted_by_key(|of| Reverse(total_order(of.1[2].abs())))
        .collect_vec();
    let other = letter(side);
    match &changed[..] {
        [] => moved(tests, side),
        [(test, changes)] => {
            let percent = |side: usize| test.misses(side)[2].unwrap_or(0.0);
            let [above, below, misses] = changes.map(points);
            format!(
                "{other} chose a wrong idle state in {:.2} % of the entries and A in {:.2} %: {misses} points, {above} above (too deep) \
                 and {below} below (too shallow).",
                percent(side),
                percent(0)
            )
        }
        several => {
            let more = several
                .iter()
                .filter(|(_, [.., misses])| *misses > 0.0)
                .count();
            let mut clauses = several.iter().take(MOST_TESTS).map(|(test, changes)| {
                let name = [test.variant.as_str(), test.case.as_str()].join(" ");
                let [above, below, misses] = changes.map(points);
                format!(
                    "{} {misses} points ({above} above, {below} below)",
                    name.trim()
                )
            });
            format!(
                "{other} chose a wrong idle state more often than A in {more} of {} tests. The share changed most in {}.",
                several.len(),
                clauses.join(", ")
            )
        }
    }
}

/// Whether a board's releases bear out that instructions say something of time there.
pub fn on_board(OnBoard { platform, trial }: &OnBoard) -> String {
    let Some(trial) = trial else {
        return format!(
            "What the change takes on {platform} cannot be told: of no two releases of its firmware both times and instructions are known."
        );
    };
    let [from, to] = &trial.releases;
    let ns = figure(trial.ns);
    let verdict = if trial.met > trial.as_before {
        format!("An instruction takes about {ns} ns on {platform}")
    } else {
        format!("What the change takes on {platform} cannot be told")
    };
    format!(
        "{verdict}: from {from} to {to} {} has {} instructions more, and {ns} ns for each of them, the least there, \
         held {} of {} published changes within {} us; \"as before\" held {}.",
        trial.call,
        fixed(trial.instructions, 0),
        trial.met,
        trial.of,
        figure(trial.within_us),
        trial.as_before
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use comparison::FunctionRow;
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
        let one = misses(std::slice::from_ref(&large), 2);
        assert!(
            one.starts_with("B chose a wrong idle state in 42.50 % of the entries and A in 25.00 %: +17.50 points"),
            "{one}"
        );
        let two = misses(&[small, large], 2);
        assert_eq!(
            two,
            "B chose a wrong idle state more often than A in 1 of 2 tests. The share changed most in jbb +17.50 points (+20.00 above, -2.50 below), fio -2.00 points (+0.00 above, -2.00 below)."
        );
    }

    fn call(functions: &[(&str, f64, f64)]) -> CallFunctions {
        let row = |(name, a, b): &(&str, f64, f64)| FunctionRow {
            name: (*name).to_owned(),
            instructions: vec![*a, *b],
            others: findings::InOrder(Vec::new()),
        };
        CallFunctions {
            build: String::new(),
            call: "c".to_owned(),
            instructions: vec![0.0; 2],
            changed: functions.iter().map(row).collect(),
        }
    }

    #[test]
    fn functions_are_named_by_what_they_changed_over_all_calls() {
        let calls = [
            call(&[
                ("a", 10.0, 8.0),
                ("b", 0.0, 40.0),
                ("c", 5.0, 6.0),
                ("d", 3.0, 0.0),
            ]),
            call(&[("a", 10.0, 7.0), ("b", 0.0, 40.0)]),
        ];
        let functions = wholes(&calls, 1);
        let sizes: Vec<_> = functions
            .iter()
            .map(|whole| (whole.name, size(whole, 1, whole.name == "b")))
            .collect();
        let expected = [
            ("b", "new, +40 instructions a call in 2 calls"),
            ("a", "-3 to -2 in 2 calls"),
            ("d", "gone, -3 in 1 call"),
            ("c", "+1 in 1 call"),
        ];
        assert_eq!(
            sizes,
            expected.map(|(name, words)| (name, words.to_owned()))
        );
    }
}
