//! A what-if: what each combination of settings came to.

use crate::Findings;
use attribution::{Cause, Spending};
use recording::Series;
use std::collections::BTreeMap;

/// A combination of settings, and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIfPoint {
    /// Keys with their values.
    pub settings: Vec<(String, String)>,
    /// The unit of all figures.
    pub unit: String,
    /// CPUs that have values in an iteration; 0 where the metric is of no CPU.
    pub cpus: usize,
    /// The smallest over the values of an iteration, one for each CPU or one that is of no CPU; the
    /// median of that over the iterations.
    pub shortest: f64,
    /// The median over the values of an iteration; the median of that.
    pub median: f64,
    /// The largest over the values of an iteration; the median of that.
    pub longest: f64,
    /// The middle 90 % of the largest ones, where iterations are draws with a seed each, and the
    /// number of them.
    pub over_seeds: Option<(f64, f64, usize)>,
    /// All values of all iterations, in order; of more than [`MOST_VALUES`] as many that
    /// are evenly spread among them.
    pub values: Vec<f64>,
    /// On what the CPU with the largest spent most, as a part of its figure, from 0 to 1. This and
    /// the next are of an iteration with events: of many seeds none has any.
    pub most: Option<(Cause, f64)>,
    /// On what the critical path of that CPU was spent most, as a part of it. Where the CPU waited
    /// for another one, it is what that one did.
    pub hung_on: Option<(&'static str, f64)>,
}

/// The measurements of a what-if.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// The release that it starts from.
    pub release: String,
    /// Case, mode and metric.
    pub measured: (String, String, String),
    /// The combinations, in order.
    pub points: Vec<WhatIfPoint>,
}

impl WhatIf {
    /// The unit of all figures; empty where there is no combination.
    pub fn unit(&self) -> &str {
        self.points.first().map_or("", |point| &point.unit)
    }

    /// True if the figures are times.
    pub fn is_of_time(&self) -> bool {
        matches!(self.unit(), "ps" | "ns" | "us" | "ms" | "s")
    }
}

/// A figure with its CPU, if it is of one.
type Value = (f64, Option<u16>);

/// The figures of one iteration, in order.
struct Iteration {
    series: Series,
    number: u32,
    values: Vec<Value>,
}

impl Iteration {
    /// The largest and its CPU.
    fn longest(&self) -> Value {
        self.values.last().copied().unwrap_or_default()
    }
}

/// Reads a combination's figures; `None` where the recording has no such metric.
///
/// Where iterations with a seed each were recorded they alone are read: other iterations share the
/// order that one seed gave. In free order another CPU can be the last in each, so the CPUs of an
/// iteration are put in order first, and medians over the iterations are taken then (of an even
/// number the lower one, which occurred).
pub fn what_if_point(
    findings: &Findings<'_>,
    metric: &str,
    settings: &[(String, String)],
) -> Option<WhatIfPoint> {
    let recording = findings.recording;
    let unit = recording
        .measures()
        .iter()
        .find(|measure| recording.text(measure.metric) == metric)?
        .unit;
    let (drawn, shared) = (
        iterations(findings, metric, true),
        iterations(findings, metric, false),
    );
    let is_drawn = !drawn.is_empty();
    let ordered = if is_drawn { &drawn } else { &shared };
    let middle = ordered.len().checked_sub(1)? / 2;
    let median_of = |pick: fn(&[Value]) -> Option<f64>| {
        let mut values: Vec<f64> = ordered
            .iter()
            .filter_map(|iteration| pick(&iteration.values))
            .collect();
        values.sort_by(f64::total_cmp);
        values.get(middle).copied()
    };
    let end = |part: f64| {
        ordered[((ordered.len() - 1) as f64 * part).round() as usize]
            .longest()
            .0
    };
    let over_seeds = (is_drawn && ordered.len() > 1).then(|| (end(0.05), end(0.95), ordered.len()));
    // Runs of many seeds leave no events.
    let with_events = if shared.is_empty() { ordered } else { &shared };
    let told = &with_events[(with_events.len() - 1) / 2];
    let (most, hung_on) = causes(findings, metric, told);
    let values = |iteration: &Iteration| {
        iteration
            .values
            .iter()
            .map(|(value, _)| *value)
            .collect::<Vec<f64>>()
    };
    Some(WhatIfPoint {
        values: spread_evenly(ordered.iter().flat_map(values).collect(), MOST_VALUES),
        settings: settings.to_vec(),
        unit: recording.text(unit).to_owned(),
        cpus: ordered[0]
            .values
            .iter()
            .filter(|(_, cpu)| cpu.is_some())
            .count(),
        shortest: median_of(|values| values.first().map(|(value, _)| *value))?,
        median: median_of(|values| {
            recording::stats::median(&values.iter().map(|(value, _)| *value).collect::<Vec<_>>())
        })?,
        longest: ordered[middle].longest().0,
        over_seeds,
        most,
        hung_on,
    })
}

/// A cause with its share of a time.
type Share<T> = Option<(T, f64)>;

/// The cause on which the longest CPU of an iteration spent most, and what its end hung on.
fn causes(
    findings: &Findings<'_>,
    metric: &str,
    told: &Iteration,
) -> (Share<Cause>, Share<&'static str>) {
    let (recording, timelines) = (findings.recording, &findings.timelines);
    let (told_longest, cpu) = told.longest();
    let split = cpu.and_then(|cpu| {
        let spans = timelines.each().into_iter();
        let is_told = (told.series, told.number, cpu, metric);
        spans
            .map(|span| {
                (
                    (span.series, span.iteration, span.cpu, span.metric),
                    span.split,
                )
            })
            .find(|(of, _)| *of == is_told)
    });
    let tick_us = recording
        .header
        .time
        .counter_hz
        .map_or(0.0, |hz| 1e6 / hz as f64);
    let share = |ticks: u64| ticks as f64 * tick_us / told_longest;
    let most = split
        .as_ref()
        .and_then(|(_, split)| split.causes.iter().max_by_key(|(_, ticks)| **ticks));
    let hung_on = split.as_ref().zip(cpu).and_then(|(_, cpu)| {
        let path = timelines
            .iteration(told.series, told.number)?
            .path(cpu, metric);
        let (spent, ticks) = Spending::new(&path).parts.first().copied()?;
        Some((spent.title(), share(ticks)))
    });
    (most.map(|(&cause, &ticks)| (cause, share(ticks))), hung_on)
}

/// The iterations that have a metric, from the one with the least largest value on; of modes that
/// draw a seed for each iteration, or of the others.
fn iterations(findings: &Findings<'_>, metric: &str, drawn: bool) -> Vec<Iteration> {
    let recording = findings.recording;
    let is_drawn = |series: Series| {
        let (_, _, mode) = recording.series_texts(series);
        recording
            .header
            .seeded_modes
            .iter()
            .any(|drawn| drawn == mode)
    };
    let mut iterations: BTreeMap<(Series, u32), Vec<Value>> = BTreeMap::new();
    let of_metric = recording
        .measures()
        .iter()
        .filter(|measure| recording.text(measure.metric) == metric);
    for measure in of_metric.filter(|measure| is_drawn(measure.series) == drawn) {
        iterations
            .entry((measure.series, measure.iteration))
            .or_default()
            .push((measure.value, measure.cpu));
    }
    let in_order = |((series, number), mut values): ((Series, u32), Vec<Value>)| {
        values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Iteration {
            series,
            number,
            values,
        }
    };
    let mut ordered: Vec<Iteration> = iterations.into_iter().map(in_order).collect();
    ordered.sort_by(|a, b| a.longest().0.total_cmp(&b.longest().0));
    ordered
}

/// The most values of a combination that are kept.
pub const MOST_VALUES: usize = 400;

/// Values in order, with both ends; of more than `most` as many that are evenly spread among them.
fn spread_evenly(mut values: Vec<f64>, most: usize) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    if values.len() <= most || most < 2 {
        return values;
    }
    (0..most)
        .map(|index| values[index * (values.len() - 1) / (most - 1)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::{Header, Recording};

    fn point_of(recording: &Recording, metric: &str) -> Option<WhatIfPoint> {
        what_if_point(&Findings::new(recording, "", None), metric, &[])
    }

    #[test]
    fn the_longest_is_that_of_each_iteration_whoever_had_it() {
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        let series = recording.series("r", "suspend-deepest", "parallel");
        // The two CPUs take turns at being last, so neither's own median is the longest.
        for (iteration, values) in [(0, [10.0, 100.0]), (1, [102.0, 12.0]), (2, [11.0, 101.0])] {
            for (cpu, value) in (0..).zip(values) {
                recording
                    .measure(series, iteration, "powerdown", "us", value)
                    .cpu = Some(cpu);
            }
        }
        let point = point_of(&recording, "powerdown").unwrap();
        assert_eq!(
            (point.cpus, point.shortest, point.median, point.longest),
            (2, 11.0, 56.0, 101.0)
        );
        assert_eq!(
            (point_of(&recording, "latency"), point.over_seeds),
            (None, None)
        );
    }

    /// Twenty seeds from 100 to 119 beside iterations that share one order.
    #[test]
    fn iterations_with_seeds_of_their_own_are_read_alone_and_have_an_interval() {
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        let shared = recording.series("r", "suspend-deepest", "parallel");
        recording.measure(shared, 0, "powerdown", "us", 500.0).cpu = Some(0);
        let drawn = recording.series("r", "suspend-deepest", "parallel-free");
        for seed in 0..20 {
            recording
                .measure(drawn, seed, "powerdown", "us", 100.0 + f64::from(seed))
                .cpu = Some(0);
        }
        assert_eq!(
            point_of(&recording, "powerdown").unwrap().over_seeds,
            None,
            "nothing says that they are"
        );
        recording.header.seeded_modes = vec!["parallel-free".to_owned()];
        let point = point_of(&recording, "powerdown").unwrap();
        assert_eq!(
            (point.longest, point.over_seeds),
            (109.0, Some((101.0, 118.0, 20)))
        );
    }

    #[test]
    fn what_no_cpu_measured_counts_as_one_value() {
        let mut recording = Recording::new(Header::new("dataplane", "host", "ticks"));
        let series = recording.series("all", "forward", "");
        for (iteration, rate) in (0..).zip([9.0, 11.0, 10.0]) {
            recording.measure(series, iteration, "rate", "Mpps", rate);
        }
        let point = point_of(&recording, "rate").unwrap();
        assert_eq!(
            (point.cpus, point.shortest, point.median, point.longest),
            (0, 10.0, 10.0, 10.0)
        );
        assert_eq!(
            (point.values, point.most, point.hung_on),
            (vec![9.0, 10.0, 11.0], None, None)
        );
    }
}
