//! `dataplane`: a graph at full load.

use super::story::Story;
use super::{clocks, errors, spread};
use crate::blocks::{
    Bar, Blocks, Drawing, Figure, Picture, Table, Text, figure, fixed, name, text,
};
use findings::loaded::LoadedGraph;
use recording::facts;

impl Story for LoadedGraph<'_> {
    fn tell(&self, told: &mut Blocks) {
        let LoadedGraph {
            facts,
            window_count: windows,
            kinds,
            ..
        } = self;
        clocks::noise(&self.steadiness, told);
        told.answer(answer(self));
        told.picture(picture(self));
        self.nodes.tell(told);
        errors::tell(&self.errors, told);
        told.note(format!(
            "{windows} windows, and before them some rounds to warm up; received {} = sent {} + lost {}.",
            self.received, self.sent, self.lost
        ));
        let by_node: Vec<_> = self.events_per_packet.iter().collect();
        let table = Table::with_rows(&by_node)
            .words("events per packet", |(node, _)| name(**node))
            .each(kinds, |table, kind| {
                table.numbers(*kind, |(_, of)| {
                    of.get(kind).copied().flatten().map(|value| fixed(value, 3))
                })
            });
        told.table(table.done());
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
        told.paragraph(settings(facts));
        if let Some(trace) = &facts.trace {
            told.verbatim(trace.as_str());
        }
    }
}

/// The rate out, what became of the other packets, and the clocks.
fn answer(loaded: &LoadedGraph<'_>) -> Text {
    let (Some(rate), Some(clocks)) = (&loaded.windows, &loaded.clocks) else {
        return Text::default();
    };
    let share =
        |packets: u64| figure(100.0 * packets as f64 / loaded.received.max(1) as f64).after(" %");
    let rest = match loaded.lost {
        0 => ", all that come in".to_owned(),
        lost => format!(
            " of {} that come in: {} of the packets are dropped, {} punted",
            fixed(loaded.received_mpps, 2),
            share(lost - loaded.punted),
            share(loaded.punted)
        ),
    };
    let (factor, unit) = (loaded.ticks.factor(), clocks::unit(&loaded.ticks));
    let mut words = text![
        name(loaded.graph.as_str()),
        format!(" sends {} Mpps{rest}", spread::words(rate, 1.0, 2)),
        format!(
            ". A packet takes {} {unit}",
            spread::words(clocks, factor, 1)
        )
    ];
    let dearest = loaded.nodes.dearest().filter(|_| loaded.steadiness.repeats);
    if let Some(node) = dearest.as_ref().and_then(|of| of.alone()) {
        let of = format!("; {} of them in ", figure(factor * node.clocks_of_path));
        words.extend(text![of, name(node.name)]);
    }
    words.push(".");
    words
}

/// The settings of the run in a sentence.
fn settings(facts: &facts::GraphLoad) -> Text {
    let packets = facts.packets.clone().unwrap_or_else(|| match facts.flows {
        1 => "64-byte packets, 1 flow".to_owned(),
        flows => format!("64-byte packets, {flows} flows"),
    });
    let reuse = if facts.reuse == "hot" {
        "reused hot"
    } else {
        "cycled"
    };
    let mut words = format!(
        ": {packets}, {} buffers {reuse}, frames of {}, {} loop, strides {}",
        facts.buffers, facts.frame_size, facts.shape, facts.strides
    );
    if facts.graph != "l2-xconnect" && facts.routes > 0 {
        let checksum = if facts.checksum {
            "verified"
        } else {
            "not verified"
        };
        words.push_str(&format!(
            ", {} routes, header checksum {checksum}",
            facts.routes
        ));
    }
    if !facts.objects.is_empty() {
        words.push_str(&format!(", nodes of {}", facts.objects.join(", ")));
    }
    text![name(facts.graph.as_str()), words, "."]
}

/// Clocks or nanoseconds of a packet that comes in, by node.
fn picture(loaded: &LoadedGraph<'_>) -> Picture {
    let (factor, unit) = (loaded.ticks.factor(), clocks::unit(&loaded.ticks));
    let mut parts: Vec<(String, Figure)> = Vec::new();
    let mut rest = factor * loaded.clocks_per_packet;
    for node in &loaded.nodes.nodes {
        let value = factor * node.clocks_of_path;
        rest -= value;
        parts.extend((value > 0.0).then(|| (node.name.to_owned(), Figure::new(value))));
    }
    parts.extend((rest > 0.0).then(|| ("between nodes".to_owned(), Figure::new(rest))));
    let name = loaded.graph.clone();
    let note = "Of a packet that comes in, in the median window: a node's part counts the packets that met it.";
    Picture::new(
        "Clocks per packet, by node",
        "a packet",
        unit,
        Drawing::Bars(vec![Bar { name, parts }]),
    )
    .noted(note)
}
