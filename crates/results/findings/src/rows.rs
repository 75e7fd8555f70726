//! Looking measures up.

use recording::metrics::Metric;
use recording::{Measure, Recording, distinct, stats};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// The measures of a metric, in the recording's order.
pub fn of_metric(recording: &Recording, metric: Metric) -> impl Iterator<Item = Row<'_>> {
    let measures = recording.measures().iter();
    measures
        .filter(move |measure| recording.text(measure.metric) == metric.name)
        .map(|measure| Row::new(recording, measure))
}

/// The measures of a metric in a case, in the recording's order.
pub fn measures_of<'r>(
    recording: &'r Recording,
    case: &'r str,
    metric: Metric,
) -> impl Iterator<Item = Row<'r>> {
    of_metric(recording, metric).filter(move |row| row.case == case)
}

/// A measure with its names.
#[derive(Clone)]
pub struct Row<'r> {
    /// The release or configuration.
    pub variant: &'r str,
    /// The experiment's case.
    pub case: &'r str,
    /// The case's mode; empty where it has none.
    pub mode: &'r str,
    /// The iteration, from 0.
    pub iteration: u32,
    /// The name of the metric.
    pub metric: &'r str,
    /// The subject; empty where it has none.
    pub subject: &'r str,
    /// The part that its subject played; empty where it played none.
    pub role: &'r str,
    /// The number, in the metric's unit.
    pub value: f64,
}

impl<'r> Row<'r> {
    /// Gives a measure its names.
    pub fn new(recording: &'r Recording, measure: &Measure) -> Self {
        let (variant, case, mode) = recording.series_texts(measure.series);
        let [subject, role] = [measure.subject, measure.role]
            .map(|name| name.map_or("", |name| recording.text(name)));
        Self {
            variant,
            case,
            mode,
            iteration: measure.iteration,
            metric: recording.text(measure.metric),
            subject,
            role,
            value: measure.value,
        }
    }

    /// Case, variant and mode.
    pub fn names(&self) -> [&'r str; 3] {
        [self.case, self.variant, self.mode]
    }

    /// True if it is of a metric in a case.
    pub fn is_of(&self, case: &str, metric: Metric) -> bool {
        self.metric == metric.name && self.case == case
    }
}

/// All measures with their names, in the recording's order.
pub fn named(recording: &Recording) -> Vec<Row<'_>> {
    let measures = recording.measures().iter();
    measures
        .map(|measure| Row::new(recording, measure))
        .collect()
}

/// Values of a metric in a case, for a subject (empty for what has none), one per iteration.
pub fn values(recording: &Recording, case: &str, metric: Metric, wanted: &str) -> Vec<f64> {
    measures_of(recording, case, metric)
        .filter(|row| row.subject == wanted)
        .map(|row| row.value)
        .collect()
}

/// The median of [`values`]; 0 where there are none.
pub fn median(recording: &Recording, case: &str, metric: Metric, wanted: &str) -> f64 {
    stats::median(&values(recording, case, metric, wanted)).unwrap_or(0.0)
}

/// The sum of [`values`].
pub fn sum(recording: &Recording, case: &str, metric: Metric, wanted: &str) -> f64 {
    values(recording, case, metric, wanted).iter().sum()
}

/// The subjects of a metric in a case, in the order in which they first come.
pub fn subjects<'r>(recording: &'r Recording, case: &'r str, metric: Metric) -> Vec<&'r str> {
    let subjects = measures_of(recording, case, metric).map(|row| row.subject);
    distinct(subjects.filter(|subject| !subject.is_empty()))
}

/// Length of a tick of the recording's counter in nanoseconds; 0 where its frequency is not known.
pub fn tick_ns(recording: &Recording) -> f64 {
    recording
        .header
        .time
        .counter_hz
        .map_or(0.0, |hz| 1e9 / hz as f64)
}

/// The name of the counter whose ticks are clocks.
pub fn counter(recording: &Recording) -> &str {
    recording.header.run.counter.as_deref().unwrap_or("counter")
}

/// Values by name in the order in which they came; a map in JSON.
#[derive(Debug, PartialEq, JsonSchema)]
pub struct InOrder<'r, V>(
    /// Name and value of each, in order.
    #[schemars(with = "std::collections::BTreeMap<String, V>")]
    pub Vec<(&'r str, V)>,
);

impl<'r, V> InOrder<'r, V> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.0
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<&'r str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }

    /// The values, in order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }
}

impl<V: Serialize> Serialize for InOrder<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'r, V> FromIterator<(&'r str, V)> for InOrder<'r, V> {
    fn from_iter<I: IntoIterator<Item = (&'r str, V)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}
