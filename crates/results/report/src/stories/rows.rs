//! Looking measures up.

use recording::metrics::Metric;
use recording::{Measure, Recording, stats};

/// The measures of a metric in a case, in the recording's order.
pub(super) fn of<'r>(recording: &'r Recording, case: &'r str, metric: Metric) -> impl Iterator<Item = &'r Measure> {
    recording.measures().iter().filter(move |measure| {
        recording.text(measure.metric) == metric.name && recording.series_texts(measure.series).1 == case
    })
}

/// The measure's subject; empty where it has none.
pub(super) fn subject<'r>(recording: &'r Recording, measure: &Measure) -> &'r str {
    measure.subject.map_or("", |name| recording.text(name))
}

/// The part that the measure's subject played; empty where it played none.
pub(super) fn role<'r>(recording: &'r Recording, measure: &Measure) -> &'r str {
    measure.role.map_or("", |name| recording.text(name))
}

/// Values of a metric in a case, for a subject (empty for what has none), one per iteration.
pub(super) fn values(recording: &Recording, case: &str, metric: Metric, wanted: &str) -> Vec<f64> {
    of(recording, case, metric)
        .filter(|measure| subject(recording, measure) == wanted)
        .map(|measure| measure.value)
        .collect()
}

/// The median of [`values`]; 0 where there are none.
pub(super) fn median(recording: &Recording, case: &str, metric: Metric, wanted: &str) -> f64 {
    stats::median(&values(recording, case, metric, wanted)).unwrap_or(0.0)
}

/// The sum of [`values`].
pub(super) fn sum(recording: &Recording, case: &str, metric: Metric, wanted: &str) -> f64 {
    values(recording, case, metric, wanted).iter().sum()
}

/// The subjects of a metric in a case, in the order in which they first come.
pub(super) fn subjects<'r>(recording: &'r Recording, case: &'r str, metric: Metric) -> Vec<&'r str> {
    let mut seen = Vec::new();
    for measure in of(recording, case, metric) {
        let subject = subject(recording, measure);
        if !subject.is_empty() && !seen.contains(&subject) {
            seen.push(subject);
        }
    }
    seen
}

/// Length of a tick of the recording's counter in nanoseconds; 0 where its frequency is not known.
pub(super) fn tick_ns(recording: &Recording) -> f64 {
    recording.header.time.counter_hz.map_or(0.0, |hz| 1e9 / hz as f64)
}

/// The name of the counter.
pub(super) fn counter(recording: &Recording) -> &str {
    recording.header.run.more.get("counter").map_or("counter", String::as_str)
}

/// A setting of the run.
pub(super) fn setting<'r>(recording: &'r Recording, key: &str) -> &'r str {
    recording.header.settings.get(key).map_or("", String::as_str)
}
