//! `psci-calls`: instructions of the calls, counted on QEMU, beside other firmware's.

use super::functions;
use super::story::Story;
use crate::blocks::{Blocks, Table, code};
use crate::words::counts as words;
use findings::psci_calls::{BUILDS, Calls};
use published::Implementation;

impl Story for Calls<'_> {
    fn tell(&self, told: &mut Blocks) {
        let builds: &[&str] = self.calls.first().map_or(&[], |call| &call.builds);
        let by_function = self.by_function.as_ref().and_then(words::by_function);
        told.answers(words::first_call(self).into_iter().chain(by_function));
        let reference = self.reference.as_ref();
        let implementations = reference.map_or(&[][..], |reference| &reference.implementations);
        let table = Table::with_rows(&self.calls)
            .words("instructions per call", |call| code(call.call))
            .each(builds, |table, build| {
                table.numbers(*build, |call| words::counted(call, build))
            })
            // A column that nobody filled says nothing.
            .each(implementations, |table, Implementation { name, .. }| {
                let builds = BUILDS.into_iter().zip(["plain", "instr.", "debug"]);
                table.each(builds, |table, (build, short)| {
                    table.numbers(format!("{name} {short}"), |call| {
                        let found = reference?.find(call.call, name, build)?;
                        Some(words::between(found.low, found.high))
                    })
                })
            });
        told.table(table);
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
