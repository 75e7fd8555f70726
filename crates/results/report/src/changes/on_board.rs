//! A change of PSCI calls' instructions in time of a board.

use crate::blocks::{Blocks, Table, code, figure, fixed, text};
use crate::words::{case_title, listed};
use comparison::OnBoard;
use serde_json::{Value, json};

/// "2.8 to 16.5", from the lower to the upper end.
fn range(mut ends: [f64; 2]) -> String {
    ends.sort_by(f64::total_cmp);
    format!("{} to {}", figure(ends[0]), figure(ends[1]))
}

pub(super) fn tell(told: &mut Blocks, of: &OnBoard) {
    told.heading(format!("In microseconds of {}", of.platform));
    let cores: Vec<String> = of.cores.iter().map(|(core, ns)| format!("{} ns on {core}", range(*ns))).collect();
    told.paragraph(format!(
        "An instruction takes {}: what PSCI_VERSION takes there by the fitted costs of the releases, with its code in \
         the caches and without, over its {} instructions in A. So much a change may cost if nothing else changes. It is no \
         forecast of another release: there the counts were further off than \"as before\" (docs/firmware-counts.md).",
        listed(&cores),
        fixed(of.version, 0)
    ));
    let mut table = Table::with_rows(&of.calls).words("call", |(call, _)| text![code(call.as_str())]).numbers(
        "B - A",
        "instructions",
        |(_, change)| fixed(*change, 0).signed(),
    );
    for (core, ns) in &of.cores {
        table = table.words(format!("{core}, us"), move |(_, change)| range(ns.map(|ns| change * ns / 1e3)));
    }
    told.table(table.done().titled("A call takes longer by"));
    let cases = Table::with_rows(&of.cases)
        .words("case", |(case, mode, _)| format!("{}, {mode}", case_title(case)))
        .words("us", |(_, _, us)| range(*us));
    told.table(cases.done().titled("The slowest CPU of a case is later by"));
}

pub(super) fn as_json(of: &OnBoard) -> Value {
    let case = |(case, mode, us): &(String, String, [f64; 2])| json!({ "case": case, "mode": mode, "us": us });
    json!({
        "platform": of.platform, "instructions_of_psci_version": of.version, "ns_per_instruction": of.cores,
        "calls": of.calls, "cases": of.cases.iter().map(case).collect::<Vec<_>>(),
    })
}
