//! `compare --on`: a change of PSCI calls' instructions in time of a board.

use crate::data::Data;
use comparison::{Comparison, OnBoard};
use miette::{IntoDiagnostic, miette};
use psci_cases::{Action, CASES};
use psci_experiments::{BoardCalls, board_calls};

/// The calls of `psci-calls` that stand for those of the cases.
const VERSION: &str = "PSCI_VERSION";
const POWER_DOWN: &str = "power-down level 0, early out";

/// The change of the last recording against the base, on a platform.
///
/// # Errors
/// The recordings are not of `psci-calls`, or the platform has no costs.
pub fn on_board(data: &Data, given: &str, comparison: &Comparison) -> miette::Result<OnBoard> {
    let calls = || comparison.rows.iter().filter(|row| row.key.metric == "call" && row.unit == "instructions");
    let of = |name: &str| calls().find(|row| row.key.subject == name);
    let change = |row: &comparison::Row| row.changes.last()?.as_ref().map(|change| change.absolute);
    let version = of(VERSION).and_then(|row| row.cells[0]).ok_or_else(|| {
        miette!(
            help = "compare recordings of `stopwatt run psci-calls`",
            "--on {given} needs the instructions of {VERSION}, which the base does not have"
        )
    })?;
    let BoardCalls { platform, version_ns, shares } = board_calls(&data.platforms(), given).into_diagnostic()?;
    let cores: Vec<(String, [f64; 2])> =
        version_ns.into_iter().map(|(core, ns)| (core, ns.map(|ns| ns / version.median))).collect();
    let least = cores.iter().map(|(_, [least, _])| *least).fold(f64::INFINITY, f64::min);
    let most = cores.iter().map(|(_, [_, most])| *most).fold(0.0, f64::max);
    let cases = CASES.iter().zip(shares).filter_map(|(case, share)| {
        let call = if case.action == Action::Version { VERSION } else { POWER_DOWN };
        let change = of(call).and_then(change).filter(|change| *change != 0.0)?;
        let us = [least, most].map(|ns| change * share * ns / 1e3);
        Some((case.name.to_owned(), case.mode.name().to_owned(), us))
    });
    let changed = calls().filter_map(|row| Some((row.key.subject.clone(), change(row).filter(|more| *more != 0.0)?)));
    Ok(OnBoard { platform, version: version.median, cases: cases.collect(), calls: changed.collect(), cores })
}
