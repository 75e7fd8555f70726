//! `compare --on`: whether a change of PSCI calls' instructions can be told in time of a board.

use crate::data::Data;
use comparison::{Comparison, OnBoard, Trial};
use itertools::Itertools;
use miette::{IntoDiagnostic, Result, miette};
use platforms::PlatformFiles;
use published::{CountedFigure, Published};
use recording::total_order;

/// Adds to a comparison what is known of instructions in time of a platform; without its name, says
/// of which something is.
///
/// # Errors
/// The recordings are not of `psci-calls`, or there is no such platform.
pub fn on_board(data: &Data, given: &str, comparison: &mut Comparison) -> Result<()> {
    let counted = Published::counted(&data.published()).into_diagnostic()?;
    let (within_us, figures) =
        counted.map_or_else(Default::default, |of| (of.within_us, of.figures));
    if given.is_empty() {
        let known = figures.iter().map(|of| &of.platform).unique().join(", ");
        return Err(miette!(
            "--on needs a platform; of {known} something is known"
        ));
    }
    let mut rows = comparison.rows.iter();
    if !rows.any(|row| row.key.metric == "call" && row.unit == "instructions") {
        return Err(miette!(
            help = "compare recordings of `stopwatt run psci-calls`",
            "--on {given} needs the instructions of PSCI calls"
        ));
    }
    PlatformFiles::open(&data.platforms(), given).into_diagnostic()?;
    let of_board = figures.iter().filter(|of| of.platform == given);
    comparison.on_board = Some(OnBoard {
        platform: given.to_owned(),
        trial: trial(&of_board.collect_vec(), within_us),
    });
    Ok(())
}

/// Lays the least price of an instruction beside what the calls took.
fn trial(figures: &[&CountedFigure], within_us: f64) -> Option<Trial> {
    let price = |of: &&CountedFigure| of.from_us / of.from_instructions;
    let first = figures.iter().min_by_key(|of| total_order(price(of)))?;
    let us = price(first);
    let more = |of: &CountedFigure| of.to_instructions - of.from_instructions;
    let met = |us: f64| {
        let error = |of: &CountedFigure| of.to_us - of.from_us - us * more(of);
        // Figures have two digits: what is as far as that is met.
        let is_met = |of: &&&CountedFigure| error(of).abs() < within_us + 1e-6;
        figures.iter().filter(is_met).count()
    };
    Some(Trial {
        call: first.call.clone(),
        releases: [first.from.clone(), first.to.clone()],
        instructions: more(first),
        ns: 1e3 * us,
        within_us,
        met: met(us),
        as_before: met(0.0),
        of: figures.len(),
    })
}
