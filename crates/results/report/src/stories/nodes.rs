//! The nodes of a graph: what each did, in the words that users of VPP know.

use super::story::Story;
use crate::blocks::{Blocks, Table, fixed, name, scientific, whole};
use findings::nodes::Nodes;

impl Story for Nodes<'_> {
    /// Tells what nodes did in the last window.
    fn tell(&self, told: &mut Blocks) {
        let each = |sum: f64, count: f64| if count == 0.0 { 0.0 } else { sum / count };
        let [rates_in, out, drop, punt] = self.rates.map(|rate| scientific(rate, 4));
        told.paragraph(format!(
            "Time {:.1}, average vectors/node {:.2}, {:.2} loops/sec; vector rates in {rates_in}, out {out}, drop {drop}, punt {punt}.",
            self.seconds,
            self.vectors_per_call(),
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
