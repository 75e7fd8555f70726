//! `dataplane`: a graph at full load.

use super::story::Story;
use super::{errors, spread};
use crate::blocks::{Bar, Blocks, Drawing, Figure, Picture, Table, Text, figure, fixed, name, text};
use findings::loaded::LoadedGraph;
use recording::facts;

impl Story for LoadedGraph<'_> {
    fn tell(&self, told: &mut Blocks) {
        let LoadedGraph { facts, clocks, window_count: windows, kinds, published, .. } = self;
        let dearest = self.nodes.nodes.iter().max_by(|a, b| a.clocks_per_packet.total_cmp(&b.clocks_per_packet));
        if let (Some(rate), Some(clocks), Some(dearest)) = (&self.windows, clocks, dearest) {
            told.answer(text![
                name(facts.graph.as_str()),
                format!(
                    " takes {} clocks per packet and forwards {} Mpps; ",
                    spread::words(clocks, 1),
                    spread::words(rate, 2)
                ),
                name(dearest.name),
                format!(" is the dearest node, with {} clocks.", fixed(dearest.clocks_per_packet, 1))
            ]);
        }
        told.picture(picture(self));
        self.nodes.tell(told);
        errors::tell(&self.errors, told);
        told.note(format!("{windows} windows; received {} = sent {} + lost {}.", self.received, self.sent, self.lost));
        told.rest();
        let by_node: Vec<_> = self.events_per_packet.iter().collect();
        let table = Table::with_rows(&by_node).words("events per packet", |(node, _)| name(**node)).each(
            kinds,
            |table, kind| {
                table.numbers(*kind, "", |(_, of)| of.get(kind).copied().flatten().map(|value| fixed(value, 3)))
            },
        );
        told.table(table.done());
        if let Some(published) = published {
            let table = Table::with_rows(&self.published_nodes)
                .words("published node", |row| name(row.node))
                .numbers("ns per packet", "", |row| crate::blocks::whole(row.published_ns))
                .words("our node, here", |row| name(row.our_node))
                .numbers("ns per packet", "", |row| fixed(row.ns, 2));
            told.table(table.done().noted(format!(
                "Published: {}, platform {}. Another core and another device: what compares is which node is dear, not how dear. {}",
                published.source, published.platform, published.note
            )));
        }
        let at = |name: &str| fixed(self.latency_us.percentiles.get(name).copied().unwrap_or(0.0), 1);
        told.paragraph(format!(
            "A round, which a packet is in the graph at most: p50 {} us, p99 {}, p99.9 {}, p99.99 {} ({} rounds timed).",
            at("p50"),
            at("p99"),
            at("p999"),
            at("p9999"),
            self.latency_us.packets.unwrap_or(0.0)
        ));
        told.paragraph(settings(facts));
        if let Some(trace) = &facts.trace {
            told.verbatim(trace.as_str());
        }
    }
}

/// The settings of the run in a sentence.
fn settings(facts: &facts::GraphLoad) -> Text {
    let packets = facts.packets.clone().unwrap_or_else(|| match facts.flows {
        1 => "64-byte packets, 1 flow".to_owned(),
        flows => format!("64-byte packets, {flows} flows"),
    });
    let reuse = if facts.reuse == "hot" { "reused hot" } else { "cycled" };
    let mut words = format!(
        ": {packets}, {} buffers {reuse}, frames of {}, {} loop, strides {}",
        facts.buffers, facts.frame_size, facts.shape, facts.strides
    );
    if facts.graph != "l2-xconnect" && facts.routes > 0 {
        let checksum = if facts.checksum { "verified" } else { "not verified" };
        words.push_str(&format!(", {} routes, header checksum {checksum}", facts.routes));
    }
    if !facts.objects.is_empty() {
        words.push_str(&format!(", nodes of {}", facts.objects.join(", ")));
    }
    text![name(facts.graph.as_str()), words, "."]
}

/// Nanoseconds per packet by node, beside the published ones where there are any, else clocks.
fn picture(loaded: &LoadedGraph<'_>) -> Picture {
    let part = |name: &str, value: f64| (name.to_owned(), Figure { value, published: None });
    if let Some(published) = loaded.published.filter(|_| !loaded.published_nodes.is_empty()) {
        let ours = loaded.published_nodes.iter().map(|row| part(row.our_node, row.ns)).collect();
        let theirs = loaded.published_nodes.iter().map(|row| part(row.our_node, row.published_ns)).collect();
        let bars =
            vec![Bar { name: "here".to_owned(), parts: ours }, Bar { name: published.platform.clone(), parts: theirs }];
        return Picture::new("Time per packet, by node", "nodes that both have", "ns", Drawing::Bars(bars));
    }
    let parts = loaded.nodes.nodes.iter().filter(|node| node.clocks_per_packet > 0.0);
    let parts = parts.map(|node| part(node.name, node.clocks_per_packet)).collect();
    let bars = vec![Bar { name: loaded.graph.clone(), parts }];
    let note = format!("{} clocks in all.", figure(loaded.clocks_per_packet));
    Picture::new("Clocks per packet, by node", "", "ticks", Drawing::Bars(bars)).noted(note)
}
