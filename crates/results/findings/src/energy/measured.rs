//! The measures of `rcu-energy`, read from the recording once; what else is told is reckoned from
//! them.

use crate::rows::of_metric;
use recording::metrics::{self, Metric};
use recording::{Recording, distinct, grouped};
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
        let of = |metric: Metric, subject: &str| -> Values<'r> {
            let mut values = Values::new();
            for row in of_metric(recording, metric).filter(|row| row.subject == subject) {
                values.entry(row.names()).or_default().push(row.value);
            }
            values
        };
        let owned = of_metric(recording, metrics::OWNED_ENERGY).map(|row| row.subject);
        let owned = distinct(owned).into_iter();
        let draws = of_metric(recording, metrics::UNKNOWN);
        let mut unknowns = grouped(draws.map(|row| (row.subject, row.value)));
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
