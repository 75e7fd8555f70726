//! What work costs at each operating point, as `placement` records it.

use super::Style;
use super::rows::{of, subject};
use crate::grid::{PLAIN, fitted, paragraph, right, table};
use crate::words::number;
use recording::Recording;
use recording::metrics;
use serde_json::{Value, json};
use std::fmt::Write;

/// The cases in which costs are recorded.
const CASES: [&str; 3] = ["core", "core-and-cluster", "full-cluster"];

/// An operating point.
#[derive(Clone, Debug)]
struct Point<'r> {
    domain: &'r str,
    name: &'r str,
    capacity: f64,
    /// Energies in the order of [`CASES`].
    costs: [f64; 3],
}

fn points(recording: &Recording) -> Vec<Point<'_>> {
    let costs = |case| of(recording, case, metrics::ENERGY_PER_WORK);
    let at = |name: &str, case| costs(case).find(|other| subject(recording, other) == name).map_or(0.0, |of| of.value);
    costs(CASES[0])
        .map(|measure| {
            let name = subject(recording, measure);
            let capacity = recording.header.coordinates.get(name).and_then(|place| place.get("capacity"));
            Point {
                domain: recording.series_texts(measure.series).0,
                name,
                capacity: capacity.and_then(toml::Value::as_integer).unwrap_or(0) as f64,
                costs: CASES.map(|case| at(name, case)),
            }
        })
        .collect()
}

/// The top points of the fastest domain and of the slowest, if these are two.
fn ends<'p, 'r>(points: &'p [Point<'r>]) -> Option<[&'p Point<'r>; 2]> {
    let mut tops: Vec<&Point<'_>> = Vec::new();
    for point in points {
        match tops.iter_mut().find(|top| top.domain == point.domain) {
            Some(top) if top.capacity < point.capacity => *top = point,
            Some(_) => {}
            None => tops.push(point),
        }
    }
    tops.sort_by(|a, b| a.capacity.total_cmp(&b.capacity));
    let (slow, fast) = (tops.first()?, tops.last()?);
    (slow.domain != fast.domain && slow.costs[0] > 0.0).then_some([fast, slow])
}

pub(super) fn json(recording: &Recording) -> (Value, Value) {
    let points = points(recording);
    let rows: Vec<Value> = points
        .iter()
        .map(|point| {
            json!({
                "domain": point.domain,
                "point": point.name,
                "capacity": point.capacity,
                "core": point.costs[0],
                "core_and_cluster": point.costs[1],
                "full_cluster": point.costs[2],
            })
        })
        .collect();
    let top = ends(&points).map(|[fast, slow]| {
        json!({
            "fast": fast.domain,
            "slow": slow.domain,
            "times_as_fast": fast.capacity / slow.capacity,
            "times_the_energy": fast.costs[0] / slow.costs[0],
            "times_the_energy_with_cluster": fast.costs[1] / slow.costs[1],
        })
    });
    (json!(rows), json!(top))
}

/// Says what speed costs; with the whole table if that is wanted.
pub(super) fn text(text: &mut String, recording: &Recording, whole: bool, style: Style) {
    let points = points(recording);
    if whole && !points.is_empty() {
        drawn(text, &points, style);
    }
    if let Some([fast, slow]) = ends(&points) {
        let words = format!(
            "At their top points {} is {:.2} times as fast as {}, and its core takes {:.2} times the energy for the same work ({:.2} times with the cluster).",
            fast.domain,
            fast.capacity / slow.capacity,
            slow.domain,
            fast.costs[0] / slow.costs[0],
            fast.costs[1] / slow.costs[1],
        );
        paragraph(text, &words, ("", "  "), PLAIN, style);
    }
}

fn drawn(text: &mut String, points: &[Point<'_>], style: Style) {
    let words = "Energy of work against capacity: unit s for what a core of capacity 1024 does in a second.";
    paragraph(text, words, ("", "  "), PLAIN, style);
    let mut drawn = table(style);
    drawn.set_header(["operating point", "capacity", "core", "core and cluster", "each core of a full cluster"]);
    for point in points {
        let mut cells = vec![point.name.into(), right(format!("{}", point.capacity))];
        cells.extend(point.costs.map(|cost| right(number(cost))));
        drawn.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
}
