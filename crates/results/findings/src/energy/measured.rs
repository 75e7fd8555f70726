//! The measures of `rcu-energy`, read from the recording once; what else is told is reckoned from
//! them.

use crate::rows::{Row, named};
use recording::metrics::{self, Metric};
use recording::{Recording, distinct};
use std::collections::HashMap;

/// Values of one metric by benchmark, configuration and mode; in the order of their iterations.
pub type Values<'r> = HashMap<[&'r str; 3], Vec<f64>>;

/// The subjects of latencies.
const LATENCIES: [&str; 3] = ["p50", "p99", "p99.9"];

/// The measures of a recording.
pub struct EnergyMeasures<'r> {
    /// Energies in units of the platform's table times seconds.
    pub energy: Values<'r>,
    /// Run times in seconds.
    pub time: Values<'r>,
    /// Energy by owner, in the order in which the owners first come.
    pub owned: Vec<(&'r str, Values<'r>)>,
    /// Wake-up latencies in us: the median, the 99th percentile and the 99.9th.
    pub late: [Values<'r>; 3],
    /// The share of the time in which the big cluster is down.
    pub asleep: Values<'r>,
    /// The draws, by the name of what was not published; what never differs decides nothing.
    pub unknowns: Vec<(&'r str, Vec<f64>)>,
}

impl<'r> EnergyMeasures<'r> {
    /// Reads a recording.
    pub fn read(recording: &'r Recording) -> Self {
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
        let mut unknowns: Vec<(&str, Vec<f64>)> = subjects(&rows, metrics::UNKNOWN)
            .into_iter()
            .map(|name| {
                let draws = rows
                    .iter()
                    .filter(|row| row.metric == metrics::UNKNOWN.name && row.subject == name);
                (name, draws.map(|row| row.value).collect())
            })
            .collect();
        unknowns.retain(|(_, values)| values.iter().any(|value| *value != values[0]));
        Self {
            energy: of(metrics::ENERGY, ""),
            time: of(metrics::RUN_TIME, ""),
            owned: owned
                .map(|owner| (owner, of(metrics::OWNED_ENERGY, owner)))
                .collect(),
            late: LATENCIES.map(|name| of(metrics::WAKE_LATENCY, name)),
            asleep: of(metrics::ASLEEP, "big"),
            unknowns,
        }
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
pub fn at<'v>(
    values: &'v Values<'_>,
    benchmark: &str,
    configuration: &str,
    mode: &str,
) -> &'v [f64] {
    values
        .iter()
        .find(|(names, _)| **names == [benchmark, configuration, mode])
        .map_or(&[], |(_, values)| values)
}
