//! A kernel's counts of its idle states, read from a recording's measures.

use crate::metrics::{self, Metric};
use crate::{Measure, Recording};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// Counts of idle states, of one or the sum of several.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct IdleSum {
    /// Entries.
    pub entered: f64,
    /// Time in microseconds, where it is known.
    pub time_us: Option<f64>,
    /// Stays that were too deep, where they are counted.
    pub above: Option<f64>,
    /// Stays that were too shallow, where they are counted.
    pub below: Option<f64>,
    /// Entries that were refused, where they are counted.
    pub rejected: Option<f64>,
}

/// Counts of an idle state of a CPU.
pub struct IdleCount<'r> {
    /// The kernel or machine.
    pub variant: &'r str,
    /// The test.
    pub case: &'r str,
    /// The cluster, where clusters are known.
    pub cluster: Option<u16>,
    /// The CPU; `None` for a sum over CPUs.
    pub cpu: Option<u16>,
    /// The state's name.
    pub state: &'r str,
    /// The counts.
    pub sum: IdleSum,
}

impl IdleSum {
    /// The counts with others added. What one of them does not know is not known of the sum.
    pub fn plus(self, other: Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        Self {
            entered: self.entered + other.entered,
            time_us: both(self.time_us, other.time_us),
            above: both(self.above, other.above),
            below: both(self.below, other.below),
            rejected: both(self.rejected, other.rejected),
        }
    }

    /// The sum of some counts; all unknown where there are none.
    pub fn over(counts: impl IntoIterator<Item = Self>) -> Self {
        counts.into_iter().reduce(Self::plus).unwrap_or_default()
    }

    /// Stays that were too deep or too shallow.
    pub fn misses(self) -> Option<f64> {
        Some(self.above? + self.below?)
    }
}

/// A count in percent of entries; `None` where there is no entry or it is not counted.
pub fn percent_of(count: Option<f64>, entered: f64) -> Option<f64> {
    count
        .filter(|_| entered > 0.0)
        .map(|count| 100.0 * count / entered)
}

/// The counts of each state of each CPU, in the recording's order.
pub fn idle_counts(recording: &Recording) -> Vec<IdleCount<'_>> {
    let mut counts = Vec::new();
    let mut places = HashMap::new();
    let is = |measure: &Measure, metric: Metric| recording.text(measure.metric) == metric.name;
    for measure in recording.measures() {
        let Some(subject) = measure.subject else {
            continue;
        };
        let key = (
            measure.series,
            measure.cpu,
            measure.cluster,
            measure.core,
            subject,
        );
        if is(measure, metrics::IDLE_ENTERED) {
            let (variant, case, _) = recording.series_texts(measure.series);
            let at = *places.entry(key).or_insert(counts.len());
            if at == counts.len() {
                let (cluster, cpu, state) = (measure.cluster, measure.cpu, recording.text(subject));
                counts.push(IdleCount {
                    variant,
                    case,
                    cluster,
                    cpu,
                    state,
                    sum: IdleSum::default(),
                });
            }
            counts[at].sum.entered += measure.value;
        } else if let Some(count) = places.get(&key).and_then(|at| counts.get_mut(*at)) {
            let sum = &mut count.sum;
            let value = match () {
                () if is(measure, metrics::IDLE_TIME) => &mut sum.time_us,
                () if is(measure, metrics::IDLE_ABOVE) => &mut sum.above,
                () if is(measure, metrics::IDLE_BELOW) => &mut sum.below,
                () if is(measure, metrics::IDLE_REJECTED) => &mut sum.rejected,
                () => continue,
            };
            *value = Some(value.unwrap_or(0.0) + measure.value);
        }
    }
    counts
}
