//! A change of PSCI calls' instructions in time of a board.

use crate::blocks::{Blocks, Table, code, fixed};
use crate::words::changed_counts::range;
use crate::words::{case_title, listed};
use comparison::OnBoard;
use itertools::Itertools;
use serde_json::{Value, json};

pub fn tell(told: &mut Blocks, of: &OnBoard) {
    told.heading(format!("In microseconds of {}", of.platform));
    let cores = of
        .cores
        .iter()
        .map(|(core, ns)| format!("{} ns on {core}", range(*ns)))
        .collect_vec();
    told.paragraph(format!(
        "An instruction takes {}: what PSCI_VERSION takes there by the fitted costs of the releases, with its code in \
         the caches and without, over its {} instructions in A. So much a change may cost if nothing else changes. It is no \
         forecast of another release: there the counts were further off than \"as before\" (docs/firmware-counts.md).",
        listed(&cores),
        fixed(of.version, 0)
    ));
    told.paragraph(match of.memory_ns {
        Some(ns) => format!(
            "A barrier or a line of cache maintenance is taken to cost at least that, and at most an access to memory: {} ns.",
            fixed(ns, 0)
        ),
        None => "Barriers and cache maintenance are taken for other instructions: record with --by-function, and they \
                  have a price."
            .to_owned(),
    });
    let table = Table::with_rows(&of.calls)
        .words("call", |(call, ..)| code(call.as_str()))
        .numbers("B - A, instructions", |(_, change, _)| {
            fixed(*change, 0).signed()
        })
        .numbers("of them, barriers, cache lines", |(_, _, slow)| {
            of.memory_ns.map(|_| fixed(*slow, 0).signed())
        })
        .each(&of.cores, |table, (core, ns)| {
            table.words(format!("{core}, us"), |change| range(of.us(change, *ns)))
        });
    told.table(table.titled("A call takes longer by"));
    let cases = Table::with_rows(&of.cases)
        .words("case", |(case, mode, _)| {
            format!("{}, {mode}", case_title(case))
        })
        .words("us", |(_, _, us)| range(*us));
    told.table(cases.titled("The slowest CPU of a case is later by"));
}

pub fn as_json(of: &OnBoard) -> Value {
    json!({
        "platform": of.platform, "instructions_of_psci_version": of.version, "ns_per_instruction": of.cores,
        "ns_per_memory_access": of.memory_ns,
        "calls": of.calls.iter().map(|(call, change, _)| json!([call, change])).collect_vec(),
        "barriers_and_cache_lines": of.calls.iter().map(|(call, _, slow)| json!([call, slow])).collect_vec(),
        "cases": of.cases.iter().map(|(case, mode, us)| json!({ "case": case, "mode": mode, "us": us })).collect_vec(),
    })
}
