//! The functions in which a change is, in a sentence and in tables.

use super::names::letter;
use crate::blocks::{Block, Blocks, Cell, Number, Table, Text, code, figure, fixed, listed, text};
use comparison::{CallFunctions, Comparison, FunctionRow};
use itertools::Itertools;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Functions that the sentence names, and those of the first table.
const MOST_NAMED: usize = 3;
const MOST_ROWS: usize = 20;

/// A function over all calls: its instructions in each recording if each call is made once, and its
/// changes in the calls in which it changed.
struct Whole<'c> {
    name: &'c str,
    instructions: Vec<f64>,
    changes: Vec<f64>,
}

/// The functions whose instructions changed in a recording, over all calls, the one that changed
/// most first.
fn wholes(calls: &[CallFunctions], side: usize) -> Vec<Whole<'_>> {
    let mut functions: BTreeMap<&str, Whole<'_>> = BTreeMap::new();
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

fn signed(value: f64) -> Number {
    if value.fract() == 0.0 {
        fixed(value, 0).signed()
    } else {
        fixed(value, 1).signed()
    }
}

fn count(value: f64) -> Number {
    if value.fract() == 0.0 {
        fixed(value, 0)
    } else {
        figure(value)
    }
}

/// "The change is in `a` (new, +80 instructions a call in 9 calls), `b` (+5 to +8 in 9) and 2 more
/// functions.", a sentence for each recording; empty if nothing was counted by function.
pub fn sentences(comparison: &Comparison) -> Vec<Text> {
    let calls = &comparison.functions;
    if calls.is_empty() {
        return Vec::new();
    }
    let sentence = |side: usize| {
        let which = if comparison.sides.len() > 2 {
            format!("{}: ", letter(side))
        } else {
            String::new()
        };
        let functions = wholes(calls, side);
        if functions.is_empty() {
            return text![format!(
                "{which}No function has another number of instructions."
            )];
        }
        let mut words = text![format!("{which}The change is in ")];
        let more = functions.len().saturating_sub(MOST_NAMED);
        for (number, whole) in functions.iter().take(MOST_NAMED).enumerate() {
            match number {
                0 => {}
                _ if more == 0 && number + 1 == functions.len() => words.push(" and "),
                _ => words.push(", "),
            }
            words.push(code(whole.name));
            words.push(format!(" ({})", size(whole, side, number == 0)));
        }
        if more > 0 {
            words.push(format!(
                " and {more} more function{}",
                if more == 1 { "" } else { "s" }
            ));
        }
        words.push(".");
        words
    };
    (1..comparison.sides.len()).map(sentence).collect()
}

/// "new, +80 instructions a call in 9 calls".
fn size(whole: &Whole<'_>, side: usize, is_first: bool) -> String {
    let least = whole.changes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = whole
        .changes
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    let range = if least == most {
        signed(most).to_string()
    } else {
        format!("{} to {}", signed(least), signed(most))
    };
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

/// The functions that changed over all calls, and in `others` those of each call.
pub fn tell(first: &mut Blocks, comparison: &Comparison) {
    for side in 1..comparison.sides.len() {
        let functions = wholes(&comparison.functions, side);
        let shown = &functions[..functions.len().min(MOST_ROWS)];
        let mut table = Table::with_rows(shown)
            .words("function", |whole| text![code(whole.name)])
            .numbers("calls", |whole| fixed(whole.changes.len() as f64, 0))
            .numbers("A", |whole| count(whole.instructions[0]))
            .numbers(letter(side), |whole| count(whole.instructions[side]))
            .numbers(format!("{} - A", letter(side)), |whole| {
                signed(whole.changes.iter().sum())
            })
            .done()
            .titled("Instructions by function, over all calls in which it changed, each made once");
        if functions.len() > shown.len() {
            table = table.noted(format!(
                "{} more functions changed less.",
                functions.len() - shown.len()
            ));
        }
        first.table(table);
    }
}

/// A table for each call of which a function changed.
pub fn tell_calls(told: &mut Blocks, comparison: &Comparison) {
    let calls = comparison
        .functions
        .iter()
        .filter(|call| !call.changed.is_empty())
        .collect_vec();
    if calls.is_empty() {
        return;
    }
    told.heading("Functions that changed, by call");
    let sides = comparison.sides.len();
    for call in calls {
        let build = if call.build.is_empty() {
            String::new()
        } else {
            format!(", {}", call.build)
        };
        told.extend([Block::heading(2, text![code(call.call.as_str()), build])]);
        let whole = FunctionRow {
            name: "all".to_owned(),
            instructions: call.instructions.clone(),
            others: Vec::new(),
        };
        let rows = call.changed.iter().chain([&whole]).collect_vec();
        let mut table = Table::with_rows(&rows)
            .words("function", |row| text![code(row.name.as_str())])
            .numbers("A", |row| count(row.instructions[0]));
        for side in 1..sides {
            table = table
                .numbers(letter(side), move |row| count(row.instructions[side]))
                .numbers(format!("{} - A", letter(side)), move |row| {
                    match row.change(side) {
                        0.0 => Cell::Empty,
                        change => signed(change).into(),
                    }
                })
                .words("also", move |row| listed(others(row, side)));
        }
        told.table(table.done());
    }
}

/// "loads +2".
fn others(row: &FunctionRow, side: usize) -> Vec<String> {
    let changes = row
        .others
        .iter()
        .map(|(name, values)| (name, values[side] - values[0]));
    changes
        .filter(|(_, change)| *change != 0.0)
        .map(|(name, change)| format!("{name} {}", signed(change)))
        .collect()
}

/// The calls by function: for each its instructions in each recording, and the functions of which
/// something changed.
pub fn functions_json(comparison: &Comparison) -> Vec<Value> {
    let call = |call: &CallFunctions| {
        let row = |row: &FunctionRow| {
            let others: Map<String, Value> = row
                .others
                .iter()
                .map(|(name, values)| ((*name).to_owned(), json!(values)))
                .collect();
            json!({ "function": row.name, "instructions": row.instructions, "others": others })
        };
        json!({
            "build": call.build, "call": call.call, "instructions": call.instructions,
            "changed": call.changed.iter().map(row).collect_vec(),
        })
    };
    comparison.functions.iter().map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(functions: &[(&str, f64, f64)]) -> CallFunctions {
        let row = |(name, a, b): &(&str, f64, f64)| FunctionRow {
            name: (*name).to_owned(),
            instructions: vec![*a, *b],
            others: Vec::new(),
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
