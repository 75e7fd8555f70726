//! Results as recordings.

use dataplane::graph::{Graph, RuntimeRow};
use recording::{Header, Recording, Series};

use crate::graphs::{GraphKind, Loaded};
use crate::model::Cell;

/// `single+3`, `single+2/13`.
pub fn label(cell: Cell) -> String {
    let (header, data) = (cell.strides.header, cell.strides.data);
    let shape = cell.shape.name();
    if header == data { format!("{shape}+{header}") } else { format!("{shape}+{header}/{data}") }
}

/// A stride study: the clocks of each cell, one measure a repetition.
pub fn study(header: Header, variant: &str, layout: &str, cells: &[(Cell, Vec<f64>)]) -> Recording {
    let mut recording = Recording::new(header);
    let series = recording.series(variant, "prefetch", layout);
    for (cell, values) in cells {
        let subject = recording.name(&label(*cell));
        for (iteration, value) in values.iter().enumerate() {
            recording.measure(series, iteration as u32, "clocks-per-packet", "ticks", *value).subject = Some(subject);
        }
    }
    recording
}

/// A loaded graph: its windows and what nodes did in each.
pub fn graph(header: Header, kind: GraphKind, loaded: &Loaded) -> Recording {
    let mut recording = Recording::new(header);
    let series = recording.series(kind.name(), "mrr", "");
    for (iteration, window) in loaded.windows.iter().enumerate() {
        let iteration = iteration as u32;
        recording.measure(series, iteration, "rate", "Mpps", window.mpps());
        recording.measure(series, iteration, "clocks-per-packet", "ticks", window.ticks_per_packet());
        for node in window.nodes.iter().filter(|node| node.counters.calls + node.counters.empty_polls > 0) {
            node_measures(&mut recording, series, iteration, node);
        }
    }
    recording
}

/// What a forwarder did from its start, or since its counters were cleared: its nodes, its interfaces, and why packets were dropped or
/// punted. `variant` says which forwarder.
pub fn forwarder(header: Header, variant: &str, graph: &Graph) -> Recording {
    let mut recording = Recording::new(header);
    let series = recording.series(variant, "forward", "");
    for node in graph.runtime().iter().filter(|node| node.counters.calls + node.counters.empty_polls > 0) {
        node_measures(&mut recording, series, 0, node);
    }
    let series = recording.series(variant, "interfaces", "");
    for interface in &graph.plane.interfaces {
        let subject = recording.name(&interface.name);
        for (metric, count) in interface.counters() {
            let unit = if metric.ends_with("bytes") { "bytes" } else { "packets" };
            recording.measure(series, 0, metric, unit, count as f64).subject = Some(subject);
        }
    }
    let series = recording.series(variant, "errors", "");
    for row in graph.errors().iter().filter(|row| row.count > 0) {
        let (subject, role) =
            (recording.name(&format!("{}: {}", row.node, row.reason.text)), recording.name(row.reason.severity.name()));
        let measure = recording.measure(series, 0, "packets", "packets", row.count as f64);
        (measure.subject, measure.role) = (Some(subject), Some(role));
    }
    recording
}

fn node_measures(recording: &mut Recording, series: Series, iteration: u32, node: &RuntimeRow) {
    let subject = recording.name(&node.name);
    let c = node.counters;
    for (metric, unit, value) in [
        ("calls", "calls", c.calls as f64),
        ("vectors", "packets", c.vectors as f64),
        ("clocks-per-packet", "ticks", c.ticks_per_packet()),
        ("empty-polls", "calls", c.empty_polls as f64),
        ("empty-clocks", "ticks", c.empty_ticks as f64),
    ] {
        recording.measure(series, iteration, metric, unit, value).subject = Some(subject);
    }
}
