//! The nodes of a graph: what each did, in the words that users of VPP know.

use crate::blocks::{Blocks, Table, fixed, name, scientific, whole};
use findings::rows::{counter, measures_of, median, role, subject, subjects, sum, tick_ns};
use recording::{Recording, metrics};
use serde::Serialize;

/// A node over all windows, and in the last of them.
#[derive(Serialize)]
pub(super) struct Node<'r> {
    pub(super) name: &'r str,
    calls: u64,
    vectors: u64,
    pub(super) clocks_per_packet: f64,
    empty_polls: u64,
    #[serde(skip)]
    state: &'r str,
    /// Calls, vectors, clocks per packet, empty polls and empty clocks of the last window.
    #[serde(skip)]
    last: [f64; 5],
}

/// The nodes of a case with the rates of the whole graph; the JSON has the nodes alone.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Nodes<'r> {
    pub(super) nodes: Vec<Node<'r>>,
    /// Seconds of the last window.
    #[serde(skip)]
    seconds: f64,
    #[serde(skip)]
    loops: f64,
    /// Packets in, out, dropped and punted per second, over all windows.
    #[serde(skip)]
    rates: [f64; 4],
    #[serde(skip)]
    counter: String,
    #[serde(skip)]
    tick_ns: f64,
}

/// Reads the nodes of a case.
pub(super) fn read<'r>(recording: &'r Recording, case: &'static str) -> Nodes<'r> {
    let last = measures_of(recording, case, metrics::CALLS).map(|measure| measure.iteration).max().unwrap_or(0);
    let at = |metric, node: &str| {
        let mut there = measures_of(recording, case, metric).filter(|measure| measure.iteration == last);
        there.find(|measure| subject(recording, measure) == node).map_or(0.0, |measure| measure.value)
    };
    let node = |name: &'r str| {
        let count = |metric| sum(recording, case, metric, name) as u64;
        let state = measures_of(recording, case, metrics::CALLS).find(|measure| subject(recording, measure) == name);
        let shown =
            [metrics::CALLS, metrics::VECTORS, metrics::CLOCKS_PER_PACKET, metrics::EMPTY_POLLS, metrics::EMPTY_CLOCKS];
        Node {
            name,
            calls: count(metrics::CALLS),
            vectors: count(metrics::VECTORS),
            clocks_per_packet: median(recording, case, metrics::CLOCKS_PER_PACKET, name),
            empty_polls: count(metrics::EMPTY_POLLS),
            state: state.map_or("", |measure| role(recording, measure)),
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
    /// Tells what nodes did in the last window.
    pub(super) fn tell(&self, told: &mut Blocks) {
        let each = |sum: f64, count: f64| if count == 0.0 { 0.0 } else { sum / count };
        let total = |at: usize| self.nodes.iter().map(|node| node.last[at]).sum::<f64>();
        let [rates_in, out, drop, punt] = self.rates.map(|rate| scientific(rate, 4));
        told.paragraph(format!(
            "Time {:.1}, average vectors/node {:.2}, {:.2} loops/sec; vector rates in {rates_in}, out {out}, drop {drop}, punt {punt}.",
            self.seconds,
            each(total(1), total(0)),
            self.loops
        ));
        let table = Table::with_rows(&self.nodes)
            .words("Name", |node| name(node.name))
            .words("State", |node| node.state)
            .numbers("Calls", "", |node| whole(node.last[0]))
            .numbers("Vectors", "", |node| whole(node.last[1]))
            .numbers("Clocks", "", |node| scientific(node.last[2], 2))
            .numbers("Vectors/Call", "", |node| fixed(each(node.last[1], node.last[0]), 2))
            .numbers("Empty polls", "", |node| whole(node.last[3]))
            .numbers("Empty clocks", "", |node| scientific(each(node.last[4], node.last[3]), 2));
        told.table(table.done().noted(format!(
            "Clocks are ticks of the {} per packet, one tick is {:.3} ns; nodes as in the last of the windows.",
            self.counter, self.tick_ns
        )));
    }
}
