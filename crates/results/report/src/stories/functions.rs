//! Instructions of passages by function: what every story of counts by function tells alike.

use crate::blocks::{Blocks, Cell, Drawing, Flame, Picture, Table, code, percent};
use crate::words::counts::count;
use itertools::Itertools;
use recording::facts::{FunctionCounts, Functions, Passage};
use std::collections::BTreeMap;

/// The counts in full: a flame graph for each build, a table for each passage, and what is not
/// counted.
pub fn tell(told: &mut Blocks, counts: &Functions) {
    told.heading("By function");
    let mut builds = counts
        .passages
        .iter()
        .map(|passage| passage.build.as_str())
        .collect_vec();
    builds.dedup();
    for build in builds {
        let flames = counts
            .passages
            .iter()
            .filter(|passage| passage.build == build)
            .clone()
            .map(flame)
            .collect_vec();
        let title = format!("Who called whom, {build}");
        let picture = Picture::new(
            title,
            "each below its caller",
            "instructions",
            Drawing::Flames(flames),
        );
        told.picture(
            picture.noted(
                "As wide as a function's instructions with those of all that it called, in the mean of all calls.",
            ),
        );
    }
    for passage in &counts.passages {
        told.subheading(format!("`{}`, {}", passage.call, passage.build));
        told.table(table(passage));
    }
    told.heading("What is not counted");
    told.list(&counts.not_counted);
}

fn flame(passage: &Passage) -> Flame {
    let stacks = passage.folded().map(|(stack, count)| {
        (
            stack.into_iter().map(str::to_owned).collect(),
            passage.each(count),
        )
    });
    Flame {
        name: passage.call.clone(),
        stacks: stacks.collect(),
    }
}

/// The functions of a passage, and a row for all.
fn table(passage: &Passage) -> Table {
    let mut all = FunctionCounts {
        name: "all".to_owned(),
        ..FunctionCounts::default()
    };
    for function in &passage.functions {
        all.add(function);
    }
    let whole = all.instructions.max(1) as f64;
    let rows = passage.functions.iter().chain([&all]).collect_vec();
    let of = |value: u64| {
        if value == 0 {
            Cell::Empty
        } else {
            count(passage.each(value)).into()
        }
    };
    let each = |function: &FunctionCounts, of: fn(&FunctionCounts) -> &BTreeMap<String, u64>| {
        let counts = Some(of(function)).filter(|_| function.name != all.name)?;
        let mut each = counts
            .iter()
            .map(|(name, &value)| match passage.each(value) {
                1.0 => name.clone(),
                value => format!("{name} {}", count(value)),
            });
        Some(each.join(", "))
    };
    let table = Table::with_rows(&rows)
        .words("function", |function| code(function.name.as_str()))
        .numbers("instructions", |function| of(function.instructions))
        .numbers("share", |function| {
            percent(function.instructions as f64 / whole, 1)
        })
        .each(FunctionCounts::OTHERS, |table, (heading, value)| {
            table.numbers(heading, |function| of(value(function)))
        })
        .words("which registers", |function| {
            each(function, |counts| &counts.system_registers)
        })
        .words("which exceptions", |function| {
            each(function, |counts| &counts.exceptions)
        })
        .done();
    match passage.of_others {
        0 => table,
        others => table.noted(format!(
            "Other CPUs executed {} instructions meanwhile, which the machine's clock counts as well.",
            count(passage.each(others))
        )),
    }
}
