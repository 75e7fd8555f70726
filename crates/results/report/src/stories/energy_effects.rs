//! What configurations of RCU do beside saving energy: to latencies, and to how long the big cluster sleeps.

use super::Run;
use super::Style;
use super::energy_cells::{CONFIGURATIONS, Energy, REFERENCE, Values};
use crate::grid::{PLAIN, fitted, paragraph, right, table};
use crate::words::number;
use comfy_table::Cell;
use recording::{metrics, stats};
use serde_json::{Value, json};
use std::fmt::Write;

/// Percentiles of latencies, as recordings name them.
const LATENCIES: [&str; 3] = ["p50", "p99", "p99.9"];

/// The benchmark whose latencies the talk speaks of: offloading is for those who cannot bear jitter.
const LATE: &str = "cyclictest";

/// Medians over the predictions, by configuration, in us.
fn latencies(run: &Run<'_>, energy: &Energy<'_>) -> Vec<(&'static str, [f64; LATENCIES.len()])> {
    let values = LATENCIES.map(|name| Values::of(run.recording, metrics::WAKE_LATENCY, name));
    let rows = [REFERENCE].into_iter().chain(CONFIGURATIONS).filter_map(|configuration| {
        let medians = values.each_ref().map(|values| stats::median(values.get(LATE, configuration, energy.mode)));
        Some((configuration, [medians[0]?, medians[1]?, medians[2]?]))
    });
    rows.collect()
}

/// In what shares of the predictions the longest latencies of offloaded callbacks are shorter than the reference's, and longer.
fn offload_is_steadier(run: &Run<'_>, energy: &Energy<'_>) -> Option<[f64; 2]> {
    let values = Values::of(run.recording, metrics::WAKE_LATENCY, LATENCIES[2]);
    let of = |configuration| values.get(LATE, configuration, energy.mode);
    let pairs: Vec<_> = of("rcu-offload").iter().zip(of(REFERENCE)).collect();
    let share = |is: fn(f64, f64) -> bool| {
        pairs.iter().filter(|(offload, reference)| is(**offload, **reference)).count() as f64 / pairs.len() as f64
    };
    (!pairs.is_empty()).then(|| [share(|a, b| a < b), share(|a, b| a > b)])
}

/// The table of latencies.
pub(super) fn late(text: &mut String, run: &Run<'_>, energy: &Energy<'_>, style: Style) {
    let (rows, Some([shorter, longer])) = (latencies(run, energy), offload_is_steadier(run, energy)) else { return };
    let _ = writeln!(text, "\nHow late {LATE}'s threads run after their timers, in us, medians over the predictions:");
    let mut drawn = table(style);
    drawn.set_header(["configuration"].into_iter().chain(LATENCIES));
    for (configuration, values) in &rows {
        drawn.add_row([Cell::new(configuration)].into_iter().chain(values.map(|value| right(number(value)))));
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    let verdict = if shorter > longer { "agrees more often than not" } else { "refuted here" };
    let words = format!(
        "The talk offloads callbacks for the sake of jitter: {verdict}. Offload's p99.9 is below the reference's in {:.0} % of the \
         predictions, and above it in {:.0} %.",
        100.0 * shorter,
        100.0 * longer
    );
    paragraph(text, &words, ("", ""), PLAIN, style);
}

/// How long the big cluster sleeps, by benchmark and configuration: medians of shares of the time.
fn big_asleep(run: &Run<'_>, energy: &Energy<'_>) -> Vec<(String, Vec<(&'static str, f64)>)> {
    let values = Values::of(run.recording, metrics::ASLEEP, "big");
    let benchmarks = energy.benches.iter().map(|bench| bench.name);
    let of = |benchmark: &str| {
        let share =
            |configuration| Some((configuration, stats::median(values.get(benchmark, configuration, energy.mode))?));
        [REFERENCE].into_iter().chain(CONFIGURATIONS).filter_map(share).collect::<Vec<_>>()
    };
    benchmarks.map(|benchmark| (benchmark.to_owned(), of(benchmark))).filter(|(_, shares)| !shares.is_empty()).collect()
}

/// The table of the big cluster's sleep.
pub(super) fn asleep(text: &mut String, run: &Run<'_>, energy: &Energy<'_>, style: Style) {
    let rows = big_asleep(run, energy);
    let Some((_, first)) = rows.first() else { return };
    text.push_str("\nShare of the time in which the big cluster is down, medians over the predictions:\n");
    let mut drawn = table(style);
    drawn.set_header(["benchmark"].into_iter().chain(first.iter().map(|(configuration, _)| *configuration)));
    for (benchmark, shares) in &rows {
        let shares = shares.iter().map(|(_, share)| right(format!("{:.1} %", 100.0 * share)));
        drawn.add_row([Cell::new(benchmark)].into_iter().chain(shares));
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
}

/// Both, for machines.
pub(super) fn effects(run: &Run<'_>, energy: &Energy<'_>) -> Value {
    let late = latencies(run, energy).into_iter().map(|(configuration, [p50, p99, p999])| {
        json!({ "configuration": configuration, "p50": p50, "p99": p99, "p999": p999 })
    });
    let asleep = big_asleep(run, energy).into_iter().map(|(benchmark, shares)| {
        let shares = shares.into_iter().map(|(name, share)| (name.to_owned(), json!(share)));
        json!({ "benchmark": benchmark, "share": shares.collect::<serde_json::Map<_, _>>() })
    });
    let steadier = offload_is_steadier(run, energy);
    json!({
        "latency_us": { "benchmark": LATE, "rows": late.collect::<Vec<_>>() },
        "offload_p999_against_reference": steadier.map(|[below, above]| json!({ "below": below, "above": above })),
        "big_cluster_down": asleep.collect::<Vec<_>>(),
    })
}
