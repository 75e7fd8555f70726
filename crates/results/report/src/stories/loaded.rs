//! `dataplane`: a graph at full load.

use super::rates;
use super::rows::{counter, median, of, role, setting, subject, subjects, sum, tick_ns, values};
use super::run::Run;
use crate::Style;
use crate::grid::{DIM, PLAIN, fitted, paragraph, right, table};
use comfy_table::Cell;
use recording::{Recording, metrics, stats};
use serde_json::{Value, json};
use std::fmt::Write;

const CASE: &str = "mrr";
/// Events of nodes, in a window of their own.
const EVENTS: &str = "events";
/// What each worker did.
const THREADS: &str = "threads";

/// A node as JSON has it, over all windows.
pub(super) fn node_json(recording: &Recording, case: &str, node: &str) -> Value {
    let count = |metric| sum(recording, case, metric, node) as u64;
    json!({
        "name": node,
        "calls": count(metrics::CALLS),
        "vectors": count(metrics::VECTORS),
        "clocks_per_packet": median(recording, case, metrics::CLOCKS_PER_PACKET, node),
        "empty_polls": count(metrics::EMPTY_POLLS),
    })
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    // Rates were searched by this experiment once.
    if rates::is_of(recording) {
        return rates::json(run);
    }
    let whole = |metric| sum(recording, CASE, metric, "") as u64;
    let rates = values(recording, CASE, metrics::RATE, "");
    let spread = stats::summary(&rates).map_or([0.0; 2], |summary| [summary.min, summary.max]);
    let nodes = subjects(recording, CASE, metrics::CALLS);
    let threads = subjects(recording, THREADS, metrics::RATE).into_iter().map(|worker| {
        json!({
            "name": worker,
            "mpps": median(recording, THREADS, metrics::RATE, worker),
            "clocks_per_packet": median(recording, THREADS, metrics::CLOCKS_PER_PACKET, worker),
        })
    });
    let published = beside(run)
        .into_iter()
        .map(|(node, ns, ours, our_ns)| json!({ "node": node, "published_ns": ns, "our_node": ours, "ns": our_ns }));
    let kinds = kinds(recording);
    let by_node = subjects(recording, EVENTS, metrics::EVENTS).into_iter().map(|node| {
        let of_node = kinds.iter().map(|kind| ((*kind).to_owned(), json!(events(recording, node, kind))));
        (node.to_owned(), Value::Object(of_node.collect()))
    });
    json!({
        "threads": threads.collect::<Vec<_>>(),
        "drivers": [{ "name": "memory", "mode": setting(recording, "driver") }],
        "latency_us": rates::of_rounds(recording),
        "published_nodes": published.collect::<Vec<_>>(),
        "events_per_packet": by_node.collect::<serde_json::Map<_, _>>(),
        "graph": setting(recording, "graph"),
        "nodes": nodes.iter().map(|node| node_json(recording, CASE, node)).collect::<Vec<_>>(),
        "clocks_per_packet": median(recording, CASE, metrics::CLOCKS_PER_PACKET, ""),
        "mpps": stats::median(&rates).unwrap_or(0.0),
        "mpps_spread": spread,
        "windows": rates::Spread::of(&rates).map(|spread| spread.json()),
        "counter": counter(recording),
        "tick_ns": tick_ns(recording),
        "checksum_verified": setting(recording, "checksum") == "true",
        "frame_size": setting(recording, "frame_size").parse::<u64>().unwrap_or(0),
        "received": whole(metrics::RECEIVED),
        "sent": whole(metrics::SENT),
        "lost": whole(metrics::DROPPED) + whole(metrics::PUNTED) + whole(metrics::REFUSED),
        "recording": run.folder,
    })
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    if rates::is_of(recording) {
        return rates::text(run, style);
    }
    let said = |key| setting(recording, key);
    let flows = if said("flows") == "1" { "1 flow".to_owned() } else { format!("{} flows", said("flows")) };
    let reuse = if said("reuse") == "hot" { "reused hot" } else { "cycled" };
    let mut head = format!(
        "{}: 64-byte packets, {flows}, {} buffers {reuse}, frames of {}, {} loop, strides {}",
        said("graph"),
        said("buffers"),
        said("frame_size"),
        said("loop"),
        said("strides")
    );
    if said("graph") != "l2-xconnect" {
        let checksum = if said("checksum") == "true" { "verified" } else { "not verified" };
        let _ = write!(head, ", {} routes, header checksum {checksum}", said("routes"));
    }
    let mut text = String::new();
    paragraph(&mut text, &head, ("", "  "), PLAIN, style);
    text.push_str(&runtime(recording, CASE, style));
    let rates = values(recording, CASE, metrics::RATE, "");
    let Some(rate) = rates::Spread::of(&rates) else { return text };
    let whole = |metric| sum(recording, CASE, metric, "");
    let clocks = values(recording, CASE, metrics::CLOCKS_PER_PACKET, "");
    let clocks = rates::Spread::of(&clocks).map_or(String::new(), |clocks| clocks.words(1));
    let summary = format!(
        "{} windows: {} Mpps, {clocks} clocks per packet; received {} = sent {} + lost {}",
        rates.len(),
        rate.words(2),
        whole(metrics::RECEIVED),
        whole(metrics::SENT),
        whole(metrics::DROPPED) + whole(metrics::PUNTED) + whole(metrics::REFUSED)
    );
    paragraph(&mut text, &summary, ("", "  "), PLAIN, style);
    text.push_str(&events_table(recording, style));
    text.push_str(&beside_table(run, style));
    let rounds = rates::of_rounds(recording);
    let at = |name: &str| rounds.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    let latency = format!(
        "A round, which a packet is in the graph at most: p50 {:.1} us, p99 {:.1}, p99.9 {:.1}, p99.99 {:.1} ({} rounds timed)",
        at("p50"),
        at("p99"),
        at("p999"),
        at("p9999"),
        at("packets")
    );
    paragraph(&mut text, &latency, ("", "  "), PLAIN, style);
    if let Some(trace) = recording.header.texts.get("trace") {
        let _ = write!(text, "\n{trace}");
    }
    text
}

/// Which of our nodes does what a published one did: names that both have, and the ends that are named after a device.
fn counterpart(published: &str) -> Option<&str> {
    match published.rsplit_once('-') {
        _ if matches!(published, "ethernet-input" | "l2-input" | "l2-output") => Some(published),
        Some((device, "input")) if device.contains("pp2") => Some("pg-input"),
        Some((_, "output")) => Some("pg1-output"),
        Some((_, "tx")) => Some("pg1-tx"),
        _ => None,
    }
}

/// Published node, its nanoseconds per packet, our node, its nanoseconds. Only the cross connect was published.
fn beside<'r>(run: &'r Run<'_>) -> Vec<(&'r str, f64, &'r str, f64)> {
    let recording = run.recording;
    let Some(published) = run.published.node_clocks.as_ref().filter(|_| setting(recording, "graph") == "l2-xconnect")
    else {
        return Vec::new();
    };
    let rows = published.figures.iter().filter_map(|figure| {
        let ours = counterpart(&figure.node)?;
        let clocks = median(recording, CASE, metrics::CLOCKS_PER_PACKET, ours);
        (clocks > 0.0).then_some((figure.node.as_str(), figure.slide_ns, ours, clocks * tick_ns(recording)))
    });
    rows.collect()
}

/// The published nodes beside ours; nothing where none were published.
fn beside_table(run: &Run<'_>, style: Style) -> String {
    let (rows, Some(published)) = (beside(run), &run.published.node_clocks) else { return String::new() };
    if rows.is_empty() {
        return String::new();
    }
    let mut grid = table(style);
    grid.set_header(["Published node", "ns per packet", "Our node, here", "ns per packet"]);
    for (node, ns, ours, our_ns) in rows {
        grid.add_row(vec![Cell::new(node), right(format!("{ns}")), Cell::new(ours), right(format!("{our_ns:.2}"))]);
    }
    let mut text = format!("{}\n", fitted(grid, style));
    let from = format!(
        "Published: {}, platform {}. Another core and another device: what compares is which node is dear, not how dear. {}",
        published.source, published.platform, published.note
    );
    paragraph(&mut text, &from, ("", "  "), DIM, style);
    text
}

/// Kinds of events that were counted, in order.
fn kinds(recording: &Recording) -> Vec<&str> {
    let mut kinds = Vec::new();
    for measure in of(recording, EVENTS, metrics::EVENTS) {
        let kind = role(recording, measure);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Events of a kind for each packet of a node.
fn events(recording: &Recording, node: &str, kind: &str) -> Option<f64> {
    let mut there = of(recording, EVENTS, metrics::EVENTS);
    let found = there.find(|measure| subject(recording, measure) == node && role(recording, measure) == kind);
    found.map(|measure| measure.value)
}

/// Events for each packet and node; nothing where none were counted.
fn events_table(recording: &Recording, style: Style) -> String {
    let kinds = kinds(recording);
    if kinds.is_empty() {
        return String::new();
    }
    let mut grid = table(style);
    grid.set_header(["Events per packet"].into_iter().chain(kinds.iter().copied()));
    for node in subjects(recording, EVENTS, metrics::EVENTS) {
        let values = kinds.iter().map(|kind| events(recording, node, kind));
        let cells = values.map(|value| right(value.map_or(String::new(), |value| format!("{value:.3}"))));
        grid.add_row([Cell::new(node)].into_iter().chain(cells));
    }
    format!("{}\n", fitted(grid, style))
}

/// What nodes did in the last window, in the words that users of VPP know.
pub(super) fn runtime(recording: &Recording, case: &str, style: Style) -> String {
    let last = of(recording, case, metrics::CALLS).map(|measure| measure.iteration).max().unwrap_or(0);
    let at = |metric, node: &str| {
        let mut there = of(recording, case, metric).filter(|measure| measure.iteration == last);
        there.find(|measure| subject(recording, measure) == node).map_or(0.0, |measure| measure.value)
    };
    let each = |sum: f64, count: f64| if count == 0.0 { 0.0 } else { sum / count };
    let total = |metric| {
        let there =
            of(recording, case, metric).filter(|measure| measure.iteration == last && measure.subject.is_some());
        there.map(|measure| measure.value).sum::<f64>()
    };
    let seconds: f64 = sum(recording, case, metrics::WINDOW, "").max(1e-9);
    let rate = |metric| sum(recording, case, metric, "") / seconds;
    let mut text = format!(
        "Time {:.1}, average vectors/node {:.2}, {:.2} loops/sec\n",
        at(metrics::WINDOW, ""),
        each(total(metrics::VECTORS), total(metrics::CALLS)),
        at(metrics::LOOPS, "") / at(metrics::WINDOW, "").max(1e-9)
    );
    let _ = writeln!(
        text,
        "  vector rates in {:.4e}, out {:.4e}, drop {:.4e}, punt {:.4e}",
        rate(metrics::RECEIVED),
        rate(metrics::SENT),
        rate(metrics::DROPPED) + rate(metrics::REFUSED),
        rate(metrics::PUNTED)
    );
    let mut grid = table(style);
    grid.set_header(["Name", "State", "Calls", "Vectors", "Clocks", "Vectors/Call", "Empty polls", "Empty clocks"]);
    for node in subjects(recording, case, metrics::CALLS) {
        let state = of(recording, case, metrics::CALLS).find(|measure| subject(recording, measure) == node);
        let (calls, polls) = (at(metrics::CALLS, node), at(metrics::EMPTY_POLLS, node));
        grid.add_row(vec![
            Cell::new(node),
            Cell::new(state.map_or("", |measure| role(recording, measure))),
            right(format!("{calls}")),
            right(format!("{}", at(metrics::VECTORS, node))),
            right(format!("{:.2e}", at(metrics::CLOCKS_PER_PACKET, node))),
            right(format!("{:.2}", each(at(metrics::VECTORS, node), calls))),
            right(format!("{polls}")),
            right(format!("{:.2e}", each(at(metrics::EMPTY_CLOCKS, node), polls))),
        ]);
    }
    let _ = writeln!(text, "{}", fitted(grid, style));
    let clocks = format!(
        "Clocks are ticks of the {} per packet, one tick is {:.3} ns; nodes as in the last of the windows.",
        counter(recording),
        tick_ns(recording)
    );
    paragraph(&mut text, &clocks, ("", "  "), DIM, style);
    text
}
