//! `forward`: what a forwarder did until it stopped.

use super::loaded::{node_json, runtime};
use super::rates;
use super::rows::{subjects, sum};
use super::run::Run;
use crate::Style;
use crate::grid::{fitted, right, table};
use comfy_table::Cell;
use recording::{Measure, Recording, metrics};
use serde_json::{Map, Value, json};
use std::fmt::Write;

const CASE: &str = "forward";

/// The measures of a case, each with its subject.
fn of_case<'r>(recording: &'r Recording, case: &'r str) -> impl Iterator<Item = (&'r str, &'r Measure)> {
    let of = recording.measures().iter().filter(move |measure| recording.series_texts(measure.series).1 == case);
    of.filter_map(|measure| Some((recording.text(measure.subject?), measure)))
}

/// Why packets were dropped or punted: node, reason, severity, packets.
fn errors(recording: &Recording) -> impl Iterator<Item = (&str, &str, &str, u64)> {
    of_case(recording, "errors").map(|(subject, measure)| {
        let (node, reason) = subject.split_once(": ").unwrap_or((subject, ""));
        (node, reason, measure.role.map_or("", |name| recording.text(name)), measure.value as u64)
    })
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    if rates::is_of(recording) {
        return rates::json(run);
    }
    let nodes = subjects(recording, CASE, metrics::CALLS);
    let mut interfaces: Map<String, Value> = Map::new();
    for (interface, measure) in of_case(recording, "interfaces") {
        let counters = interfaces.entry(interface).or_insert_with(|| json!({}));
        counters[recording.text(measure.metric)] = json!(measure.value as u64);
    }
    let errors = errors(recording).map(|(node, reason, severity, packets)| {
        json!({ "node": node, "reason": reason, "severity": severity, "packets": packets })
    });
    let mut threads: Map<String, Value> = Map::new();
    for (worker, measure) in of_case(recording, "threads") {
        let counts = threads.entry(worker).or_insert_with(|| json!({}));
        counts[recording.text(measure.metric)] = json!(measure.value as u64);
    }
    json!({
        "threads": threads,
        "seconds": sum(recording, CASE, metrics::WINDOW, ""),
        "nodes": nodes.iter().map(|node| node_json(recording, CASE, node)).collect::<Vec<_>>(),
        "interfaces": interfaces,
        "errors": errors.collect::<Vec<_>>(),
        "recording": run.folder,
    })
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    if rates::is_of(recording) {
        return rates::text(run, style);
    }
    let mut text = recording.header.texts.get("exec").cloned().unwrap_or_default();
    text.push_str(&runtime(recording, CASE, style));
    let mut counters = table(style);
    counters.set_header(["Interface", "Counter", "Count"]);
    for (interface, measure) in of_case(recording, "interfaces").filter(|(_, measure)| measure.value > 0.0) {
        let count = right(format!("{}", measure.value));
        counters.add_row(vec![Cell::new(interface), Cell::new(recording.text(measure.metric)), count]);
    }
    let _ = writeln!(text, "{}", fitted(counters, style));
    let mut reasons = table(style);
    reasons.set_header(["Count", "Node", "Reason", "Severity"]);
    for (node, reason, severity, packets) in errors(recording) {
        reasons.add_row(vec![right(packets.to_string()), Cell::new(node), Cell::new(reason), Cell::new(severity)]);
    }
    let _ = writeln!(text, "{}", fitted(reasons, style));
    text
}
