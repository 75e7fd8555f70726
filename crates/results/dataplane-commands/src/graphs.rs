//! `run dataplane`: a graph at full load on this machine.

use std::time::Duration;

use dataplane::machine;
use dataplane::show;
use dataplane_experiments::graphs::{self, Load, Loaded};
use recording::stats;
use serde::Serialize;

use crate::error::Error;

/// A node, over all windows.
#[derive(Clone, Debug, Serialize)]
pub struct NodeResult {
    /// Its name.
    pub name: String,
    /// Calls with packets.
    pub calls: u64,
    /// Packets.
    pub vectors: u64,
    /// Ticks a packet: the median of the windows.
    pub clocks_per_packet: f64,
    /// Polls that found nothing.
    pub empty_polls: u64,
}

/// A graph's result.
#[derive(Clone, Debug, Serialize)]
pub struct GraphResult {
    /// The graph.
    pub graph: String,
    /// Nodes in the order of the packets' way.
    pub nodes: Vec<NodeResult>,
    /// Ticks a packet, the whole path with generator and output: the median of the windows.
    pub clocks_per_packet: f64,
    /// Millions of packets a second: the median of the windows.
    pub mpps: f64,
    /// The slowest and the fastest window.
    pub mpps_spread: [f64; 2],
    /// What counts.
    pub counter: String,
    /// Length of a tick in nanoseconds.
    pub tick_ns: f64,
    /// Whether `ip4-input` verified header checksums.
    pub checksum_verified: bool,
    /// Packets of a frame.
    pub frame_size: usize,
    /// Packets that came in.
    pub received: u64,
    /// Packets that went out.
    pub sent: u64,
    /// Packets dropped, punted or refused.
    pub lost: u64,
}

/// Runs a graph; returns its result, the windows, and the graph as it stands.
pub fn run(
    load: Load,
    windows: usize,
    length: Duration,
    trace: usize,
) -> Result<(GraphResult, Loaded, dataplane::graph::Graph), Error> {
    let mut graph = graphs::graph(load);
    if trace > 0 {
        graph.tracer.add("pg-input", trace);
    }
    let loaded = graphs::run(&mut graph, windows, length);
    if !loaded.balance.holds() {
        return Err(Error::Usage(format!("packets do not add up: {:?}", loaded.balance)));
    }
    let median = |values: Vec<f64>| stats::median(&values).unwrap_or(0.0);
    let over = |value: &dyn Fn(&graphs::Window) -> f64| loaded.windows.iter().map(value).collect::<Vec<_>>();
    let mut nodes = Vec::new();
    for (index, row) in loaded.windows.first().map(|w| &w.nodes[..]).unwrap_or_default().iter().enumerate() {
        let sum = |value: &dyn Fn(&dataplane::graph::NodeCounters) -> u64| {
            loaded.windows.iter().map(|w| value(&w.nodes[index].counters)).sum::<u64>()
        };
        if sum(&|c| c.calls + c.empty_polls) > 0 {
            nodes.push(NodeResult {
                name: row.name.clone(),
                calls: sum(&|c| c.calls),
                vectors: sum(&|c| c.vectors),
                clocks_per_packet: median(over(&|w| w.nodes[index].counters.ticks_per_packet())),
                empty_polls: sum(&|c| c.empty_polls),
            });
        }
    }
    let rates = over(&|w| w.mpps());
    let spread = stats::summary(&rates).map_or([0.0; 2], |s| [s.min, s.max]);
    let b = loaded.balance;
    let result = GraphResult {
        graph: load.kind.name().to_owned(),
        nodes,
        clocks_per_packet: median(over(&|w| w.ticks_per_packet())),
        mpps: median(rates),
        mpps_spread: spread,
        counter: machine::COUNTER.to_owned(),
        tick_ns: 1e9 / machine::counter_hz() as f64,
        checksum_verified: load.settings.verify_checksum,
        frame_size: load.settings.frame_size,
        received: b.received,
        sent: b.sent,
        lost: b.dropped + b.punted + b.refused,
    };
    Ok((result, loaded, graph))
}

/// As a person reads it.
pub fn print(result: &GraphResult, load: Load, windows: usize, graph: &dataplane::graph::Graph) -> String {
    let mut out = format!(
        "{}: 64-byte packets, {} flow{}, {} buffers {}, frames of {}, {} loop, strides {}/{}{}\n\n",
        result.graph,
        load.flows,
        if load.flows == 1 { "" } else { "s" },
        load.buffers,
        if load.reuse == dataplane::buffers::Reuse::Cycle { "cycled" } else { "reused hot" },
        load.settings.frame_size,
        load.settings.shape.name(),
        load.settings.strides.header,
        load.settings.strides.data,
        match load.kind {
            graphs::GraphKind::L2CrossConnect => String::new(),
            _ => format!(
                ", {} routes, header checksum {}",
                load.routes,
                if load.settings.verify_checksum { "verified" } else { "not verified" }
            ),
        }
    );
    out += &show::runtime(graph);
    out += &format!(
        "\n{windows} windows: median {:.2} Mpps ({:.2} to {:.2}), {:.1} clocks a packet; received {} = sent {} + lost {}\n",
        result.mpps,
        result.mpps_spread[0],
        result.mpps_spread[1],
        result.clocks_per_packet,
        result.received,
        result.sent,
        result.lost
    );
    if !graph.tracer.traces().is_empty() {
        out += "\n";
        out += &show::trace(graph, 50);
    }
    out
}
