//! Results as recordings.

use crate::footprint::Footprint;
use crate::graphs::{ErrorCount, EventCounts, LoadResult};
use crate::latency::Percentiles;
use crate::model::Cell;
use dataplane::graph::{Balance, RuntimeRow};
use dataplane::show::worker_name;
use recording::{Header, Recording, Series, metrics};

/// The case of a loaded graph: its maximum receive rate.
pub const LOADED_CASE: &str = "mrr";

/// The case of how long packets are on their way.
pub const LATENCY_CASE: &str = "latency";
/// The case of events of nodes.
const EVENTS_CASE: &str = "events";

/// The coordinates of a cell in the study. Cells with one stride for both lines have an axis, and
/// cells with two strides have axes of their own.
pub fn coordinates(loop_name: &str, cell: Cell) -> toml::Table {
    let (first, second) = (cell.strides.header as i64, cell.strides.data as i64);
    let mut at = toml::Table::new();
    at.insert("loop".to_owned(), loop_name.into());
    at.insert("stride_first".to_owned(), first.into());
    at.insert("stride_second".to_owned(), second.into());
    if first == second {
        at.insert("stride".to_owned(), first.into());
    } else {
        at.insert("stride_first_apart".to_owned(), first.into());
        at.insert("stride_second_apart".to_owned(), second.into());
    }
    at
}

/// The name of a cell's loop: a single loop whose strides are apart is a table of its own.
pub fn loop_name(cell: Cell) -> &'static str {
    if cell.strides.header == cell.strides.data {
        cell.shape.name()
    } else {
        "single-split"
    }
}

/// `single+3`, `single+2/13`.
pub fn label(cell: Cell) -> String {
    let (header, data) = (cell.strides.header, cell.strides.data);
    let shape = cell.shape.name();
    if header == data {
        format!("{shape}+{header}")
    } else {
        format!("{shape}+{header}/{data}")
    }
}

/// A stride study: the clocks of each cell, one measure per repetition.
pub fn study(header: Header, variant: &str, layout: &str, cells: &[(Cell, Vec<f64>)]) -> Recording {
    let mut recording = Recording::new(header);
    let series = recording.series(variant, "prefetch", layout);
    for (cell, values) in cells {
        let name = label(*cell);
        for (iteration, value) in values.iter().enumerate() {
            recording.add(
                series,
                iteration as u32,
                metrics::CLOCKS_PER_PACKET,
                &name,
                *value,
            );
        }
        recording
            .header
            .coordinates
            .insert(name, coordinates(loop_name(*cell), *cell));
    }
    recording
}

/// A loaded graph: its windows and what nodes did in each.
pub fn graph(header: Header, name: &str, loaded: &LoadResult) -> Recording {
    let mut recording = Recording::new(header);
    let series = recording.series(name, LOADED_CASE, "");
    for (iteration, window) in loaded.windows.iter().enumerate() {
        let iteration = iteration as u32;
        recording.add(series, iteration, metrics::RATE, "", window.mpps());
        recording.add(
            series,
            iteration,
            metrics::CLOCKS_PER_PACKET,
            "",
            window.ticks_per_packet(),
        );
        run_measures(
            &mut recording,
            series,
            iteration,
            window.seconds,
            window.loops,
        );
        for node in window
            .nodes
            .iter()
            .filter(|node| node.counters.calls + node.counters.empty_polls > 0)
        {
            node_measures(&mut recording, series, iteration, node);
        }
    }
    for each in &loaded.balances {
        balance(&mut recording, series, each);
    }
    latencies(&mut recording, name, 0, &loaded.rounds);
    errors(&mut recording, name, &loaded.errors);
    if let Some(EventCounts { names, nodes }) = &loaded.counted {
        let series = recording.series(name, EVENTS_CASE, "");
        for node in nodes.iter().filter(|node| node.counters.vectors > 0) {
            for (event, count) in names.iter().zip(node.counters.events) {
                recording.add_part(
                    series,
                    0,
                    metrics::EVENTS,
                    [&node.name, event],
                    count as f64 / node.counters.vectors as f64,
                );
            }
        }
    }
    let series = recording.series(name, "threads", "");
    for (iteration, window) in loaded.windows.iter().enumerate() {
        for (number, share) in window.workers.iter().enumerate() {
            let (iteration, name) = (iteration as u32, worker_name(number));
            recording.add(series, iteration, metrics::RATE, &name, share.mpps());
            recording.add(
                series,
                iteration,
                metrics::CLOCKS_PER_PACKET,
                &name,
                share.ticks_per_packet(),
            );
        }
    }
    recording
}

/// Percentiles of packets' latencies, and the number of packets.
pub fn latencies(recording: &mut Recording, variant: &str, iteration: u32, found: &Percentiles) {
    let series = recording.series(variant, LATENCY_CASE, "");
    for (name, value) in &found.values {
        recording.add(series, iteration, metrics::PACKET_LATENCY, name, *value);
    }
    recording.add(series, iteration, metrics::PACKETS, "", found.count as f64);
}

/// The length of a window in seconds, and the rounds of the graph in it.
pub fn run_measures(
    recording: &mut Recording,
    series: Series,
    iteration: u32,
    seconds: f64,
    loops: u64,
) {
    recording.add(series, iteration, metrics::WINDOW, "", seconds);
    recording.add(series, iteration, metrics::LOOPS, "", loops as f64);
}

/// The bytes that a frame touches, by kind of data, and those of the loop's instructions where they
/// are known.
pub fn footprint(recording: &mut Recording, variant: &str, row: &Footprint, code: Option<usize>) {
    let series = recording.series(variant, "footprint", "");
    for (kind, bytes) in [
        ("indices", row.indices),
        ("lanes", row.lanes),
        ("header lines", row.header_lines),
        ("data lines", row.data_lines),
    ]
    .into_iter()
    .chain(code.map(|bytes| ("instructions", bytes)))
    {
        recording.add(series, 0, metrics::FOOTPRINT, kind, bytes as f64);
    }
}

/// The ends that packets came to: counts over the whole run, whatever the window.
pub fn balance(recording: &mut Recording, series: Series, balance: &Balance) {
    for (metric, count) in [
        (metrics::RECEIVED, balance.received),
        (metrics::SENT, balance.sent),
        (metrics::DROPPED, balance.dropped),
        (metrics::PUNTED, balance.punted),
        (metrics::REFUSED, balance.refused),
    ] {
        recording.add(series, 0, metric, "", count as f64);
    }
}

/// The packets that nodes dropped or handed to the host, and what else they counted, over the whole
/// run: the severity is the mode, the reason the role.
pub fn errors(recording: &mut Recording, variant: &str, rows: &[ErrorCount]) {
    for ErrorCount {
        node,
        reason,
        severity,
        count,
    } in rows
    {
        let series = recording.series(variant, "errors", severity);
        recording.add_part(series, 0, metrics::PACKETS, [node, reason], *count as f64);
    }
}

/// The counters of a node.
pub fn node_measures(recording: &mut Recording, series: Series, iteration: u32, node: &RuntimeRow) {
    recording.header.set_state(&node.name, node.state.name());
    let c = node.counters;
    for (metric, value) in [
        (metrics::CALLS, c.calls as f64),
        (metrics::VECTORS, c.vectors as f64),
        (metrics::CLOCKS_PER_PACKET, c.ticks_per_packet()),
        (metrics::EMPTY_POLLS, c.empty_polls as f64),
        (metrics::EMPTY_CLOCKS, c.empty_ticks as f64),
    ] {
        recording.add(series, iteration, metric, &node.name, value);
    }
}
