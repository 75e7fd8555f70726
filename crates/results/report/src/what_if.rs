//! A what-if: one table, and one chart of latency against cores.

use crate::blocks::{Bar, Blocks, Curve, Drawing, Figure, Picture, Sample, Table, figure, whole};
use crate::words::case_title;
use crate::{Style, terminal};
use attribution::{Cause, Spending};
use recording::{Recording, Series};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A combination of settings, and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIfPoint {
    /// Keys with their values.
    pub settings: Vec<(String, String)>,
    /// CPUs of the machine.
    pub cpus: usize,
    /// The smallest over the CPUs of an iteration, in microseconds; the median of that over the
    /// iterations.
    pub shortest: f64,
    /// The median over the CPUs of an iteration; the median of that.
    pub median: f64,
    /// The largest over the CPUs of an iteration; the median of that.
    pub longest: f64,
    /// Values of all CPUs in all iterations, in order; of more than [`MOST_VALUES`] as many that
    /// are evenly spread among them.
    pub values: Vec<f64>,
    /// On what the CPU with the largest spent most, and how long in microseconds.
    pub most: Option<(Cause, f64)>,
    /// On what the critical path of that CPU was spent most, and how long in microseconds. Where
    /// the CPU waited for another one, it is what that one did.
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

/// Reads a combination's figures from its recording; `None` where the recording has no such metric.
///
/// Iterations of different series are different iterations. In free order another CPU can be the
/// last in each, so the CPUs of an iteration are put in order first, and medians over the
/// iterations are taken then (of an even number the lower one, which occurred).
pub fn what_if_point(recording: &Recording, metric: &str, settings: &[(String, String)]) -> Option<WhatIfPoint> {
    let mut iterations: BTreeMap<(Series, u32), Vec<(f64, u16)>> = BTreeMap::new();
    for measure in recording.measures().iter().filter(|measure| recording.text(measure.metric) == metric) {
        iterations.entry((measure.series, measure.iteration)).or_default().push((measure.value, measure.cpu?));
    }
    for cpus in iterations.values_mut() {
        cpus.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    let ordered: Vec<_> = iterations.into_iter().collect();
    let middle = (ordered.len().checked_sub(1)?) / 2;
    let median_of = |pick: fn(&[(f64, u16)]) -> Option<f64>| {
        let mut values: Vec<f64> = ordered.iter().filter_map(|(_, cpus)| pick(cpus)).collect();
        values.sort_by(f64::total_cmp);
        values.get(middle).copied()
    };
    let mut by_longest: Vec<_> =
        ordered.iter().filter_map(|(iteration, cpus)| cpus.last().map(|last| (*last, *iteration))).collect();
    by_longest.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    let ((longest, cpu), (series, iteration)) = *by_longest.get(middle)?;
    let spans = attribution::each(recording);
    let split = spans
        .iter()
        .find(|span| (span.series, span.iteration, span.cpu, span.metric) == (series, iteration, cpu, metric));
    let most = split.and_then(|span| span.split.causes.iter().max_by_key(|(_, ticks)| **ticks));
    let tick_us = recording.header.time.counter_hz.map_or(0.0, |hz| 1e6 / hz as f64);
    let hung_on = split.and_then(|span| {
        let timelines = attribution::Timelines::new(recording);
        let path = timelines.iteration(span.series, iteration)?.path(cpu, metric);
        let (spent, ticks) = Spending::new(&path).parts.first().copied()?;
        Some((spent.title(), ticks as f64 * tick_us))
    });
    let values: Vec<f64> = ordered.iter().flat_map(|(_, cpus)| cpus.iter().map(|cpu| cpu.0)).collect();
    Some(WhatIfPoint {
        values: spread_evenly(values, MOST_VALUES),
        settings: settings.to_vec(),
        cpus: ordered[0].1.len(),
        shortest: median_of(|cpus| cpus.first().map(|cpu| cpu.0))?,
        median: median_of(|cpus| recording::stats::median(&cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>()))?,
        longest,
        most: most.map(|(&cause, &ticks)| (cause, ticks as f64 * tick_us)),
        hung_on,
    })
}

/// The most values of a combination that are kept.
pub const MOST_VALUES: usize = 400;

/// Values in order, with both ends; of more than `most` as many that are evenly spread among them.
pub(crate) fn spread_evenly(mut values: Vec<f64>, most: usize) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    if values.len() <= most || most < 2 {
        return values;
    }
    (0..most).map(|index| values[index * (values.len() - 1) / (most - 1)]).collect()
}

/// Keys that decide how many CPUs there are are the chart's axis, not its lines.
fn is_shape(key: &str) -> bool {
    key.starts_with("topology.")
}

/// The settings that a point's line in the chart stands for.
pub(crate) fn line_of(point: &WhatIfPoint) -> String {
    let kept = point.settings.iter().filter(|(key, _)| !is_shape(key)).map(|(key, value)| format!("{key}={value}"));
    kept.collect::<Vec<_>>().join(" ")
}

/// The what-if in a terminal: its answer, its charts and its table. `asked`: the question, where it
/// is known.
pub fn what_if_text(what_if: &WhatIf, asked: Option<&str>, all: bool, style: Style) -> String {
    terminal::story(&blocks(what_if, asked), all, style)
}

/// The what-if as one self-contained page of at most [`crate::MOST_BYTES`].
pub fn what_if_html(what_if: &WhatIf, asked: Option<&str>) -> String {
    let (case, mode, _) = &what_if.measured;
    let lead = format!("{}, {mode}, of {}", case_title(case), what_if.release);
    crate::html::plain_page("What if?", &lead, &blocks(what_if, asked))
}

/// All settings of a combination, their keys without the section: there is little room.
fn short_name(point: &WhatIfPoint) -> String {
    let short = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let settings: Vec<_> = point.settings.iter().map(|(key, value)| format!("{}={value}", short(key))).collect();
    if settings.is_empty() { "as it is".to_owned() } else { settings.join(", ") }
}

/// The settings that a point's line in the chart stands for; its name where there are none.
fn line_name(point: &WhatIfPoint) -> String {
    Some(line_of(point)).filter(|line| !line.is_empty()).unwrap_or_else(|| "as it is".to_owned())
}

/// From the combination with the shortest longest to the one with the longest.
fn answer(what_if: &WhatIf) -> Option<String> {
    let by_longest = |a: &&WhatIfPoint, b: &&WhatIfPoint| a.longest.total_cmp(&b.longest);
    let least = what_if.points.iter().min_by(by_longest)?;
    let most = what_if.points.iter().max_by(by_longest)?;
    let metric = &what_if.measured.2;
    let why = most.hung_on.map_or_else(String::new, |(what, us)| format!("; {} us of that go to {what}", figure(us)));
    Some(match what_if.points.len() {
        1 => format!("The longest {metric} takes {} us{why}.", figure(most.longest)),
        _ => format!(
            "The longest {metric} takes {} us with {} and {} us with {}{why}.",
            figure(least.longest),
            short_name(least),
            figure(most.longest),
            short_name(most)
        ),
    })
}

/// Combinations of the picture of samples at most.
const MOST_SAMPLES: usize = 60;
/// Combinations that a terminal shows without being asked for all.
const FEW: usize = 24;

/// The blocks of a what-if.
fn blocks(what_if: &WhatIf, asked: Option<&str>) -> Blocks {
    let (case, mode, metric) = &what_if.measured;
    let mut told = Blocks::default();
    if let Some(answer) = answer(what_if) {
        told.answer(answer);
    }
    if let Some(asked) = asked {
        told.paragraph(asked);
    }
    told.picture(chart(what_if));
    if what_if.points.len() > FEW {
        told.rest();
    }
    let keys = what_if.points.first().map_or(&[][..], |point| &point.settings).iter().enumerate();
    let spent = |what: &str, us: f64| format!("{what} {}", figure(us));
    let table = Table::with_rows(&what_if.points)
        .each(keys, |table, (at, (key, _))| {
            table.numbers(key.as_str(), "", move |point| point.settings.get(at).map(|(_, value)| value.as_str()))
        })
        .numbers("CPUs", "", |point| whole(point.cpus as f64))
        .numbers("shortest", "", |point| figure(point.shortest))
        .numbers("median", "", |point| figure(point.median))
        .numbers("longest", "", |point| figure(point.longest))
        .words("the longest hung on", |point| point.hung_on.map(|(what, us)| spent(what, us)))
        .words("most of its CPU", |point| point.most.map(|(cause, us)| spent(cause.title(), us)));
    let title = format!("{}: {case} {mode}, {metric} over the CPUs (us); medians over the iterations", what_if.release);
    told.table(table.done().titled(title));
    told.rest();
    let samples = what_if.points.iter().take(MOST_SAMPLES).map(|point| Sample {
        name: short_name(point),
        series: line_name(point),
        values: point.values.clone(),
    });
    let samples: Vec<Sample> = samples.filter(|sample| sample.values.len() > 1).collect();
    if !samples.is_empty() {
        let picture = Picture::new("How the CPUs scatter", "all iterations", "us", Drawing::Samples(samples));
        let left_out = what_if.points.len().saturating_sub(MOST_SAMPLES);
        let first = if left_out > 0 { format!(" The first {MOST_SAMPLES} combinations.") } else { String::new() };
        told.picture(picture.noted(format!("A box holds half of the values, the line in it is their median.{first}")));
    }
    told
}

/// A curve over the number of cores for each line; where all machines have as many cores, a bar for
/// each combination.
fn chart(what_if: &WhatIf) -> Picture {
    let metric = &what_if.measured.2;
    let value = |point: &WhatIfPoint| Figure { value: point.longest, published: None };
    if what_if.points.windows(2).all(|two| two[0].cpus == two[1].cpus) {
        let bar = |point: &WhatIfPoint| Bar { name: short_name(point), parts: vec![(line_name(point), value(point))] };
        let bars = what_if.points.iter().take(MOST_SAMPLES).map(bar).collect();
        return Picture::new(format!("The longest {metric}"), "", "us", Drawing::Bars(bars));
    }
    let mut curves: Vec<Curve> = Vec::new();
    for point in &what_if.points {
        let (name, at) = (line_name(point), (point.cpus as f64, value(point)));
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(at),
            None => curves.push(Curve { name, points: vec![at], best: None }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let drawing = Drawing::Curves { x: "cores".to_owned(), curves };
    Picture::new(format!("The longest {metric} against cores"), "", "us", drawing)
}

/// For machines; times are in microseconds.
pub fn what_if_json(what_if: &WhatIf) -> Value {
    let (case, mode, metric) = &what_if.measured;
    let points: Vec<Value> = what_if
        .points
        .iter()
        .map(|point| {
            let settings: serde_json::Map<_, _> =
                point.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            json!({
                "settings": settings, "cpus": point.cpus, "shortest": point.shortest, "median": point.median, "longest": point.longest,
                "most": point.most.map(|(cause, value)| json!({ "cause": cause.name(), "us": value })),
            })
        })
        .collect();
    json!({
        "release": what_if.release, "case": case, "mode": mode, "metric": metric, "unit": "us", "points": points,
    })
}

/// As CSV: a column for each key, then cpus, shortest, median, longest (us), the cause of most of
/// the longest and its time.
///
/// # Errors
/// What the writer says.
pub fn what_if_csv(what_if: &WhatIf) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let keys = what_if
        .points
        .first()
        .map_or_else(Vec::new, |point| point.settings.iter().map(|(key, _)| key.clone()).collect());
    let heads = ["cpus", "shortest_us", "median_us", "longest_us", "most_cause", "most_us"].map(str::to_owned);
    writer.write_record(keys.into_iter().chain(heads))?;
    for point in &what_if.points {
        let most =
            point.most.map_or_else(Default::default, |(cause, value)| (cause.name().to_owned(), format!("{value:.3}")));
        let figures = [point.shortest, point.median, point.longest].map(|value| format!("{value:.3}"));
        let settings = point.settings.iter().map(|(_, value)| value.clone());
        writer.write_record(settings.chain([point.cpus.to_string()]).chain(figures).chain([most.0, most.1]))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::Header;

    #[test]
    fn the_longest_is_that_of_each_iteration_whoever_had_it() {
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        let series = recording.series("r", "suspend-deepest", "parallel");
        // The two CPUs take turns at being last, so neither's own median is the longest.
        for (iteration, values) in [(0, [10.0, 100.0]), (1, [102.0, 12.0]), (2, [11.0, 101.0])] {
            for (cpu, value) in (0..).zip(values) {
                recording.measure(series, iteration, "powerdown", "us", value).cpu = Some(cpu);
            }
        }
        let point = what_if_point(&recording, "powerdown", &[]).unwrap();
        assert_eq!((point.cpus, point.shortest, point.median, point.longest), (2, 11.0, 56.0, 101.0));
        assert_eq!(what_if_point(&recording, "latency", &[]), None);
    }
}
