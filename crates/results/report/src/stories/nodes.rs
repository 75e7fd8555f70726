//! The nodes of a graph: what each did, in the words that users of VPP know.

use super::story::Story;
use crate::blocks::{Blocks, Table, fixed, scientific};
use findings::nodes::Nodes;

impl Story for Nodes<'_> {
    /// Tells what nodes did in the median window.
    fn tell(&self, told: &mut Blocks) {
        let each = |sum: f64, count: u64| if count == 0 { 0.0 } else { sum / count as f64 };
        let [rates_in, out, drop, punt] = self.rates.map(|rate| scientific(rate, 4));
        told.paragraph(format!(
            "Time {:.1}, average vectors/node {:.2}, {:.2} loops/sec; vector rates in {rates_in}, out {out}, drop {drop}, punt {punt}.",
            self.seconds,
            self.vectors_per_call(),
            self.loops
        ));
        let table = Table::with_rows(&self.nodes)
            .words("Name", |node| node.name)
            .words("State", |node| node.state)
            .numbers("Calls", |node| node.calls)
            .numbers("Vectors", |node| node.vectors)
            .numbers("Clocks", |node| scientific(node.clocks_per_packet, 2))
            .numbers("Vectors/Call", |node| {
                fixed(each(node.vectors as f64, node.calls), 2)
            })
            .numbers("Empty polls", |node| node.empty_polls)
            .numbers("Empty clocks", |node| {
                scientific(each(node.empty_clocks, node.empty_polls), 2)
            });
        told.table(table.noted(format!(
            "Clocks are ticks of the {} for each packet that met the node, one tick is {:.3} ns; nodes as in the median window.",
            self.ticks.counter, self.ticks.tick_ns
        )));
    }
}
