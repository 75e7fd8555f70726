//! `psci-calls`: instructions of the calls, counted on QEMU, beside other firmware's.

use super::functions;
use super::story::Story;
use crate::blocks::{Blocks, Cell, Table, code, whole};
use crate::words::counts as words;
use findings::psci_calls::{BUILDS, Call, Calls};
use published::{CallFigure, Implementation};

fn range(figure: &CallFigure) -> Cell {
    Cell::Range(whole(figure.low as f64), whole(figure.high as f64))
}

impl Story for Calls<'_> {
    fn tell(&self, told: &mut Blocks) {
        let builds: &[&str] = self.calls.first().map_or(&[], |call| &call.builds);
        let by_function = self.by_function.as_ref().and_then(words::by_function);
        told.answers(words::first_call(self).into_iter().chain(by_function));
        let reference = self.reference.as_ref();
        let implementations = reference.map_or(&[][..], |reference| &reference.implementations);
        let mut table =
            Table::with_rows(&self.calls).words("instructions per call", |call| code(call.call));
        for build in builds {
            table = table.numbers(*build, |call| words::counted(call, build));
        }
        for Implementation { name, .. } in implementations {
            for (build, short) in BUILDS.into_iter().zip(["plain", "instr.", "debug"]) {
                let find = |call: &Call<'_>| reference?.find(call.call, name, build);
                // A column that nobody filled says nothing.
                table = table.numbers(format!("{name} {short}"), |call| find(call).map(range));
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
