//! Instructions of passages by function: what every story of counts by function tells alike.

use crate::blocks::{
    Bar, Block, Blocks, Cell, Drawing, Figure, Flame, Picture, Table, Text, code, figure, fixed,
    listed, percent, text,
};
use findings::functions::of_first_build;
use recording::facts::{CountColumn, FunctionCounts, Functions, Passage};
use std::collections::BTreeMap;

/// Functions that the sentence names.
const MOST_NAMED: usize = 3;

/// The functions with the most instructions, over all passages of the first build.
pub(super) fn largest(counts: &Functions) -> Text {
    let Some(sums) = of_first_build(counts) else {
        return Text::default();
    };
    let mut words = text!["By function: "];
    words.extend(listed(
        sums.functions
            .iter()
            .take(MOST_NAMED)
            .map(|(name, _)| code(*name)),
    ));
    let of_all = match sums.passages {
        1 => format!("the {} instructions", count(sums.all())),
        calls => format!("the instructions of these {calls} calls, each made once"),
    };
    words.push(format!(
        " have {} of {of_all} ({}).",
        percent(sums.share_of(MOST_NAMED), 0),
        sums.build
    ));
    words
}

/// The instructions of all passages of the first build, by the functions that have most.
pub(super) fn picture(counts: &Functions) -> Option<Picture> {
    let sums = of_first_build(counts)?;
    let named = sums
        .functions
        .iter()
        .take(MOST_NAMED)
        .map(|(name, count)| ((*name).to_owned(), *count));
    let others = sums.all() - named.clone().map(|(_, count)| count).sum::<f64>();
    let parts = named.chain([("others".to_owned(), others)]);
    let parts = parts
        .map(|(name, value)| {
            (
                name,
                Figure {
                    value,
                    published: None,
                },
            )
        })
        .collect();
    let bars = Drawing::Bars(vec![Bar {
        name: sums.build.to_owned(),
        parts,
    }]);
    Some(Picture::new(
        "Instructions by function",
        "",
        "instructions",
        bars,
    ))
}

/// The counts in full: a flame graph for each build, a table for each passage, and what is not
/// counted.
pub(super) fn tell(told: &mut Blocks, counts: &Functions) {
    told.heading("By function");
    let mut builds: Vec<&str> = counts
        .passages
        .iter()
        .map(|passage| passage.build.as_str())
        .collect();
    builds.dedup();
    for build in builds {
        let of_build = counts
            .passages
            .iter()
            .filter(|passage| passage.build == build);
        let flames: Vec<Flame> = of_build.clone().map(flame).collect();
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
        told.extend([Block::heading(
            2,
            text![code(passage.call.as_str()), format!(", {}", passage.build)],
        )]);
        told.table(table(passage));
    }
    told.heading("What is not counted");
    told.list(
        counts
            .not_counted
            .iter()
            .map(|sentence| sentence.as_str().into())
            .collect(),
    );
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

/// A number of instructions: whole where it is whole.
pub(super) fn count(value: f64) -> crate::blocks::Number {
    if value.fract() == 0.0 {
        fixed(value, 0)
    } else {
        figure(value)
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
    let is_counted: Vec<&CountColumn> = FunctionCounts::OTHERS
        .iter()
        .filter(|(_, of)| of(&all) > 0)
        .collect();
    let rows: Vec<&FunctionCounts> = passage.functions.iter().chain([&all]).collect();
    let of = |value: u64| {
        if value == 0 {
            Cell::Empty
        } else {
            count(passage.each(value)).into()
        }
    };
    let each = |counts: &BTreeMap<String, u64>| -> Text {
        let each = counts
            .iter()
            .map(|(name, &value)| match passage.each(value) {
                1.0 => name.clone(),
                value => format!("{name} {}", count(value)),
            });
        each.collect::<Vec<_>>().join(", ").into()
    };
    let mut table = Table::with_rows(&rows)
        .words("function", |function| text![code(function.name.as_str())])
        .numbers("instructions", "", |function| of(function.instructions))
        .numbers("share", "", |function| {
            percent(function.instructions as f64 / whole, 1)
        });
    for (heading, value) in is_counted {
        table = table.numbers(*heading, "", |function| of(value(function)));
    }
    let table = table.when(all.system_register_writes() > 0, |table| {
        table.words("which registers", |function| {
            match function.name == all.name {
                true => Text::default(),
                false => each(&function.system_registers),
            }
        })
    });
    let table = table.when(all.exceptions_taken() > 0, |table| {
        table.words("which exceptions", |function| {
            match function.name == all.name {
                true => Text::default(),
                false => each(&function.exceptions),
            }
        })
    });
    match passage.of_others {
        0 => table.done(),
        others => table.done().noted(format!(
            "Other CPUs executed {} instructions meanwhile, which the machine's clock counts as well.",
            count(passage.each(others))
        )),
    }
}
