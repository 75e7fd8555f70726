//! `dataplane`: a graph at full load.

use crate::Run;
use crate::errors::{self, NodeCount};
use crate::nodes::{self, Nodes};
use crate::rows::{counter, measures_of, median, role, subject, subjects, sum, tick_ns, values};
use crate::spread::Spread;
use published::{DataplaneReference, NodeFigure};
use recording::facts::{self, FactsError};
use recording::{Recording, metrics, stats};
use schemars::JsonSchema;
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
#[derive(Serialize, JsonSchema)]
pub struct LoadedGraph<'r> {
    /// The rate of each worker.
    pub threads: Vec<Thread<'r>>,
    /// The driver of the graph's ends.
    pub drivers: [facts::Driver; 1],
    /// Times of the graph's rounds.
    pub latency_us: Rounds<'r>,
    /// Published nodes beside ours; only those of the cross connect were published.
    pub published_nodes: Vec<PublishedNode<'r>>,
    /// Events per packet by node and kind; `None` for a kind that was not counted.
    pub events_per_packet: BTreeMap<&'r str, BTreeMap<&'r str, Option<f64>>>,
    /// The graph's name.
    pub graph: String,
    /// The nodes of the graph.
    pub nodes: Nodes<'r>,
    /// The reasons for which packets ended, and other counts of nodes.
    pub errors: Vec<NodeCount<'r>>,
    /// Median of the ticks per packet over the windows.
    pub clocks_per_packet: f64,
    /// Median of the rate in millions of packets per second.
    pub mpps: f64,
    /// The least and the greatest rate of a window.
    pub mpps_spread: [f64; 2],
    /// The rates of the windows.
    pub windows: Option<Spread>,
    /// The name of the counter whose ticks are clocks.
    pub counter: String,
    /// Length of a tick of the counter in nanoseconds; 0 where its frequency is not known.
    pub tick_ns: f64,
    /// True if header checksums were verified.
    pub checksum_verified: bool,
    /// Packets of a frame at most.
    pub frame_size: u64,
    /// Packets that were received over all windows.
    pub received: u64,
    /// Packets that were sent over all windows.
    pub sent: u64,
    /// Packets that were dropped, punted or refused over all windows.
    pub lost: u64,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The settings of the run.
    #[serde(skip)]
    pub facts: facts::GraphLoad,
    /// The ticks per packet of the windows.
    #[serde(skip)]
    pub clocks: Option<Spread>,
    /// The number of windows.
    #[serde(skip)]
    pub window_count: usize,
    /// The kinds of events that were counted, in order.
    #[serde(skip)]
    pub kinds: Vec<&'r str>,
    /// The published clocks of nodes; `None` for a graph of which none were published.
    #[serde(skip)]
    pub published: Option<&'r DataplaneReference<NodeFigure>>,
}

/// A worker of the graph.
#[derive(Serialize, JsonSchema)]
pub struct Thread<'r> {
    /// The worker's name.
    pub name: &'r str,
    /// Median of its rate in millions of packets per second.
    pub mpps: f64,
    /// Median of its ticks per packet.
    pub clocks_per_packet: f64,
}

/// A published node beside ours. Only the cross connect was published.
#[derive(Serialize, JsonSchema)]
pub struct PublishedNode<'r> {
    /// The published node's name.
    pub node: &'r str,
    /// Published nanoseconds per packet.
    pub published_ns: f64,
    /// The name of our node that does the same work.
    pub our_node: &'r str,
    /// Nanoseconds per packet of our node.
    pub ns: f64,
}

/// Percentiles of the graph's rounds in microseconds, and how many were timed.
#[derive(Serialize, JsonSchema)]
pub struct Rounds<'r> {
    /// Microseconds by the name of the percentile, such as `p99`.
    #[serde(flatten)]
    pub percentiles: BTreeMap<&'r str, f64>,
    /// The number of rounds that were timed; `None` where none were.
    pub packets: Option<f64>,
}

/// Reads a loaded graph.
pub fn read<'r>(run: &Run<'r>) -> Result<LoadedGraph<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::GraphLoad = recording.header.facts()?;
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
    Ok(LoadedGraph {
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
        clocks: Spread::new(&clocks),
        window_count: rates.len(),
        facts,
        kinds,
        published,
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

fn beside<'r>(recording: &'r Recording, published: &'r DataplaneReference<NodeFigure>) -> Vec<PublishedNode<'r>> {
    let rows = published.figures.iter().filter_map(|figure| {
        let ours = counterpart(&figure.node)?;
        let clocks = median(recording, CASE, metrics::CLOCKS_PER_PACKET, ours);
        let (node, ns) = (figure.node.as_str(), clocks * tick_ns(recording));
        (clocks > 0.0).then_some(PublishedNode { node, published_ns: figure.slide_ns, our_node: ours, ns })
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
