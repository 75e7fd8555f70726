//! `compare --on`: a change of PSCI calls' instructions in time of a board.

use crate::data::Data;
use comparison::{Comparison, OnBoard};
use miette::{IntoDiagnostic, Result, miette};
use psci_cases::{Action, CASES};
use psci_experiments::{BoardCalls, board_calls};
use recording::stats;

/// The calls of `psci-calls` that stand for those of the cases.
const VERSION: &str = "PSCI_VERSION";
const POWER_DOWN: &str = "power-down level 0, early out";

/// Tells the change of the last recording against the base, on a platform.
///
/// # Errors
/// The recordings are not of `psci-calls`, or the platform has no costs.
pub fn on_board(data: &Data, given: &str, comparison: &mut Comparison) -> Result<()> {
    let calls = || {
        comparison
            .rows
            .iter()
            .filter(|row| row.key.metric == "call" && row.unit == "instructions")
    };
    // Of two builds the later one is instrumented, as what was measured on boards is.
    let of = |name: &str| calls().rfind(|row| row.key.subject == name);
    let change = |row: &comparison::Row| {
        let slow = comparison
            .functions
            .iter()
            .find(|of| {
                of.call == row.key.subject && (of.build.is_empty() || of.build == row.key.variant)
            })
            .map_or(0.0, |of| of.changed.iter().map(slow_instructions).sum());
        Some((
            row.key.subject.clone(),
            row.changes.last()?.as_ref()?.absolute,
            slow,
        ))
        .filter(|(_, instructions, slow)| (*instructions, *slow) != (0.0, 0.0))
    };
    let version = of(VERSION).and_then(|row| row.cells[0]).ok_or_else(|| {
        miette!(
            help = "compare recordings of `stopwatt run psci-calls`",
            "--on {given} needs the instructions of {VERSION}, which the base does not have"
        )
    })?;
    let BoardCalls {
        platform,
        version_ns,
        memory_ns,
        shares,
    } = board_calls(&data.platforms(), given).into_diagnostic()?;
    let cores: Vec<(String, [f64; 2])> = version_ns
        .into_iter()
        .map(|(core, ns)| (core, ns.map(|ns| ns / version.value)))
        .collect();
    let ends = stats::ends(cores.iter().flat_map(|(_, ns)| *ns));
    let calls = calls().filter_map(change).collect();
    let memory_ns = (!comparison.functions.is_empty()).then_some(memory_ns);
    let mut on = OnBoard {
        platform,
        version: version.value,
        cores,
        memory_ns,
        calls,
        cases: Vec::new(),
    };
    let cases = CASES.iter().zip(shares).filter_map(|(case, share)| {
        let is_version = case.action == Action::Version;
        let call = if is_version { VERSION } else { POWER_DOWN };
        let us = on.us(&of(call).and_then(change)?, ends);
        let us = us.map(|us| us * share);
        Some((case.name.to_owned(), case.mode.name().to_owned(), us))
    });
    on.cases = cases.collect();
    if of(POWER_DOWN).is_none() {
        let lacks = format!("the recordings have no call `{POWER_DOWN}`");
        comparison.warnings.insert(
            0,
            format!("{lacks}, so --on tells no case that powers down"),
        );
    }
    comparison.on_board = Some(on);
    Ok(())
}

/// Barriers and cache maintenance more in the last recording.
fn slow_instructions(row: &comparison::FunctionRow) -> f64 {
    row.others
        .0
        .iter()
        .filter(|(name, _)| ["barriers", "cache maintenance"].contains(name))
        .filter_map(|(_, values)| Some(values.last()? - values[0]))
        .sum()
}
