//! Results as recordings.

use crate::graphs::{Asked, ErrorCount, EventCounts};
use crate::model::Cell;
use crate::trial::Ran;
use dataplane::buffers::Reuse;
use dataplane::graph::RuntimeRow;
use dataplane::show::worker_name;
use recording::{Header, Recording, Series, facts, metrics};

/// The case of a loaded graph: its maximum receive rate.
pub const LOADED_CASE: &str = "mrr";

/// The case of how long packets are on their way.
const LATENCY_CASE: &str = "latency";
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

/// The driver of packets that are in memory before they are sent.
const MEMORY: &str = "memory of this process";

/// The facts about a load, and about the loop of its nodes.
fn facts(asked: &Asked, ran: &Ran) -> facts::GraphLoad {
    let load = &asked.load;
    let (settings, strides) = (&load.settings, load.settings.strides);
    let objects = asked.objects.iter();
    facts::GraphLoad {
        graph: ran.about.name.clone(),
        routes: if ran.about.has_routes {
            load.routes.into()
        } else {
            0
        },
        workers: asked.workers as u64,
        packets: ran.about.packets.clone(),
        objects: objects.map(|path| path.display().to_string()).collect(),
        trace: ran.ending.trace.clone(),
        frame_size: settings.frame_size as u64,
        shape: settings.shape.name().to_owned(),
        strides: format!("{}/{}", strides.header, strides.data),
        buffers: load.buffers as u64,
        reuse: match load.reuse {
            Reuse::Hot => "hot",
            _ => "cycle",
        }
        .to_owned(),
        outputs: load.outputs as u64,
        flows: load.flows.into(),
        rate: load.arrivals.map_or(0, |of| of.rate),
        ring: load.arrivals.map_or(0, |of| of.ring),
        checksum: settings.verify_checksum,
        driver: MEMORY.to_owned(),
    }
}

/// A loaded graph: its windows and what nodes did in each.
pub fn graph(mut header: Header, asked: &Asked, ran: &Ran) -> Recording {
    let Ran { about, ending, .. } = ran;
    let name = &about.name;
    header.set_facts(&facts(asked, ran));
    let picture = metrics::CLOCKS_PER_PACKET;
    let picture = picture.bars("Clocks per packet, by node", Some(LOADED_CASE));
    header.pictures.push(picture);
    if let Some(Err(why)) = &ran.counted {
        header.notes.push(why.clone());
    }
    let mut recording = Recording::new(header);
    let series = recording.series(name, LOADED_CASE, "");
    for (iteration, window) in ran.windows.iter().enumerate() {
        let iteration = iteration as u32;
        for (metric, value) in [
            (metrics::RATE, window.mpps()),
            (metrics::CLOCKS_PER_PACKET, window.ticks_per_packet()),
            (metrics::WINDOW, window.seconds),
            (metrics::LOOPS, window.loops as f64),
        ] {
            recording.add(series, iteration, metric, "", value);
        }
        for node in window
            .nodes
            .iter()
            .filter(|node| node.counters.calls + node.counters.empty_polls > 0)
        {
            node_measures(&mut recording, series, iteration, node);
        }
    }
    for balance in &ending.balances {
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
    let series = recording.series(name, LATENCY_CASE, "");
    for (percentile, value) in &ending.rounds.values {
        recording.add(series, 0, metrics::PACKET_LATENCY, percentile, *value);
    }
    recording.add(series, 0, metrics::PACKETS, "", ending.rounds.count as f64);
    errors(&mut recording, name, &ending.errors);
    if let Some(Ok(EventCounts { names, nodes })) = &ran.counted {
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
    workers(&mut recording, ran);
    recording
}

/// The share of each worker in the windows.
fn workers(recording: &mut Recording, ran: &Ran) {
    let series = recording.series(&ran.about.name, "threads", "");
    for (iteration, window) in ran.windows.iter().enumerate() {
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
}

/// The packets that nodes dropped or handed to the host, and what else they counted, over the whole
/// run: the severity is the mode, the reason the role.
fn errors(recording: &mut Recording, variant: &str, rows: &[ErrorCount]) {
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
fn node_measures(recording: &mut Recording, series: Series, iteration: u32, node: &RuntimeRow) {
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
