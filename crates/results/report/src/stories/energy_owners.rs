//! Whose the energy of `rcu-energy` is: shares of each owner.

use super::energy_cells::{CONFIGURATIONS, Energy, REFERENCE, Values};
use super::rows::subjects;
use super::{Run, Style};
use crate::grid::{PLAIN, fitted, paragraph, right, table};
use comfy_table::Cell;
use recording::{metrics, stats};
use serde_json::{Value, json};
use std::fmt::Write;

/// Shares of the owners in a benchmark and a configuration.
struct Shares<'r> {
    benchmark: &'r str,
    configuration: &'static str,
    /// By owner, in percent of the energy: means over the predictions, so that they add up.
    owners: Vec<(&'r str, f64)>,
    /// How far the owners' sum is from the energy, as a part of it: the most over the predictions.
    off: f64,
}

fn shares<'r>(run: &Run<'r>, energy: &Energy<'r>) -> Vec<Shares<'r>> {
    let all = Values::of(run.recording, metrics::ENERGY, "");
    let mut names: Vec<&'r str> = Vec::new();
    for bench in &energy.benches {
        for name in subjects(run.recording, bench.name, metrics::OWNED_ENERGY) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let owned: Vec<(&str, Values<'_>)> =
        names.into_iter().map(|name| (name, Values::of(run.recording, metrics::OWNED_ENERGY, name))).collect();
    let of = |benchmark: &'r str, configuration: &'static str| {
        let all = all.get(benchmark, configuration, energy.mode);
        let parts = owned.iter().map(|(name, values)| (*name, values.get(benchmark, configuration, energy.mode)));
        // An owner that is missing in a part of a recording belongs to no row of it.
        let parts: Vec<(&str, &[f64])> = parts.filter(|(_, values)| values.len() == all.len()).collect();
        let share = |values: &[f64]| {
            let shares: Vec<f64> = values.iter().zip(all).map(|(part, all)| 100.0 * part / all).collect();
            stats::mean(&shares)
        };
        let owners: Vec<(&str, f64)> =
            parts.iter().filter_map(|(name, values)| Some((*name, share(values)?))).collect();
        let off = all.iter().enumerate().map(|(at, all)| {
            let sum: f64 = parts.iter().map(|(_, values)| values[at]).sum();
            (sum / all - 1.0).abs()
        });
        let off = off.fold(0.0, f64::max);
        (!owners.is_empty()).then_some(Shares { benchmark, configuration, owners, off })
    };
    let cells = energy.benches.iter().flat_map(|bench| {
        [REFERENCE].into_iter().chain(CONFIGURATIONS).map(move |configuration| (bench.name, configuration))
    });
    cells.filter_map(|(benchmark, configuration)| of(benchmark, configuration)).collect()
}

/// The owners' shares in the reference.
pub(super) fn text(text: &mut String, run: &Run<'_>, energy: &Energy<'_>, style: Style) {
    let all = shares(run, energy);
    let reference: Vec<&Shares<'_>> = all.iter().filter(|shares| shares.configuration == REFERENCE).collect();
    let Some(first) = reference.first() else { return };
    text.push_str("\nWhose energy it is in the reference, in percent, means over the predictions:\n");
    let mut drawn = table(style);
    drawn.set_header(["owner"].into_iter().chain(reference.iter().map(|shares| shares.benchmark)));
    for (owner, _) in &first.owners {
        let share = |shares: &&Shares<'_>| {
            let found = shares.owners.iter().find(|(name, _)| name == owner);
            right(found.map_or_else(String::new, |(_, share)| format!("{share:.2}")))
        };
        drawn.add_row([Cell::new(owner)].into_iter().chain(reference.iter().map(share)));
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    let off = all.iter().map(|shares| shares.off).fold(0.0, f64::max);
    let words = format!(
        "In no prediction and no configuration is the owners' sum further than {off:.0e} of it from the integral."
    );
    paragraph(text, &words, ("", ""), PLAIN, style);
}

/// The same of every configuration, for machines.
pub(super) fn json(run: &Run<'_>, energy: &Energy<'_>) -> Value {
    let of = |shares: Shares<'_>| {
        let owners = shares.owners.into_iter().map(|(name, share)| (name.to_owned(), json!(share)));
        json!({
            "benchmark": shares.benchmark,
            "configuration": shares.configuration,
            "percent": owners.collect::<serde_json::Map<_, _>>(),
            "sum_off_by": shares.off,
        })
    };
    shares(run, energy).into_iter().map(of).collect()
}
