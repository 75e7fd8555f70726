//! The functions in which a change is, in a sentence and in tables.

use crate::blocks::{Blocks, Cell, Table, code};
use crate::words::changed_counts::{signed, wholes};
use crate::words::counts::count;
use crate::words::listed;
use crate::words::names::letter;
use comparison::{Comparison, FunctionRow};
use itertools::Itertools;

/// Functions of the first table.
const MOST_ROWS: usize = 20;

/// The functions that changed over all calls, and in `others` those of each call.
pub fn tell(first: &mut Blocks, comparison: &Comparison) {
    for side in 1..comparison.sides.len() {
        let functions = wholes(&comparison.functions, side);
        let shown = &functions[..functions.len().min(MOST_ROWS)];
        let mut table = Table::with_rows(shown)
            .words("function", |whole| code(whole.name))
            .numbers("calls", |whole| whole.changes.len())
            .numbers("A", |whole| count(whole.instructions[0]))
            .numbers(letter(side), |whole| count(whole.instructions[side]))
            .numbers(format!("{} - A", letter(side)), |whole| {
                signed(whole.changes.iter().sum())
            })
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
        told.subheading(format!("`{}`{build}", call.call));
        let whole = FunctionRow {
            name: "all".to_owned(),
            instructions: call.instructions.clone(),
            others: findings::InOrder(Vec::new()),
        };
        let rows = call.changed.iter().chain([&whole]).collect_vec();
        let table = Table::with_rows(&rows)
            .words("function", |row| code(row.name.as_str()))
            .numbers("A", |row| count(row.instructions[0]))
            .each(1..sides, |table, side| {
                table
                    .numbers(letter(side), move |row| count(row.instructions[side]))
                    .numbers(format!("{} - A", letter(side)), move |row| {
                        match row.change(side) {
                            0.0 => Cell::Empty,
                            change => signed(change).into(),
                        }
                    })
                    .words("also", move |row| listed(others(row, side)))
            });
        told.table(table);
    }
}

/// "loads +2".
fn others(row: &FunctionRow, side: usize) -> Vec<String> {
    row.others
        .0
        .iter()
        .map(|(name, values)| (name, values[side] - values[0]))
        .filter(|(_, change)| *change != 0.0)
        .map(|(name, change)| format!("{name} {}", signed(change)))
        .collect()
}
