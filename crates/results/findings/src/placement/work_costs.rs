//! The cost of work at each operating point.

use crate::rows::Row;
use recording::{Header, metrics, total_order};
use schemars::JsonSchema;
use serde::Serialize;

/// The cases in which costs are recorded.
const CASES: [&str; 3] = ["core", "core-and-cluster", "full-cluster"];

/// An operating point with the energy of work there.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Point<'r> {
    /// The domain's name.
    pub domain: &'r str,
    /// The operating point's name.
    pub point: &'r str,
    /// Capacity, 1024 for the fastest.
    pub capacity: f64,
    /// Energy of a core for the work that a core of capacity 1024 does in a second, in units times
    /// seconds.
    pub core: f64,
    /// The same with the whole cluster, one core busy.
    pub core_and_cluster: f64,
    /// The same for each core of a cluster whose cores are all busy.
    pub full_cluster: f64,
}

/// The top points of the fastest domain and of the slowest.
#[derive(Serialize, JsonSchema)]
pub struct Top<'r> {
    /// The fastest domain.
    pub fast: &'r str,
    /// The slowest domain.
    pub slow: &'r str,
    /// The speed of the fastest as a multiple of the slowest's.
    pub times_as_fast: f64,
    /// The energy of its core for the same work, as a multiple of the slowest's.
    pub times_the_energy: f64,
    /// The energy of its core and cluster for the same work, as a multiple of the slowest's.
    pub times_the_energy_with_cluster: f64,
}

/// Reads the points, and the top ones if there are two domains.
pub fn read<'r>(rows: &[Row<'r>], header: &Header) -> (Vec<Point<'r>>, Option<Top<'r>>) {
    let costs = |case: &'static str| {
        rows.iter()
            .filter(move |row| row.is_of(case, metrics::ENERGY_PER_WORK))
    };
    let at = |name: &str, case| {
        costs(case)
            .find(|other| other.subject == name)
            .map_or(0.0, |other| other.value)
    };
    let points: Vec<Point<'_>> = costs(CASES[0])
        .map(|row| {
            let name = row.subject;
            let capacity = header
                .coordinates
                .get(name)
                .and_then(|place| place.get("capacity"));
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
    tops.sort_by_key(|of| total_order(of.capacity));
    let (slow, fast) = (*tops.first()?, *tops.last()?);
    (slow.domain != fast.domain && slow.core > 0.0).then(|| Top {
        fast: fast.domain,
        slow: slow.domain,
        times_as_fast: fast.capacity / slow.capacity,
        times_the_energy: fast.core / slow.core,
        times_the_energy_with_cluster: fast.core_and_cluster / slow.core_and_cluster,
    })
}
