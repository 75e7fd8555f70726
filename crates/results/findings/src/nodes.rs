//! The nodes of a graph: what each did, in the words that users of VPP know.

use crate::rows::{measures_of, subjects, sum};
use crate::ticks::Ticks;
use evidence::Leaders;
use recording::{Recording, metrics};
use schemars::JsonSchema;
use serde::Serialize;

/// A node in the median window.
#[derive(Serialize, JsonSchema)]
pub struct Node<'r> {
    /// The node's name.
    pub name: &'r str,
    /// The number of times that it was called with packets.
    pub calls: u64,
    /// Packets that it took.
    pub vectors: u64,
    /// Ticks for each packet that it took, at least 0.
    pub clocks_per_packet: f64,
    /// The same for each packet that came in: its part of the whole path, which leaves out packets
    /// that never met it.
    pub clocks_of_path: f64,
    /// The number of times that it found no packets.
    pub empty_polls: u64,
    /// The node's state, as VPP says it.
    pub state: &'r str,
    /// Ticks of all calls that found no packets.
    pub empty_clocks: f64,
}

/// The nodes of a case with the rates of the whole graph, all in the window whose clocks per packet
/// are the median.
#[derive(Serialize, JsonSchema)]
pub struct Nodes<'r> {
    /// The nodes, in the order of the graph.
    pub nodes: Vec<Node<'r>>,
    /// Seconds of the window.
    pub seconds: f64,
    /// Rounds of the graph per second.
    pub loops: f64,
    /// Packets in, out, dropped and punted per second.
    pub rates: [f64; 4],
    /// The counter whose ticks are clocks.
    #[serde(skip)]
    pub ticks: Ticks,
}

/// Reads the nodes of a case in a window. Packets were counted over the whole run by what became of
/// them: those of the window part in the same way.
pub fn read<'r>(recording: &'r Recording, case: &'static str, window: u32) -> Nodes<'r> {
    let at = |metric, node: &str| {
        measures_of(recording, case, metric)
            .find(|row| (row.iteration, row.subject) == (window, node))
            .map_or(0.0, |row| row.value)
    };
    let received = 1e6 * at(metrics::RATE, "");
    let seconds = at(metrics::WINDOW, "");
    let node = |name: &'r str| {
        let (clocks_per_packet, vectors) = (
            at(metrics::CLOCKS_PER_PACKET, name),
            at(metrics::VECTORS, name),
        );
        Node {
            name,
            calls: at(metrics::CALLS, name) as u64,
            vectors: vectors as u64,
            clocks_per_packet,
            clocks_of_path: clocks_per_packet * vectors / (received * seconds).max(1.0),
            empty_polls: at(metrics::EMPTY_POLLS, name) as u64,
            state: recording.header.state_of(name),
            empty_clocks: at(metrics::EMPTY_CLOCKS, name),
        }
    };
    let all = sum(recording, case, metrics::RECEIVED, "").max(1.0);
    let rate = |metric| received * sum(recording, case, metric, "") / all;
    Nodes {
        nodes: subjects(recording, case, metrics::CALLS)
            .into_iter()
            .map(node)
            .collect(),
        seconds,
        loops: at(metrics::LOOPS, "") / seconds.max(1e-9),
        rates: [
            received,
            rate(metrics::SENT),
            rate(metrics::DROPPED) + rate(metrics::REFUSED),
            rate(metrics::PUNTED),
        ],
        ticks: Ticks::new(recording),
    }
}

impl<'r> Nodes<'r> {
    /// Packets per call of a node, over all nodes; 0 without calls.
    pub fn vectors_per_call(&self) -> f64 {
        let total = |of: fn(&Node<'_>) -> u64| self.nodes.iter().map(of).sum::<u64>() as f64;
        total(|node| node.vectors) / total(|node| node.calls).max(1.0)
    }

    /// The nodes that take most of the whole path, as far as their clocks tell them apart.
    pub fn dearest(&self) -> Option<Leaders<&Node<'r>>> {
        Leaders::most(&self.nodes, |node| Some([node.clocks_of_path; 2]))
    }
}
