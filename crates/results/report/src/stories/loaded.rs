//! `dataplane`: a graph at full load.

use super::errors::{self, Counted};
use super::nodes::{self, Nodes};
use super::spread::Spread;
use super::story::Story;
use crate::blocks::{Bar, Blocks, Drawing, Figure, Picture, Table, Text, figure, fixed, name, text};
use findings::Run;
use findings::rows::{counter, measures_of, median, role, subject, subjects, sum, tick_ns, values};
use published::{DataplaneReference, NodeFigure};
use recording::facts::{self, FactsError};
use recording::{Recording, metrics, stats};
use serde::Serialize;
use std::collections::BTreeMap;

const CASE: &str = "mrr";
/// The case of events of nodes, counted in a window of their own.
const EVENTS: &str = "events";
/// The case of each worker.
const THREADS: &str = "threads";
/// The case of the times of a round.
const LATENCY: &str = "latency";

/// A graph at full load.
#[derive(Serialize)]
pub(super) struct Loaded<'r> {
    threads: Vec<Thread<'r>>,
    drivers: [facts::Driver; 1],
    latency_us: Rounds<'r>,
    published_nodes: Vec<Beside<'r>>,
    events_per_packet: BTreeMap<&'r str, BTreeMap<&'r str, Option<f64>>>,
    graph: String,
    nodes: Nodes<'r>,
    errors: Vec<Counted<'r>>,
    clocks_per_packet: f64,
    mpps: f64,
    mpps_spread: [f64; 2],
    windows: Option<Spread>,
    counter: String,
    tick_ns: f64,
    checksum_verified: bool,
    frame_size: u64,
    received: u64,
    sent: u64,
    lost: u64,
    recording: &'r str,
    #[serde(skip)]
    told: Whole<'r>,
}

/// The values that the blocks need besides.
struct Whole<'r> {
    facts: facts::Loaded,
    clocks: Option<Spread>,
    windows: usize,
    kinds: Vec<&'r str>,
    published: Option<&'r DataplaneReference<NodeFigure>>,
}

#[derive(Serialize)]
struct Thread<'r> {
    name: &'r str,
    mpps: f64,
    clocks_per_packet: f64,
}

/// A published node beside ours. Only the cross connect was published.
#[derive(Serialize)]
struct Beside<'r> {
    node: &'r str,
    published_ns: f64,
    our_node: &'r str,
    ns: f64,
}

/// Percentiles of the graph's rounds in microseconds, and how many were timed.
#[derive(Serialize)]
struct Rounds<'r> {
    #[serde(flatten)]
    percentiles: BTreeMap<&'r str, f64>,
    packets: Option<f64>,
}

/// Reads a loaded graph.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Loaded<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::Loaded = recording.header.facts()?;
    let whole = |metric| sum(recording, CASE, metric, "") as u64;
    let rates = values(recording, CASE, metrics::RATE, "");
    let clocks = values(recording, CASE, metrics::CLOCKS_PER_PACKET, "");
    let kinds = kinds(recording);
    let threads = subjects(recording, THREADS, metrics::RATE).into_iter().map(|worker| Thread {
        name: worker,
        mpps: median(recording, THREADS, metrics::RATE, worker),
        clocks_per_packet: median(recording, THREADS, metrics::CLOCKS_PER_PACKET, worker),
    });
    let by_node = subjects(recording, EVENTS, metrics::EVENTS).into_iter().map(|node| {
        let of_node = kinds.iter().map(|kind| (*kind, events(recording, node, kind)));
        (node, of_node.collect())
    });
    let published = run.published.node_clocks.as_ref().filter(|_| facts.graph == "l2-xconnect");
    Ok(Loaded {
        threads: threads.collect(),
        drivers: [facts::Driver { name: "memory".to_owned(), mode: facts.driver.clone() }],
        latency_us: rounds(recording),
        published_nodes: published.map_or_else(Vec::new, |published| beside(recording, published)),
        events_per_packet: by_node.collect(),
        graph: facts.graph.clone(),
        nodes: nodes::read(recording, CASE),
        errors: errors::read(recording),
        clocks_per_packet: median(recording, CASE, metrics::CLOCKS_PER_PACKET, ""),
        mpps: stats::median(&rates).unwrap_or(0.0),
        mpps_spread: stats::summary(&rates).map_or([0.0; 2], |summary| [summary.min, summary.max]),
        windows: Spread::new(&rates),
        counter: counter(recording).to_owned(),
        tick_ns: tick_ns(recording),
        checksum_verified: facts.checksum,
        frame_size: facts.frame_size,
        received: whole(metrics::RECEIVED),
        sent: whole(metrics::SENT),
        lost: whole(metrics::DROPPED) + whole(metrics::PUNTED) + whole(metrics::REFUSED),
        recording: run.folder,
        told: Whole { facts, clocks: Spread::new(&clocks), windows: rates.len(), kinds, published },
    })
}

fn rounds(recording: &Recording) -> Rounds<'_> {
    let names = subjects(recording, LATENCY, metrics::PACKET_LATENCY).into_iter();
    Rounds {
        percentiles: names.map(|name| (name, median(recording, LATENCY, metrics::PACKET_LATENCY, name))).collect(),
        packets: values(recording, LATENCY, metrics::PACKETS, "").first().copied(),
    }
}

/// Our node that does the work of a published one: names that both have, and the ends that are
/// named after a device.
fn counterpart(published: &str) -> Option<&str> {
    match published.rsplit_once('-') {
        _ if matches!(published, "ethernet-input" | "l2-input" | "l2-output") => Some(published),
        Some((device, "input")) if device.contains("pp2") => Some("pg-input"),
        Some((_, "output")) => Some("pg1-output"),
        Some((_, "tx")) => Some("pg1-tx"),
        _ => None,
    }
}

fn beside<'r>(recording: &'r Recording, published: &'r DataplaneReference<NodeFigure>) -> Vec<Beside<'r>> {
    let rows = published.figures.iter().filter_map(|figure| {
        let ours = counterpart(&figure.node)?;
        let clocks = median(recording, CASE, metrics::CLOCKS_PER_PACKET, ours);
        let (node, ns) = (figure.node.as_str(), clocks * tick_ns(recording));
        (clocks > 0.0).then_some(Beside { node, published_ns: figure.slide_ns, our_node: ours, ns })
    });
    rows.collect()
}

/// The kinds of events that were counted, in order.
fn kinds(recording: &Recording) -> Vec<&str> {
    let mut kinds = Vec::new();
    for measure in measures_of(recording, EVENTS, metrics::EVENTS) {
        let kind = role(recording, measure);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Events of a kind per packet of a node.
fn events(recording: &Recording, node: &str, kind: &str) -> Option<f64> {
    let mut there = measures_of(recording, EVENTS, metrics::EVENTS);
    let found = there.find(|measure| subject(recording, measure) == node && role(recording, measure) == kind);
    found.map(|measure| measure.value)
}

impl Story for Loaded<'_> {
    fn tell(&self, told: &mut Blocks) {
        let Whole { facts, clocks, windows, kinds, published } = &self.told;
        let dearest = self.nodes.nodes.iter().max_by(|a, b| a.clocks_per_packet.total_cmp(&b.clocks_per_packet));
        if let (Some(rate), Some(clocks), Some(dearest)) = (&self.windows, clocks, dearest) {
            told.answer(text![
                name(facts.graph.as_str()),
                format!(" takes {} clocks per packet and forwards {} Mpps; ", clocks.words(1), rate.words(2)),
                name(dearest.name),
                format!(" is the dearest node, with {} clocks.", fixed(dearest.clocks_per_packet, 1))
            ]);
        }
        told.picture(self.picture());
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
fn settings(facts: &facts::Loaded) -> Text {
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

impl Loaded<'_> {
    /// Nanoseconds per packet by node, beside the published ones where there are any, else clocks.
    fn picture(&self) -> Picture {
        let part = |name: &str, value: f64| (name.to_owned(), Figure { value, published: None });
        if let Some(published) = self.told.published.filter(|_| !self.published_nodes.is_empty()) {
            let ours = self.published_nodes.iter().map(|row| part(row.our_node, row.ns)).collect();
            let theirs = self.published_nodes.iter().map(|row| part(row.our_node, row.published_ns)).collect();
            let bars = vec![
                Bar { name: "here".to_owned(), parts: ours },
                Bar { name: published.platform.clone(), parts: theirs },
            ];
            return Picture::new("Time per packet, by node", "nodes that both have", "ns", Drawing::Bars(bars));
        }
        let parts = self.nodes.nodes.iter().filter(|node| node.clocks_per_packet > 0.0);
        let parts = parts.map(|node| part(node.name, node.clocks_per_packet)).collect();
        let bars = vec![Bar { name: self.graph.clone(), parts }];
        let note = format!("{} clocks in all.", figure(self.clocks_per_packet));
        Picture::new("Clocks per packet, by node", "", "ticks", Drawing::Bars(bars)).noted(note)
    }
}
