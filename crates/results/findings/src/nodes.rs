//! The nodes of a graph: what each did, in the words that users of VPP know.

use crate::rows::{counter, measures_of, median, subject, subjects, sum, tick_ns};
use recording::{Recording, metrics};
use schemars::JsonSchema;
use serde::Serialize;

/// A node over all windows, and in the last of them.
#[derive(Serialize, JsonSchema)]
pub struct Node<'r> {
    /// The node's name.
    pub name: &'r str,
    /// The number of times that it was called with packets.
    pub calls: u64,
    /// Packets that it took.
    pub vectors: u64,
    /// Ticks per packet, above 0.
    pub clocks_per_packet: f64,
    /// The number of times that it found no packets.
    pub empty_polls: u64,
    /// The node's state, as VPP says it.
    #[serde(skip)]
    pub state: &'r str,
    /// Calls, vectors, clocks per packet, empty polls and empty clocks of the last window.
    #[serde(skip)]
    pub last: [f64; 5],
}

/// The nodes of a case with the rates of the whole graph; the JSON has the nodes alone.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Nodes<'r> {
    /// The nodes, in the order of the graph.
    pub nodes: Vec<Node<'r>>,
    /// Seconds of the last window.
    #[serde(skip)]
    pub seconds: f64,
    /// Rounds of the graph per second in the last window.
    #[serde(skip)]
    pub loops: f64,
    /// Packets in, out, dropped and punted per second, over all windows.
    #[serde(skip)]
    pub rates: [f64; 4],
    /// The name of the counter whose ticks are clocks.
    #[serde(skip)]
    pub counter: String,
    /// Length of a tick of the counter in nanoseconds; 0 where its frequency is not known.
    #[serde(skip)]
    pub tick_ns: f64,
}

/// Reads the nodes of a case.
pub fn read<'r>(recording: &'r Recording, case: &'static str) -> Nodes<'r> {
    let last = measures_of(recording, case, metrics::CALLS).map(|measure| measure.iteration).max().unwrap_or(0);
    let at = |metric, node: &str| {
        let mut there = measures_of(recording, case, metric).filter(|measure| measure.iteration == last);
        there.find(|measure| subject(recording, measure) == node).map_or(0.0, |measure| measure.value)
    };
    let node = |name: &'r str| {
        let count = |metric| sum(recording, case, metric, name) as u64;
        let shown =
            [metrics::CALLS, metrics::VECTORS, metrics::CLOCKS_PER_PACKET, metrics::EMPTY_POLLS, metrics::EMPTY_CLOCKS];
        Node {
            name,
            calls: count(metrics::CALLS),
            vectors: count(metrics::VECTORS),
            clocks_per_packet: median(recording, case, metrics::CLOCKS_PER_PACKET, name),
            empty_polls: count(metrics::EMPTY_POLLS),
            state: recording.header.state_of(name),
            last: shown.map(|metric| at(metric, name)),
        }
    };
    let seconds: f64 = sum(recording, case, metrics::WINDOW, "").max(1e-9);
    let rate = |metric| sum(recording, case, metric, "") / seconds;
    Nodes {
        nodes: subjects(recording, case, metrics::CALLS).into_iter().map(node).collect(),
        seconds: at(metrics::WINDOW, ""),
        loops: at(metrics::LOOPS, "") / at(metrics::WINDOW, "").max(1e-9),
        rates: [
            rate(metrics::RECEIVED),
            rate(metrics::SENT),
            rate(metrics::DROPPED) + rate(metrics::REFUSED),
            rate(metrics::PUNTED),
        ],
        counter: counter(recording).to_owned(),
        tick_ns: tick_ns(recording),
    }
}

impl Nodes<'_> {
    /// Packets per call of a node in the last window, over all nodes; 0 without calls.
    pub fn vectors_per_call(&self) -> f64 {
        let total = |at: usize| self.nodes.iter().map(|node| node.last[at]).sum::<f64>();
        let calls = total(0);
        if calls == 0.0 { 0.0 } else { total(1) / calls }
    }
}
