//! `dataplane`: a graph at full load.

use crate::Findings;
use crate::errors::{self, NodeCount};
use crate::nodes::{self, Nodes};
use crate::rows::{measures_of, median, subjects, sum, values};
use crate::spread::{Spread, Steadiness, apart};
use crate::ticks::Ticks;
use itertools::Itertools;
use recording::facts::{self, FactsError};
use recording::{Recording, distinct, metrics, total_order};
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
    /// Events per packet by node and kind; `None` for a kind that was not counted.
    pub events_per_packet: BTreeMap<&'r str, BTreeMap<&'r str, Option<f64>>>,
    /// The graph's name.
    pub graph: String,
    /// The nodes of the graph.
    #[serde(flatten)]
    pub nodes: Nodes<'r>,
    /// The reasons for which packets ended, and other counts of nodes.
    pub errors: Vec<NodeCount<'r>>,
    /// Ticks per packet that came in, in the median window: that with the median of these.
    pub clocks_per_packet: f64,
    /// The rate out in millions of packets per second, in the median window.
    pub mpps: f64,
    /// The rate in, likewise.
    pub received_mpps: f64,
    /// The rates out of the windows.
    pub windows: Option<Spread>,
    /// Whether the windows agree.
    pub steadiness: Steadiness,
    /// The counter whose ticks are clocks.
    #[serde(flatten)]
    pub ticks: Ticks,
    /// True if header checksums were verified.
    pub checksum_verified: bool,
    /// Packets of a frame at most.
    pub frame_size: u64,
    /// Packets that were received over the whole run.
    pub received: u64,
    /// Packets that were sent over the whole run.
    pub sent: u64,
    /// Packets that were dropped, punted or refused over the whole run.
    pub lost: u64,
    /// Packets among them that were handed to the host.
    pub punted: u64,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The settings of the run.
    pub facts: facts::GraphLoad,
    /// The ticks per packet of the windows; the median is that of the median window.
    pub clocks: Option<Spread>,
    /// The number of windows.
    pub window_count: usize,
    /// The kinds of events that were counted, in order.
    pub kinds: Vec<&'r str>,
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
pub fn read<'r>(findings: &Findings<'r>) -> Result<LoadedGraph<'r>, FactsError> {
    let recording = findings.recording;
    let facts: facts::GraphLoad = recording.header.facts()?;
    let whole = |metric| sum(recording, CASE, metric, "") as u64;
    let sent = sum(recording, CASE, metrics::SENT, "")
        / sum(recording, CASE, metrics::RECEIVED, "").max(1.0);
    let received = values(recording, CASE, metrics::RATE, "");
    let rates = received.iter().map(|rate| rate * sent).collect_vec();
    let clocks = values(recording, CASE, metrics::CLOCKS_PER_PACKET, "");
    let window = median_window(&clocks);
    let of_window = |values: &[f64]| values.get(window).copied().unwrap_or(0.0);
    let told = |values: &[f64]| {
        Some(Spread {
            median: of_window(values),
            ..Spread::new(values)?
        })
    };
    let kinds = kinds(recording);
    let threads = subjects(recording, THREADS, metrics::RATE)
        .into_iter()
        .map(|worker| Thread {
            name: worker,
            mpps: median(recording, THREADS, metrics::RATE, worker),
            clocks_per_packet: median(recording, THREADS, metrics::CLOCKS_PER_PACKET, worker),
        });
    let by_node = subjects(recording, EVENTS, metrics::EVENTS)
        .into_iter()
        .map(|node| {
            let of_node = kinds
                .iter()
                .map(|kind| (*kind, events(recording, node, kind)));
            (node, of_node.collect())
        });
    let nodes = nodes::read(recording, CASE, window as u32);
    Ok(LoadedGraph {
        threads: threads.collect(),
        drivers: [facts::Driver {
            name: "memory".to_owned(),
            mode: facts.driver.clone(),
        }],
        latency_us: rounds(recording),
        events_per_packet: by_node.collect(),
        graph: facts.graph.clone(),
        errors: errors::read(recording),
        clocks_per_packet: of_window(&clocks),
        mpps: of_window(&rates),
        received_mpps: of_window(&received),
        windows: told(&rates),
        steadiness: Steadiness::new([apart(&clocks), apart(&received)], [apart(&clocks)]),
        ticks: nodes.ticks.clone(),
        nodes,
        checksum_verified: facts.checksum,
        frame_size: facts.frame_size,
        received: whole(metrics::RECEIVED),
        sent: whole(metrics::SENT),
        lost: whole(metrics::DROPPED) + whole(metrics::PUNTED) + whole(metrics::REFUSED),
        punted: whole(metrics::PUNTED),
        recording: findings.folder,
        clocks: told(&clocks),
        window_count: rates.len(),
        facts,
        kinds,
    })
}

/// The window with the median of some values, the lower of two in the middle.
fn median_window(values: &[f64]) -> usize {
    let mut order = (0..values.len()).collect_vec();
    order.sort_by_key(|of| total_order(values[*of]));
    order
        .get(order.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0)
}

fn rounds(recording: &Recording) -> Rounds<'_> {
    let names = subjects(recording, LATENCY, metrics::PACKET_LATENCY).into_iter();
    Rounds {
        percentiles: names
            .map(|name| {
                (
                    name,
                    median(recording, LATENCY, metrics::PACKET_LATENCY, name),
                )
            })
            .collect(),
        packets: values(recording, LATENCY, metrics::PACKETS, "")
            .first()
            .copied(),
    }
}

/// The kinds of events that were counted, in order.
fn kinds(recording: &Recording) -> Vec<&str> {
    distinct(measures_of(recording, EVENTS, metrics::EVENTS).map(|row| row.role))
}

/// Events of a kind per packet of a node.
fn events(recording: &Recording, node: &str, kind: &str) -> Option<f64> {
    measures_of(recording, EVENTS, metrics::EVENTS)
        .find(|row| (row.subject, row.role) == (node, kind))
        .map(|row| row.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::Header;

    /// Three windows of a graph in which half of the packets meet the second node, and a fifth
    /// leaves it again.
    fn recorded() -> Recording {
        let mut header = Header::new("dataplane", "host", "ticks");
        header.set_facts(&facts::GraphLoad {
            graph: "ip4-route".to_owned(),
            ..facts::GraphLoad::default()
        });
        let mut recording = Recording::new(header);
        let series = recording.series("ip4-route", CASE, "");
        for (window, clocks, mpps) in [(0, 653.0, 4.0), (1, 260.0, 10.0), (2, 369.2, 8.0)] {
            for (metric, value) in [
                (metrics::RATE, mpps),
                (metrics::CLOCKS_PER_PACKET, clocks),
                (metrics::WINDOW, 0.5),
                (metrics::LOOPS, 9.0),
            ] {
                recording.measure(series, window, metric.name, metric.unit, value);
            }
            for (node, share) in [("input", 1.0), ("lookup", 0.5)] {
                let subject = recording.name(node);
                let values = [
                    (metrics::CALLS, 10.0),
                    (metrics::VECTORS, share * mpps * 0.5e6),
                    (metrics::CLOCKS_PER_PACKET, 0.5 * clocks),
                ];
                for (metric, value) in values {
                    recording
                        .measure(series, window, metric.name, metric.unit, value)
                        .subject = Some(subject);
                }
            }
        }
        let counts = [
            (metrics::RECEIVED, 100.0),
            (metrics::SENT, 20.0),
            (metrics::DROPPED, 70.0),
            (metrics::PUNTED, 10.0),
        ];
        for (metric, count) in counts {
            recording.measure(series, 0, metric.name, metric.unit, count);
        }
        recording
    }

    #[test]
    fn everything_is_of_the_median_window_and_the_rate_is_that_out() {
        let recording = recorded();
        let found = read(&Findings::new(&recording, "", None)).unwrap();
        assert_eq!(
            (found.clocks_per_packet, found.received_mpps, found.mpps),
            (369.2, 8.0, 1.6)
        );
        assert_eq!(
            (found.clocks.unwrap().median, found.windows.unwrap().median),
            (369.2, 1.6)
        );
        assert_eq!(found.windows.unwrap().range, [0.8, 2.0]);
        let nodes = &found.nodes.nodes;
        let clocks: Vec<f64> = nodes.iter().map(|node| node.clocks_per_packet).collect();
        assert_eq!(clocks, [184.6, 184.6]);
        let of_path: f64 = nodes.iter().map(|node| node.clocks_of_path).sum();
        assert!(
            (of_path - 0.75 * 369.2).abs() < 1e-9,
            "{of_path}: half of the packets met the second"
        );
        assert_eq!(
            found.nodes.dearest().unwrap().alone().unwrap().name,
            "input"
        );
        assert_eq!((found.lost, found.punted), (80, 10));
        assert!(!found.steadiness.repeats, "260 to 653");
    }
}
