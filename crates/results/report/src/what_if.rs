//! A what-if: one table, and one chart of latency against cores.

use crate::Style;
use crate::grid::{fitted, right, table};
use crate::words::number;
use attribution::{Cause, Spending};
use comfy_table::Cell;
use recording::{Recording, Series};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A combination of settings, and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIfPoint {
    /// Keys with their values.
    pub settings: Vec<(String, String)>,
    /// CPUs of the machine.
    pub cpus: usize,
    /// The smallest over the CPUs of an iteration, in microseconds; the median of that over the iterations.
    pub shortest: f64,
    /// The median over the CPUs of an iteration; the median of that.
    pub median: f64,
    /// The largest over the CPUs of an iteration; the median of that.
    pub longest: f64,
    /// Values of all CPUs in all iterations, in order; of more than [`MOST_VALUES`] as many that are evenly spread among them.
    pub values: Vec<f64>,
    /// On what the CPU with the largest spent most, and how long in microseconds.
    pub most: Option<(Cause, f64)>,
    /// On what the critical path of that CPU was spent most, and how long in microseconds. Where the CPU waited for another one, it is
    /// what that one did.
    pub hung_on: Option<(&'static str, f64)>,
}

/// What a what-if measured.
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
/// Iterations of different series are different iterations. In free order another CPU can be the last in each, so the CPUs of an iteration are put in order first, and medians over the
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
        let timelines = attribution::Timelines::of(recording);
        let path = timelines.iteration(span.series, iteration)?.path(cpu, metric);
        let (spent, ticks) = Spending::of(&path).parts.first().copied()?;
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

/// So many values of a combination are kept at most.
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

/// Table and chart for people.
pub fn what_if_text(what_if: &WhatIf, style: Style) -> String {
    let (case, mode, metric) = &what_if.measured;
    let mut text = String::new();
    let title = format!("{}: {case} {mode}, {metric} over the CPUs (us)", what_if.release);
    let _ = writeln!(text, "{}", style.bold(&title));
    let keys: Vec<&str> = what_if
        .points
        .first()
        .map_or_else(Vec::new, |point| point.settings.iter().map(|(key, _)| key.as_str()).collect());
    let mut table = table(style);
    let heads = ["CPUs", "shortest", "median", "longest", "most of the longest"];
    table.set_header(keys.iter().copied().chain(heads));
    for point in &what_if.points {
        let mut row: Vec<Cell> = point.settings.iter().map(|(_, value)| right(value.clone())).collect();
        row.push(right(point.cpus.to_string()));
        row.extend([point.shortest, point.median, point.longest].map(|value| right(number(value))));
        row.push(Cell::new(
            point.most.map_or_else(String::new, |(cause, value)| format!("{} {}", cause.title(), number(value))),
        ));
        table.add_row(row);
    }
    let _ = writeln!(text, "{}", fitted(table, style));
    chart(&mut text, what_if, style);
    text
}

/// Rows of the chart.
const HEIGHT: usize = 16;
/// Mark of all lines for which no letter is left.
const MORE: char = '?';
/// Columns left of it, for the scale.
const SCALE: usize = 9;

fn chart(text: &mut String, what_if: &WhatIf, style: Style) {
    let mut lines: Vec<String> = Vec::new();
    for point in &what_if.points {
        let line = line_of(point);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let letter = |line: &str| {
        let index = lines.iter().position(|other| other == line);
        index.and_then(|index| ('a'..='z').chain('A'..='Z').nth(index)).unwrap_or(MORE)
    };
    let highest = what_if.points.iter().map(|point| point.longest).fold(0.0, f64::max);
    let most_cpus = what_if.points.iter().map(|point| point.cpus).max().unwrap_or(1);
    let same_size = what_if.points.iter().all(|point| point.cpus == most_cpus);
    if highest <= 0.0 {
        return;
    }
    if same_size {
        bars(text, what_if, highest, style);
        return;
    }
    let width = style.width.clamp(40, 100) - SCALE - 2;
    let mut canvas = vec![vec![' '; width]; HEIGHT];
    for point in &what_if.points {
        let column = (point.cpus as f64 / most_cpus as f64 * (width - 1) as f64).round() as usize;
        let row = HEIGHT - 1 - (point.longest / highest * (HEIGHT - 1) as f64).round() as usize;
        let place = &mut canvas[row][column];
        let mark = letter(&line_of(point));
        *place = if *place == ' ' || *place == mark { mark } else { '*' };
    }
    let _ = writeln!(text, "{}", style.bold("longest (us) against cores"));
    for (index, row) in canvas.iter().enumerate() {
        let value = highest * (HEIGHT - 1 - index) as f64 / (HEIGHT - 1) as f64;
        let scale = if index % 5 == 0 { number(value) } else { String::new() };
        let row: String = row.iter().collect();
        let _ = writeln!(text, "{scale:>SCALE$} |{}", row.trim_end());
    }
    let _ = writeln!(text, "{:>SCALE$} +{}", "", "-".repeat(width));
    let half = most_cpus as f64 / 2.0;
    let half = if half.fract() == 0.0 { format!("{half:.0}") } else { format!("{half:.1}") };
    let middle = width / 2;
    let _ = writeln!(text, "{:>SCALE$}  0{half:>middle$}{:>rest$} cores", "", most_cpus, rest = width - middle - 8);
    for line in &lines {
        let words = if line.is_empty() { "as it is" } else { line };
        let _ = writeln!(text, "  {} {words}", letter(line));
    }
    if canvas.iter().flatten().any(|&mark| mark == '*') {
        let _ = writeln!(text, "  * more than one");
    }
}

/// Where all machines have as many cores, a bar for each combination.
fn bars(text: &mut String, what_if: &WhatIf, highest: f64, style: Style) {
    let label = |point: &WhatIfPoint| {
        let parts: Vec<_> = point.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if parts.is_empty() { "as it is".to_owned() } else { parts.join(" ") }
    };
    let labels: Vec<String> = what_if.points.iter().map(label).collect();
    let longest_label = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let width = style.width.clamp(40, 100).saturating_sub(longest_label + 12).max(10);
    let _ = writeln!(text, "{}", style.bold("longest (us)"));
    for (point, label) in what_if.points.iter().zip(&labels) {
        let bar = "#".repeat(((point.longest / highest) * width as f64).round() as usize);
        let _ = writeln!(text, "{label:<longest_label$} |{bar} {}", number(point.longest));
    }
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

/// As CSV: a column for each key, then cpus, shortest, median, longest (us), the cause of most of the longest and its time.
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
