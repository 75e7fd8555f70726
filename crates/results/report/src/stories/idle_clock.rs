//! `idle-clock`: what reading a clock and dividing cost the idle loop.

use super::rows::subject;
use super::{Run, Style};
use crate::grid::{fitted, right, table};
use crate::words::number;
use published::ClockReference;
use recording::metrics::{self, Metric};
use recording::{Recording, Series};
use serde_json::{Value, json};
use std::fmt::Write;

/// Statistics as they are called in recordings.
const STATISTICS: [&str; 7] = ["average", "stddev", "min", "max", "p50", "p99", "p99.9"];

/// Times of a clock or of a division.
struct Times<'r> {
    name: &'r str,
    mode: &'r str,
    /// In the order of [`STATISTICS`], in nanoseconds.
    values: [Option<f64>; STATISTICS.len()],
}

fn times<'r>(recording: &'r Recording, case: &str, metric: Metric) -> Vec<Times<'r>> {
    let mut all: Vec<(Series, Times<'r>)> = Vec::new();
    for measure in recording.measures().iter().filter(|measure| recording.text(measure.metric) == metric.name) {
        let (name, of, mode) = recording.series_texts(measure.series);
        let Some(at) = STATISTICS.iter().position(|statistic| *statistic == subject(recording, measure)) else {
            continue;
        };
        if of != case {
            continue;
        }
        let known = all.iter_mut().find(|(series, _)| *series == measure.series);
        match known {
            Some((_, times)) => times.values[at] = Some(measure.value),
            None => {
                let mut values = [None; STATISTICS.len()];
                values[at] = Some(measure.value);
                all.push((measure.series, Times { name, mode, values }));
            }
        }
    }
    all.into_iter().map(|(_, times)| times).collect()
}

/// What a governor does otherwise with another clock or another division.
struct Change<'r> {
    governor: &'r str,
    mode: &'r str,
    to: &'r str,
    choices: f64,
    energy: Option<f64>,
}

fn changes(recording: &Recording) -> Vec<Change<'_>> {
    let of = |metric: Metric| {
        recording.measures().iter().filter(move |measure| recording.text(measure.metric) == metric.name)
    };
    of(metrics::CHANGED_CHOICES)
        .map(|choices| {
            let (governor, _, mode) = recording.series_texts(choices.series);
            let same = |other: &&recording::Measure| other.series == choices.series && other.subject == choices.subject;
            let energy = of(metrics::CHANGED_ENERGY).find(same).map(|measure| measure.value);
            Change { governor, mode, to: subject(recording, choices), choices: choices.value, energy }
        })
        .collect()
}

/// How much less a shift by 10 bits counts than a division by 1000, as a share: 24/1024.
const BIAS: f64 = 1.0 - 1000.0 / 1024.0;

/// What is saved on each sleep, in nanoseconds: two reads, each by what the second published clock takes less than the first.
fn saving(recording: &Recording) -> Option<(String, f64)> {
    let averages = times(recording, "condition", metrics::CLOCK_READ);
    let [first, second] = &averages[..] else { return None };
    let less = first.values[0]? - second.values[0]?;
    Some((format!("{} for {}", second.name, first.name), 2.0 * less))
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    let is_virtual = recording.header.run.more.contains_key("virtual_machine");
    let statistics = |times: &Times<'_>| -> serde_json::Map<String, Value> {
        let key = |statistic: &str| format!("{}_ns", statistic.replace('.', "_"));
        STATISTICS.iter().zip(times.values).map(|(statistic, value)| (key(statistic), json!(value))).collect()
    };
    let clocks = times(recording, "clock-read", metrics::CLOCK_READ);
    let clocks: Vec<Value> = clocks
        .iter()
        .map(|times| {
            let mut json =
                json!({ "name": times.name, "threads": times.mode.parse::<u64>().ok(), "virtual_machine": is_virtual });
            json.as_object_mut().expect("it was made as one").extend(statistics(times));
            json
        })
        .collect();
    let divisions = times(recording, "division", metrics::DIVISION);
    let divisions: Vec<Value> = divisions
        .iter()
        .map(|times| {
            let mut json = json!({ "name": times.name, "divisor_known": times.mode == "divisor known" });
            json.as_object_mut().expect("it was made as one").extend(statistics(times));
            json
        })
        .collect();
    let changes: Vec<Value> = changes(recording)
        .iter()
        .map(|change| {
            json!({
                "governor": change.governor,
                "unsaid": change.mode,
                "with": change.to,
                "changed_choices": change.choices,
                "changed_energy": json!(change.energy),
            })
        })
        .collect();
    json!({
        "clocks": clocks,
        "divisions": divisions,
        "changes": changes,
        "saving_per_sleep_ns": json!(saving(recording).map(|(_, ns)| ns)),
        "shift_bias": BIAS,
        "clock_source": recording.header.run.more.get("clock_source"),
        "notes": recording.header.notes,
        "recording": run.folder,
    })
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    let mut text = String::new();
    let clocks = times(recording, "clock-read", metrics::CLOCK_READ);
    if !clocks.is_empty() {
        let source = recording.header.run.more.get("clock_source").map_or("not known", String::as_str);
        let _ = writeln!(text, "Reads of a clock on this machine, in ns; clock source {source}.");
        text.push_str(&drawn(["clock", "threads"], &clocks, style));
        text.push_str(&published(run.published.clocks.as_ref()));
    }
    let divisions = times(recording, "division", metrics::DIVISION);
    if !divisions.is_empty() {
        text.push_str("Divisions, each waiting for the one before it, in ns.\n");
        text.push_str(&drawn(["division", "compiler"], &divisions, style));
    }
    text.push_str(&changed(recording, style));
    if let Some((what, ns)) = saving(recording) {
        let _ = writeln!(text, "Saved on each sleep by {what}: {} ns, two reads' difference.", number(ns));
    }
    text.push_str(&bias(run.published.clocks.as_ref()));
    text
}

fn drawn(names: [&str; 2], all: &[Times<'_>], style: Style) -> String {
    let mut drawn = table(style);
    drawn.set_header(names.into_iter().chain(STATISTICS));
    for times in all {
        let mut cells = vec![times.name.into(), times.mode.into()];
        cells.extend(times.values.iter().map(|value| right(value.map_or(String::new(), |ns| format!("{ns:.1}")))));
        drawn.add_row(cells);
    }
    format!("{}\n", fitted(drawn, style))
}

/// What was published of the kernel's clocks.
fn published(reference: Option<&ClockReference>) -> String {
    let Some(reference) = reference else { return String::new() };
    let mut text = format!("Published ({}; {}):\n", reference.source, reference.conditions);
    for clock in reference.names() {
        let figures: Vec<String> = reference
            .clocks
            .iter()
            .filter(|figure| figure.clock == clock)
            .map(|figure| format!("{} {}", figure.statistic, figure.value))
            .collect();
        let _ = writeln!(text, "  {clock}: {} ns", figures.join(", "));
    }
    text
}

fn changed(recording: &Recording, style: Style) -> String {
    let changes = changes(recording);
    if changes.is_empty() {
        return String::new();
    }
    let first = changes[0].to;
    let mut drawn = table(style);
    drawn.set_header(["governor", "with", "changed choices, %", "changed energy, %"]);
    // Where the trace does not say everything each governor was replayed twice, and both figures are shown if they differ.
    let both = |mut figures: Vec<String>| {
        figures.dedup();
        right(figures.join(" or "))
    };
    let mut done: Vec<(&str, &str)> = Vec::new();
    for change in &changes {
        if done.contains(&(change.governor, change.to)) {
            continue;
        }
        done.push((change.governor, change.to));
        let same = || changes.iter().filter(|other| (other.governor, other.to) == (change.governor, change.to));
        let choices = both(same().map(|change| format!("{:.3}", 100.0 * change.choices)).collect());
        let energy = both(same().filter_map(|change| Some(format!("{:+.3}", 100.0 * change.energy?))).collect());
        drawn.add_row([change.governor.into(), change.to.into(), choices, energy]);
    }
    format!("What changes against {first}:\n{}\n", fitted(drawn, style))
}

/// What a shift in the place of a division makes of a time, beside what was published of it.
fn bias(reference: Option<&ClockReference>) -> String {
    let mut text = format!("A shift by 10 bits counts {} % less than a division by 1000.\n", 100.0 * BIAS);
    for row in reference.iter().flat_map(|reference| &reference.divisions) {
        let (shifted, quotient) = (row.nsec >> 10, row.nsec as f64 / 1024.0);
        let _ = writeln!(
            text,
            "  {} ns: / 1000 {} us; >> 10 {shifted} us, the quotient {quotient} us; published {} us and {} us",
            row.nsec,
            row.nsec / 1000,
            row.div_1000_usec,
            row.shift_10_usec
        );
    }
    if reference.is_some() {
        text.push_str("  The published 976 ns for 1000 ns is the quotient: the shift itself gives 0 us.\n");
    }
    text
}
