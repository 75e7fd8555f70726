//! A comparison in the formats that continuous integration reads. Both track one recording over
//! time, so both print the values of the last one; what the comparison found stands beside them
//! where the format has room.

use comparison::{Basis, Better, Change, Comparison, Row};
use serde_json::{Map, Value, json};

/// Rows that the last recording has, with the last recording's change.
fn last(comparison: &Comparison) -> impl Iterator<Item = (&Row, comparison::Cell, &Change)> {
    comparison.rows.iter().filter_map(|row| {
        let cell = row.cells.last().copied().flatten()?;
        let change = row.changes.last()?.as_ref()?;
        Some((row, cell, change))
    })
}

/// The array of github-action-benchmark's `customSmallerIsBetter`: name, unit, value, range, extra.
/// Rows of which less is not better are left out, since the format has one direction.
pub fn github_action_benchmark(comparison: &Comparison) -> Value {
    let rows = last(comparison).filter(|(row, ..)| row.better == Better::Lower);
    let entries = rows.map(|(row, cell, change)| {
        let mut entry = json!({
            "name": row.key.label(),
            "unit": row.unit,
            "value": cell.median,
            "extra": extra(row, change),
        });
        if cell.n > 1 {
            entry["range"] = json!(format!("{:.3} to {:.3}", cell.min, cell.max));
        }
        entry
    });
    Value::Array(entries.collect())
}

fn extra(row: &Row, change: &Change) -> String {
    let base = row.cells[0].map_or(0.0, |cell| cell.median);
    let mut lines = vec![format!("base {base:.3} {}, {}", row.unit, change.verdict.name())];
    if let Basis::Sampled { corrected, .. } = change.basis {
        lines.push(format!("p {corrected:.4}"));
    }
    let mut causes = change.causes.clone();
    causes.sort_by(|a, b| b.absolute().abs().total_cmp(&a.absolute().abs()));
    lines.extend(
        causes
            .iter()
            .filter(|cause| cause.absolute().abs() >= 0.01)
            .map(|cause| format!("{} {:+.3} us", cause.cause.name(), cause.absolute())),
    );
    lines.join("\n")
}

/// Bencher Metric Format: by benchmark and measure a value with its smallest and largest. Times are
/// under Bencher's own measure `latency` in nanoseconds and rates under `throughput` a second, as
/// Bencher has them; all else goes by its own name.
pub fn bencher(comparison: &Comparison) -> Value {
    let mut benchmarks: Map<String, Value> = Map::new();
    for (row, cell, _) in last(comparison) {
        let (measure, factor) = match row.unit.as_str() {
            "ps" => ("latency".to_owned(), 1e-3),
            "ns" => ("latency".to_owned(), 1.0),
            "us" => ("latency".to_owned(), 1e3),
            "ms" => ("latency".to_owned(), 1e6),
            "s" => ("latency".to_owned(), 1e9),
            "Mpps" => ("throughput".to_owned(), 1e6),
            _ => (row.key.metric.replace('_', "-"), 1.0),
        };
        let scaled = |value: f64| (value * factor * 1e6).round() / 1e6;
        let mut metric = json!({ "value": scaled(cell.median) });
        if cell.n > 1 {
            metric["lower_value"] = json!(scaled(cell.min));
            metric["upper_value"] = json!(scaled(cell.max));
        }
        let benchmark = benchmarks.entry(row.key.label()).or_insert_with(|| json!({}));
        benchmark[measure] = metric;
    }
    Value::Object(benchmarks)
}
