//! Figures of `rcu-energy` that no fit was made for.

use super::cells::{Energy, REFERENCE};
use super::values::{Measured, Values, at};
use crate::blocks::{Blocks, Text};
use recording::{facts, stats};
use serde::Serialize;

/// Figures that no fit was made for.
#[derive(Serialize)]
pub(super) struct Unfitted<'r> {
    andebench2_reference: Option<Power>,
    sysbench_reference: Option<Sysbench>,
    callback_core_energy_big_to_little: Option<f64>,
    callback_time_little_to_big: Option<f64>,
    talk_says: Option<&'r str>,
}

/// The power of a reference beside the published one, in watts.
#[derive(Serialize)]
struct Power {
    power_w: f64,
    published_power_w: f64,
    error_percent: f64,
    within_10_percent: bool,
}

/// The reference power of sysbench by its number of threads, which was not published.
#[derive(Serialize)]
struct Sysbench {
    by_threads: Vec<ByThreads>,
    published_power_w: f64,
    covers_published: bool,
}

#[derive(Serialize)]
struct ByThreads {
    threads: f64,
    power_w: Range,
}

#[derive(Serialize)]
struct Range {
    low: f64,
    median: f64,
    high: f64,
}

/// Reads the figures.
pub(super) fn read<'r>(measured: &Measured<'r>, energy: &Energy<'r>, facts: &facts::Energy) -> Unfitted<'r> {
    let watts = |name: &str| {
        let bench = energy.bench(name)?;
        let (scale, published) = (energy.scale?, bench.published_power?);
        Some((scale * bench.power.median, published))
    };
    let second = watts("andebench2").map(|(predicted, published)| Power {
        power_w: predicted,
        published_power_w: published,
        error_percent: 100.0 * (predicted / published - 1.0),
        within_10_percent: (predicted / published - 1.0).abs() <= 0.1,
    });
    let threads = by_threads(measured, energy);
    let sysbench = watts("sysbench").filter(|_| !threads.is_empty()).map(|(_, published)| {
        let powers = || threads.iter().flat_map(|of| [of.power_w.low, of.power_w.high]);
        let (least, most) = (powers().fold(f64::INFINITY, f64::min), powers().fold(f64::NEG_INFINITY, f64::max));
        Sysbench {
            covers_published: least <= published && published <= most,
            published_power_w: published,
            by_threads: threads,
        }
    });
    let cores = facts.big.zip(facts.little);
    Unfitted {
        andebench2_reference: second,
        sysbench_reference: sysbench,
        callback_core_energy_big_to_little: cores.map(|(big, little)| big.energy_unit_s / little.energy_unit_s),
        callback_time_little_to_big: cores.map(|(big, little)| 1.0 / (big.time_s / little.time_s)),
        talk_says: energy.reference.map(|reference| reference.callbacks_on_little.as_str()),
    }
}

/// Reference power of sysbench in watts, by its number of threads: least, median and most of the
/// draws.
fn by_threads(measured: &Measured<'_>, energy: &Energy<'_>) -> Vec<ByThreads> {
    let unknowns = measured.unknowns.iter().find(|(name, _)| *name == "sysbench.threads");
    let (Some(scale), Some((_, threads))) = (energy.scale, unknowns) else { return Vec::new() };
    let get = |values: &Values<'_>| at(values, "sysbench", REFERENCE, "draws").to_vec();
    let powers: Vec<f64> =
        get(&measured.energy).iter().zip(get(&measured.time)).map(|(energy, time)| scale * energy / time).collect();
    let mut kinds = threads.clone();
    kinds.sort_by(f64::total_cmp);
    kinds.dedup();
    let summary = |kind: f64| {
        let of = powers.iter().zip(threads).filter(|(_, other)| **other == kind).map(|(power, _)| *power);
        let summary = stats::summary(&of.collect::<Vec<_>>())?;
        let power_w = Range { low: summary.min, median: summary.median, high: summary.max };
        Some(ByThreads { threads: kind, power_w })
    };
    kinds.into_iter().filter_map(summary).collect()
}

impl Unfitted<'_> {
    /// Tells the figures as a list.
    pub(super) fn tell(&self, told: &mut Blocks) {
        let mut items: Vec<Text> = Vec::new();
        if let Some(of) = &self.andebench2_reference {
            items.push(
                format!(
                    "andebench2's reference power: {:.3} W, published {:.3} W, {:+.1} %",
                    of.power_w, of.published_power_w, of.error_percent
                )
                .into(),
            );
        }
        if let Some(of) = &self.sysbench_reference {
            let rows = of
                .by_threads
                .iter()
                .map(|row| format!("{} threads {:.3} to {:.3} W", row.threads, row.power_w.low, row.power_w.high));
            let covers = if of.covers_published { "covers" } else { "does not cover" };
            items.push(
                format!(
                    "sysbench's reference power: {}; that {covers} the published {:.3} W",
                    rows.collect::<Vec<_>>().join(", "),
                    of.published_power_w
                )
                .into(),
            );
        }
        if let Some(ratio) = self.callback_core_energy_big_to_little {
            let said = self.talk_says.map_or_else(String::new, |said| format!("; the talk says {said}"));
            items.push(
                format!(
                    "core energy of a callback, big to LITTLE at the highest operating points: {ratio:.2}, and {:.2} times as long on \
                     LITTLE{said}",
                    self.callback_time_little_to_big.unwrap_or(0.0)
                )
                .into(),
            );
        }
        if !items.is_empty() {
            told.paragraph("Predicted without a fit:");
            told.list(items);
        }
    }
}
