//! The measures of `rcu-energy`, read from the recording once; what else is told is reckoned from
//! them.

use crate::rows::{Row, named};
use recording::metrics::{self, Metric};
use recording::{Recording, distinct, stats};
use std::collections::HashMap;

/// Values of one metric by benchmark, configuration and mode; in the order of their iterations.
pub(super) type Values<'r> = HashMap<[&'r str; 3], Vec<f64>>;

/// The subjects of latencies.
const LATENCIES: [&str; 3] = ["p50", "p99", "p99.9"];

/// A benefit at a place on the axis that a mode names.
struct CurvePoint<'r> {
    names: [&'r str; 3],
    place: f64,
    benefit: f64,
}

/// The measures of a recording.
pub(super) struct EnergyMeasures<'r> {
    /// Energies in units of the platform's table times seconds.
    pub(super) energy: Values<'r>,
    /// Run times in seconds.
    pub(super) time: Values<'r>,
    /// Energy by owner, in the order in which the owners first come.
    pub(super) owned: Vec<(&'r str, Values<'r>)>,
    /// Wake-up latencies in us: the median, the 99th percentile and the 99.9th.
    pub(super) late: [Values<'r>; 3],
    /// The share of the time in which the big cluster is down.
    pub(super) asleep: Values<'r>,
    /// The draws, by the name of what was not published; what never differs decides nothing.
    pub(super) unknowns: Vec<(&'r str, Vec<f64>)>,
    curves: Vec<CurvePoint<'r>>,
}

impl<'r> EnergyMeasures<'r> {
    /// Reads a recording.
    pub(super) fn read(recording: &'r Recording) -> Self {
        let rows = named(recording);
        let of = |metric: Metric, subject: &str| -> Values<'r> {
            let mut values = Values::new();
            for row in rows
                .iter()
                .filter(|row| row.metric == metric.name && row.subject == subject)
            {
                values.entry(row.names()).or_default().push(row.value);
            }
            values
        };
        let owned = subjects(&rows, metrics::OWNED_ENERGY).into_iter();
        let drawn = |name: &'r str| {
            let draws = rows
                .iter()
                .filter(|row| row.metric == metrics::UNKNOWN.name && row.subject == name);
            (name, draws.map(|row| row.value).collect())
        };
        let mut unknowns: Vec<(&str, Vec<f64>)> = subjects(&rows, metrics::UNKNOWN)
            .into_iter()
            .map(drawn)
            .collect();
        unknowns.retain(|(_, values)| values.iter().any(|value| *value != values[0]));
        let curves = rows
            .iter()
            .filter(|row| row.metric == metrics::ENERGY_BENEFIT.name)
            .filter_map(|row| {
                let place = recording
                    .header
                    .coordinates
                    .get(row.subject)?
                    .get(row.mode)?
                    .as_float()?;
                Some(CurvePoint {
                    names: row.names(),
                    place,
                    benefit: row.value,
                })
            });
        Self {
            energy: of(metrics::ENERGY, ""),
            time: of(metrics::RUN_TIME, ""),
            owned: owned
                .map(|owner| (owner, of(metrics::OWNED_ENERGY, owner)))
                .collect(),
            late: LATENCIES.map(|name| of(metrics::WAKE_LATENCY, name)),
            asleep: of(metrics::ASLEEP, "big"),
            curves: curves.collect(),
            unknowns,
        }
    }

    /// The curve of a benefit over a setting, in order; the median at each place.
    pub(super) fn curve(
        &self,
        benchmark: &str,
        configuration: &str,
        mode: &str,
    ) -> Vec<(f64, f64)> {
        let points = self
            .curves
            .iter()
            .filter(|point| point.names == [benchmark, configuration, mode]);
        let mut all: Vec<(f64, f64)> = points.map(|point| (point.place, point.benefit)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let median = |at: &[(f64, f64)]| {
            stats::median(&at.iter().map(|(_, benefit)| *benefit).collect::<Vec<_>>())
        };
        all.chunk_by(|a, b| a.0 == b.0)
            .filter_map(|at| Some((at[0].0, median(at)?)))
            .collect()
    }
}

fn subjects<'r>(rows: &[Row<'r>], metric: Metric) -> Vec<&'r str> {
    distinct(
        rows.iter()
            .filter(|row| row.metric == metric.name)
            .map(|row| row.subject),
    )
}

/// The values of a cell; none where there is no such cell.
pub(super) fn at<'v>(
    values: &'v Values<'_>,
    benchmark: &str,
    configuration: &str,
    mode: &str,
) -> &'v [f64] {
    let found = values
        .iter()
        .find(|(names, _)| **names == [benchmark, configuration, mode]);
    found.map_or(&[], |(_, values)| values)
}
