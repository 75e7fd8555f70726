//! `dataplane`: a graph at full load.

use super::errors;
use super::story::Story;
use crate::blocks::{Bar, Blocks, Drawing, Picture, Table, fixed};
use crate::words::{clocks, packets};
use findings::loaded::LoadedGraph;

impl Story for LoadedGraph<'_> {
    fn tell(&self, told: &mut Blocks) {
        let LoadedGraph {
            facts,
            window_count: windows,
            kinds,
            ..
        } = self;
        clocks::noise(&self.steadiness, told);
        told.answer(packets::loaded(self));
        told.picture(picture(self));
        self.nodes.tell(told);
        errors::tell(&self.errors, told);
        told.note(format!(
            "{windows} windows, and before them some rounds to warm up; received {} = sent {} + lost {}.",
            self.received, self.sent, self.lost
        ));
        let by_node: Vec<_> = self.events_per_packet.iter().collect();
        let table = Table::with_rows(&by_node)
            .words("events per packet", |(node, _)| **node)
            .each(kinds, |table, kind| {
                table.numbers(*kind, |(_, of)| {
                    of.get(kind).copied().flatten().map(|value| fixed(value, 3))
                })
            });
        told.table(table);
        let at = |name: &str| {
            fixed(
                self.latency_us
                    .percentiles
                    .get(name)
                    .copied()
                    .unwrap_or(0.0),
                1,
            )
        };
        told.paragraph(format!(
            "A round, which a packet is in the graph at most: p50 {} us, p99 {}, p99.9 {}, p99.99 {} ({} rounds timed).",
            at("p50"),
            at("p99"),
            at("p999"),
            at("p9999"),
            self.latency_us.packets.unwrap_or(0.0)
        ));
        told.paragraph(packets::settings(facts));
        if let Some(trace) = &facts.trace {
            told.verbatim(trace.as_str());
        }
    }
}

/// Clocks or nanoseconds of a packet that comes in, by node.
fn picture(loaded: &LoadedGraph<'_>) -> Picture {
    let (factor, unit) = (loaded.ticks.factor(), clocks::unit(&loaded.ticks));
    let mut parts = Vec::new();
    let mut rest = factor * loaded.clocks_per_packet;
    for node in &loaded.nodes.nodes {
        let value = factor * node.clocks_of_path;
        rest -= value;
        parts.extend((value > 0.0).then_some((node.name, value)));
    }
    let between = match loaded.facts.rate {
        0 => "between nodes",
        _ => "waiting for packets",
    };
    parts.extend((rest > 0.0).then_some((between, rest)));
    let bar = Bar::new(loaded.graph.as_str(), parts);
    let note = "Of a packet that comes in, in the median window: a node's part counts the packets that met it.";
    Picture::new(
        "Clocks per packet, by node",
        "a packet",
        unit,
        Drawing::Bars(vec![bar]),
    )
    .noted(note)
}
