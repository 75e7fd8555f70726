//! Whose the energy of `rcu-energy` is: shares of each owner.

use super::cells::{CONFIGURATIONS, Energy, REFERENCE};
use super::values::{Measured, at};
use crate::blocks::{Blocks, Table, fixed, name, scientific};
use findings::rows::InOrder;
use recording::stats;
use serde::Serialize;

/// Shares of the owners in a benchmark and a configuration.
#[derive(Serialize)]
pub(super) struct Shares<'r> {
    benchmark: &'r str,
    configuration: &'static str,
    /// By owner, in percent of the energy: means over the predictions, so that they add up.
    percent: InOrder<'r, f64>,
    /// The distance of the owners' sum from the energy, as a part of it: the most over the
    /// predictions.
    sum_off_by: f64,
}

/// Reads the shares of each configuration.
pub(super) fn shares<'r>(measured: &Measured<'r>, energy: &Energy<'r>) -> Vec<Shares<'r>> {
    let of = |benchmark: &'r str, configuration: &'static str| {
        let all = at(&measured.energy, benchmark, configuration, energy.mode);
        let parts =
            measured.owned.iter().map(|(name, values)| (*name, at(values, benchmark, configuration, energy.mode)));
        // An owner that is missing in a part of a recording belongs to no row of it.
        let parts: Vec<(&str, &[f64])> = parts.filter(|(_, values)| values.len() == all.len()).collect();
        let share = |values: &[f64]| {
            let shares: Vec<f64> = values.iter().zip(all).map(|(part, all)| 100.0 * part / all).collect();
            stats::mean(&shares)
        };
        let owners: Vec<(&str, f64)> =
            parts.iter().filter_map(|(name, values)| Some((*name, share(values)?))).collect();
        let off = all.iter().enumerate().map(|(draw, all)| {
            let sum: f64 = parts.iter().map(|(_, values)| values[draw]).sum();
            (sum / all - 1.0).abs()
        });
        let off = off.fold(0.0, f64::max);
        (!owners.is_empty()).then_some(Shares { benchmark, configuration, percent: InOrder(owners), sum_off_by: off })
    };
    let cells = energy.benches.iter().flat_map(|bench| {
        [REFERENCE].into_iter().chain(CONFIGURATIONS).map(move |configuration| (bench.name, configuration))
    });
    cells.filter_map(|(benchmark, configuration)| of(benchmark, configuration)).collect()
}

/// Tells the owners' shares in the reference.
pub(super) fn tell(all: &[Shares<'_>], told: &mut Blocks) {
    let reference: Vec<&Shares<'_>> = all.iter().filter(|shares| shares.configuration == REFERENCE).collect();
    let Some(first) = reference.first() else { return };
    let owners = first.percent.names();
    let table = Table::with_rows(&owners).words("owner", |owner| name(*owner)).each(&reference, |table, shares| {
        table.numbers(shares.benchmark, "", |owner| shares.percent.get(owner).map(|share| fixed(*share, 2)))
    });
    let off = all.iter().map(|shares| shares.sum_off_by).fold(0.0, f64::max);
    let title = "Whose energy it is in the reference, in percent, means over the predictions:";
    told.table(table.done().titled(title).noted(format!(
        "In no prediction and no configuration is the owners' sum further than {} of it from the integral.",
        scientific(off, 0)
    )));
}
