//! `psci-calls`: instructions of the calls, counted on QEMU, beside other firmware's.

use super::functions;
use super::story::Story;
use crate::blocks::{Blocks, Cell, Number, Table, code, fixed, text, whole};
use findings::psci_calls::{BUILDS, Call, Calls};
use published::{CallFigure, Implementation};

fn count(value: f64) -> Number {
    if value.fract().abs() < 0.05 {
        fixed(value, 0)
    } else {
        fixed(value, 1)
    }
}

/// The count of a build; a range where the machine's clock alone tells.
fn counted(call: &Call<'_>, build: &str) -> Cell {
    match call.counts.get(build) {
        None => Cell::Empty,
        Some(value) if call.uncertainty > 0 => {
            let off = call.uncertainty as f64;
            Cell::Range(
                whole((value - off).max(0.0).floor()),
                whole((value + off).ceil()),
            )
        }
        Some(value) => count(*value).into(),
    }
}

fn range(figure: &CallFigure) -> Cell {
    Cell::Range(whole(figure.low as f64), whole(figure.high as f64))
}

impl Story for Calls<'_> {
    fn tell(&self, told: &mut Blocks) {
        let builds: &[&str] = self.calls.first().map_or(&[], |call| &call.builds);
        if let Some((call, build)) = self.calls.first().zip(builds.first()) {
            let others = call.others.iter().filter(|other| other.build == *build);
            let others: Vec<String> = others
                .map(|other| {
                    format!(
                        "{} {}",
                        other.implementation,
                        Cell::Range(whole(other.low as f64), whole(other.high as f64)).plain()
                    )
                })
                .collect();
            let beside = if others.is_empty() {
                String::new()
            } else {
                format!("; others: {}", others.join(", "))
            };
            told.answer(text![
                code(call.call),
                format!(
                    " takes {} instructions in the build {build}{beside}.",
                    counted(call, build).plain()
                )
            ]);
        }
        if let Some(counts) = &self.by_function {
            told.answer(functions::largest(counts));
        }
        let reference = self.reference.as_ref();
        let implementations = reference.map_or(&[][..], |reference| &reference.implementations);
        let mut table = Table::with_rows(&self.calls)
            .words("instructions per call", |call| text![code(call.call)]);
        for build in builds {
            table = table.numbers(*build, |call| counted(call, build));
        }
        for Implementation { name, .. } in implementations {
            for (build, short) in BUILDS.into_iter().zip(["plain", "instr."]) {
                let find = |call: &Call<'_>| reference?.find(call.call, name, build);
                // A column that nobody filled says nothing.
                if self.calls.iter().any(|call| find(call).is_some()) {
                    table = table.numbers(format!("{name} {short}"), |call| find(call).map(range));
                }
            }
        }
        told.table(table.done());
        if let Some(reference) = reference {
            told.note(format!("Others: {}.", reference.conditions));
            for Implementation { name, source, cpu } in implementations {
                told.note(format!("{name} on {cpu}: {source}"));
            }
        }
        if let Some(model) = self.unpublished_cores {
            told.note(format!("There are no counts of other firmware on {model}."));
        }
        if let Some(counts) = &self.by_function {
            functions::tell(told, counts);
        }
    }
}
