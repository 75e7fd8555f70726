//! The cost of work at each operating point.

use crate::blocks::{Table, Text, figure, name, text, whole};
use findings::rows::Row;
use recording::{Header, metrics};
use serde::Serialize;

/// The cases in which costs are recorded.
const CASES: [&str; 3] = ["core", "core-and-cluster", "full-cluster"];

/// An operating point with the energy of work there.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Point<'r> {
    domain: &'r str,
    point: &'r str,
    capacity: f64,
    core: f64,
    core_and_cluster: f64,
    full_cluster: f64,
}

/// The top points of the fastest domain and of the slowest.
#[derive(Debug, Serialize)]
pub(super) struct Top<'r> {
    fast: &'r str,
    slow: &'r str,
    times_as_fast: f64,
    times_the_energy: f64,
    times_the_energy_with_cluster: f64,
}

/// Reads the points, and the top ones if there are two domains.
pub(super) fn read<'r>(rows: &[Row<'r>], header: &Header) -> (Vec<Point<'r>>, Option<Top<'r>>) {
    let costs = |case: &'static str| rows.iter().filter(move |row| row.is_of(case, metrics::ENERGY_PER_WORK));
    let at = |name: &str, case| costs(case).find(|other| other.subject == name).map_or(0.0, |other| other.value);
    let points: Vec<Point<'_>> = costs(CASES[0])
        .map(|row| {
            let name = row.subject;
            let capacity = header.coordinates.get(name).and_then(|place| place.get("capacity"));
            let [core, core_and_cluster, full_cluster] = CASES.map(|case| at(name, case));
            Point {
                domain: row.variant,
                point: name,
                capacity: capacity.and_then(toml::Value::as_integer).unwrap_or(0) as f64,
                core,
                core_and_cluster,
                full_cluster,
            }
        })
        .collect();
    let top = top(&points);
    (points, top)
}

fn top<'r>(points: &[Point<'r>]) -> Option<Top<'r>> {
    let mut tops: Vec<&Point<'r>> = Vec::new();
    for point in points {
        match tops.iter_mut().find(|top| top.domain == point.domain) {
            Some(top) if top.capacity < point.capacity => *top = point,
            Some(_) => {}
            None => tops.push(point),
        }
    }
    tops.sort_by(|a, b| a.capacity.total_cmp(&b.capacity));
    let (slow, fast) = (*tops.first()?, *tops.last()?);
    (slow.domain != fast.domain && slow.core > 0.0).then(|| Top {
        fast: fast.domain,
        slow: slow.domain,
        times_as_fast: fast.capacity / slow.capacity,
        times_the_energy: fast.core / slow.core,
        times_the_energy_with_cluster: fast.core_and_cluster / slow.core_and_cluster,
    })
}

impl Top<'_> {
    /// The price of speed in a sentence.
    pub(super) fn words(&self) -> Text {
        text![
            "At their top points ",
            name(self.fast),
            format!(" is {:.2} times as fast as ", self.times_as_fast),
            name(self.slow),
            format!(
                ", and its core takes {:.2} times the energy for the same work ({:.2} times with the cluster).",
                self.times_the_energy, self.times_the_energy_with_cluster
            )
        ]
    }
}

/// The table of the points.
pub(super) fn table(points: &[Point<'_>]) -> Table {
    let note = "Energy of work against capacity: unit s for what a core of capacity 1024 does in a second.";
    Table::with_rows(points)
        .words("operating point", |point| name(point.point))
        .numbers("capacity", "", |point| whole(point.capacity))
        .numbers("core", "", |point| figure(point.core))
        .numbers("core and cluster", "", |point| figure(point.core_and_cluster))
        .numbers("each core of a full cluster", "", |point| figure(point.full_cluster))
        .done()
        .noted(note)
}
