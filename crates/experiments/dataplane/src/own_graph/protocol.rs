//! Requests to the process that runs a graph, and its answers: a [`Line`] each.
//!
//! Both processes are the same program. One kind of line for all requests and answers is read by
//! one reader; a reader for each type would make the program a hundred kilobytes larger.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use dataplane::buffers::Reuse;
use dataplane::graph::{Balance, NodeCounters, RuntimeRow};
use dataplane::plane::Settings;
use dataplane::walk::Strides;
use serde::{Deserialize, Serialize};

use crate::events::Events;
use crate::graphs::{Counted, ErrorCount, GraphKind, Load, Share, Window};

/// Words and numbers, each in the order in which they are taken out again. Counts stay exact up to
/// 2^53.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Line {
    words: Vec<String>,
    numbers: Vec<f64>,
}

impl Line {
    fn word(&mut self, word: impl Into<String>) {
        self.words.push(word.into());
    }

    fn number(&mut self, number: f64) {
        self.numbers.push(number);
    }

    fn counts(&mut self, counts: &[u64]) {
        for count in counts {
            self.numbers.push(*count as f64);
        }
    }

    fn list<T>(&mut self, all: &[T], put: impl Fn(&mut Self, &T)) {
        self.number(all.len() as f64);
        for one in all {
            put(self, one);
        }
    }

    fn read(self) -> Reading {
        Reading { words: self.words.into_iter(), numbers: self.numbers.into_iter() }
    }
}

/// A line that is taken apart.
struct Reading {
    words: std::vec::IntoIter<String>,
    numbers: std::vec::IntoIter<f64>,
}

impl Reading {
    fn word(&mut self) -> String {
        self.words.next().unwrap_or_default()
    }

    fn number(&mut self) -> f64 {
        self.numbers.next().unwrap_or_default()
    }

    fn count(&mut self) -> u64 {
        self.number() as u64
    }

    fn counts<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.count())
    }

    fn list<T>(&mut self, take: impl Fn(&mut Self) -> T) -> Vec<T> {
        // Each has a word or a number at least.
        let most = self.words.len() + self.numbers.len();
        let mut all = Vec::new();
        for _ in 0..(self.count() as usize).min(most) {
            all.push(take(self));
        }
        all
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Load shared objects, and describe their nodes.
    Load(Vec<PathBuf>),
    /// Build the graph of each worker.
    Build(Box<Plan>),
    /// Run for some time of which only the packets' ends and their traces are kept.
    WarmUp(Duration),
    /// Run for a window.
    Window(Duration),
    /// Run for a window in which events are counted.
    Count(Events, Duration),
    /// Tell what there is besides, and end the nodes.
    End,
}

impl Request {
    /// The request as a line.
    pub fn line(&self) -> Line {
        let mut line = Line::default();
        let (verb, length) = match self {
            Self::Load(_) => ("load", Duration::ZERO),
            Self::Build(_) => ("build", Duration::ZERO),
            Self::WarmUp(length) => ("warm-up", *length),
            Self::Window(length) => ("window", *length),
            Self::Count(events, length) => (events.name(), *length),
            Self::End => ("end", Duration::ZERO),
        };
        line.word(verb);
        line.number(length.as_secs_f64());
        match self {
            Self::Load(paths) => line.list(paths, |line, path| line.word(path.to_string_lossy())),
            Self::Build(plan) => plan.put(&mut line),
            _ => {}
        }
        line
    }

    /// The request of a line.
    pub fn of(line: Line) -> Self {
        let mut line = line.read();
        let verb = line.word();
        let length = Duration::try_from_secs_f64(line.number()).unwrap_or_default();
        match verb.as_str() {
            "load" => Self::Load(line.list(|line| line.word().into())),
            "build" => Self::Build(Box::new(Plan::take(&mut line))),
            "warm-up" => Self::WarmUp(length),
            "window" => Self::Window(length),
            verb => match [Events::Hardware, Events::Software].into_iter().find(|events| events.name() == verb) {
                Some(events) => Self::Count(events, length),
                None => Self::End,
            },
        }
    }
}

/// A node of a shared object, as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAbout {
    /// Its name.
    pub name: String,
    /// The shared object.
    pub object: String,
    /// The names of its arcs.
    pub arcs: Vec<String>,
    /// The name of its packets' private data; empty if it is the node's alone.
    pub private_name: String,
    /// Bytes of private data per packet.
    pub private_bytes: usize,
}

/// Nodes as a line.
pub fn nodes_line<'n>(nodes: impl Iterator<Item = &'n NodeAbout>) -> Line {
    let mut line = Line::default();
    line.list(&nodes.collect::<Vec<_>>(), |line, node| {
        line.word(&node.name);
        line.word(&node.object);
        line.list(&node.arcs, |line, arc| line.word(arc));
        line.word(&node.private_name);
        line.number(node.private_bytes as f64);
    });
    line
}

/// The nodes of a line.
pub fn nodes_of(line: Line) -> Vec<NodeAbout> {
    line.read().list(|line| NodeAbout {
        name: line.word(),
        object: line.word(),
        arcs: line.list(Reading::word),
        private_name: line.word(),
        private_bytes: line.count() as usize,
    })
}

/// A node that cannot be set up and why, as a line; an empty one if there is none.
pub fn refused_line(refused: Option<(String, String)>) -> Line {
    let words = refused.map_or_else(Vec::new, |(node, why)| vec![node, why]);
    Line { words, ..Line::default() }
}

/// The node that cannot be set up, and why.
pub fn refused_of(line: Line) -> Option<(String, String)> {
    let mut words = line.words.into_iter();
    words.next().zip(words.next())
}

/// A graph that was found to be right.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Nodes and arcs, as [`dataplane::wiring`] reads them.
    pub wiring: String,
    /// The nodes of shared objects in it.
    pub nodes: Vec<PlannedNode>,
    /// True if packets have private data.
    pub has_private_data: bool,
    /// The source of packets.
    pub packets: Packets,
    /// The load.
    pub load: Load,
    /// Threads.
    pub workers: usize,
    /// Packets of the first worker that are traced.
    pub trace: usize,
}

/// A node of a shared object in a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedNode {
    /// Its name in the graph.
    pub name: String,
    /// Its number among the nodes of all shared objects.
    pub number: usize,
    /// Its options.
    pub options: String,
    /// The place of its private data in the line that packets have for it.
    pub private_at: usize,
}

/// A source of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packets {
    /// As many flows as the load says.
    Generator,
    /// These flows.
    Flows(Vec<Flow>),
    /// Those of a capture file, again and again.
    Capture(PathBuf),
}

/// Packets that are alike: UDP, 60 bytes without the frame check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The address that they are from.
    pub source: Ipv4Addr,
    /// The address that they go to.
    pub destination: Ipv4Addr,
    /// The UDP port that they are from.
    pub source_port: u16,
    /// The UDP port that they go to.
    pub destination_port: u16,
    /// Their time to live.
    pub ttl: u8,
}

impl Plan {
    fn put(&self, line: &mut Line) {
        line.word(&self.wiring);
        line.list(&self.nodes, |line, node| {
            line.word(&node.name);
            line.word(&node.options);
            line.counts(&[node.number as u64, node.private_at as u64]);
        });
        line.counts(&[self.has_private_data.into(), self.workers as u64, self.trace as u64]);
        let (capture, flows) = match &self.packets {
            Packets::Generator => (None, &[][..]),
            Packets::Flows(flows) => (None, &flows[..]),
            Packets::Capture(path) => (Some(path), &[][..]),
        };
        line.word(capture.map_or_else(Default::default, |path| path.to_string_lossy()));
        line.list(flows, |line, flow| {
            let Flow { source, destination, source_port, destination_port, ttl } = *flow;
            line.counts(&[source.to_bits().into(), destination.to_bits().into()]);
            line.counts(&[source_port.into(), destination_port.into(), ttl.into()]);
        });
        let Load { kind, settings, buffers, reuse, routes, outputs, flows } = self.load;
        let Settings { shape, strides, frame_size, verify_checksum } = settings;
        line.word(shape.name());
        line.counts(&[
            (kind == GraphKind::L2CrossConnect).into(),
            (reuse == Reuse::Hot).into(),
            verify_checksum.into(),
        ]);
        line.counts(&[strides.header as u64, strides.data as u64, frame_size as u64, buffers as u64]);
        line.counts(&[routes.into(), outputs.into(), flows.into()]);
    }

    fn take(line: &mut Reading) -> Self {
        let wiring = line.word();
        let nodes = line.list(|line| PlannedNode {
            name: line.word(),
            options: line.word(),
            number: line.count() as usize,
            private_at: line.count() as usize,
        });
        let [has_private_data, workers, trace] = line.counts();
        let capture = line.word();
        let flows = line.list(|line| Flow {
            source: Ipv4Addr::from_bits(line.count() as u32),
            destination: Ipv4Addr::from_bits(line.count() as u32),
            source_port: line.count() as u16,
            destination_port: line.count() as u16,
            ttl: line.count() as u8,
        });
        let packets = match (capture.is_empty(), flows.is_empty()) {
            (false, _) => Packets::Capture(capture.into()),
            (true, true) => Packets::Generator,
            (true, false) => Packets::Flows(flows),
        };
        let shape = line.word().parse().unwrap_or(Settings::default().shape);
        let [cross_connect, hot, verify_checksum] = line.counts();
        let [header, data, frame_size, buffers] = line.counts().map(|count: u64| count as usize);
        let [routes, outputs, flows] = line.counts();
        let load = Load {
            kind: if cross_connect > 0 { GraphKind::L2CrossConnect } else { GraphKind::Ip4Route },
            settings: Settings {
                shape,
                strides: Strides { header, data },
                frame_size,
                verify_checksum: verify_checksum > 0,
            },
            buffers,
            reuse: if hot > 0 { Reuse::Hot } else { Reuse::Cycle },
            routes: routes as u32,
            outputs: outputs as u16,
            flows: flows as u32,
        };
        let (workers, trace) = (workers as usize, trace as usize);
        Self { wiring, nodes, has_private_data: has_private_data > 0, packets, load, workers, trace }
    }
}

const POLLING: &str = "polling";

fn put_rows(line: &mut Line, rows: &[RuntimeRow]) {
    line.list(rows, |line, RuntimeRow { name, state, counters }| {
        let NodeCounters { calls, vectors, ticks, empty_polls, empty_ticks, largest, events } = *counters;
        line.word(name);
        line.counts(&[(*state == POLLING).into(), calls, vectors, ticks, empty_polls, empty_ticks, largest]);
        line.counts(&events);
    });
}

fn take_rows(line: &mut Reading) -> Vec<RuntimeRow> {
    line.list(|line| {
        let name = line.word();
        let [polls, calls, vectors, ticks, empty_polls, empty_ticks, largest] = line.counts();
        let events = line.counts();
        let counters = NodeCounters { calls, vectors, ticks, empty_polls, empty_ticks, largest, events };
        RuntimeRow { name, state: if polls > 0 { POLLING } else { "active" }, counters }
    })
}

/// A window as a line.
pub fn window_line(window: &Window) -> Line {
    let mut line = Line::default();
    line.number(window.seconds);
    line.counts(&[window.loops]);
    line.list(&window.workers, |line, share| {
        line.number(share.seconds);
        line.counts(&[share.ticks, share.packets]);
    });
    put_rows(&mut line, &window.nodes);
    line
}

/// The window of a line.
pub fn window_of(line: Line) -> Window {
    let mut line = line.read();
    let (seconds, loops) = (line.number(), line.count());
    let share = |line: &mut Reading| Share { seconds: line.number(), ticks: line.count(), packets: line.count() };
    let workers = line.list(share);
    Window { seconds, loops, workers, nodes: take_rows(&mut line) }
}

/// Events as a line, or why the machine counts none.
pub fn counted_line(counted: Result<Counted, String>) -> Line {
    let mut line = Line::default();
    line.word(counted.as_ref().err().map_or("", String::as_str));
    if let Ok(Counted { names, nodes }) = &counted {
        line.list(names, |line, name| line.word(name));
        put_rows(&mut line, nodes);
    }
    line
}

/// The events of a line, or why the machine counts none.
pub fn counted_of(line: Line) -> Result<Counted, String> {
    let mut line = line.read();
    match line.word() {
        why if why.is_empty() => Ok(Counted { names: line.list(Reading::word), nodes: take_rows(&mut line) }),
        why => Err(why),
    }
}

/// The rest of what a graph tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Rounds that were timed.
    pub rounds: u64,
    /// The percentiles of their times.
    pub percentiles: Vec<f64>,
    /// The ends that each worker's packets came to.
    pub balances: Vec<Balance>,
    /// Packets that ended for a reason, and what else nodes counted.
    pub errors: Vec<ErrorCount>,
    /// The traces; empty if no packet was traced.
    pub trace: String,
}

impl Ended {
    /// All of it as a line.
    pub fn line(&self) -> Line {
        let mut line = Line::default();
        line.counts(&[self.rounds]);
        line.list(&self.percentiles, |line, value| line.number(*value));
        line.list(&self.balances, |line, balance| {
            let Balance { received, sent, dropped, punted, refused } = *balance;
            line.counts(&[received, sent, dropped, punted, refused]);
        });
        line.list(&self.errors, |line, ErrorCount { node, reason, severity, count }| {
            [node, reason, severity].into_iter().for_each(|word| line.word(word));
            line.counts(&[*count]);
        });
        line.word(&self.trace);
        line
    }

    /// The rest, from a line.
    pub fn of(line: Line) -> Self {
        let mut line = line.read();
        Self {
            rounds: line.count(),
            percentiles: line.list(Reading::number),
            balances: line.list(|line| {
                let [received, sent, dropped, punted, refused] = line.counts();
                Balance { received, sent, dropped, punted, refused }
            }),
            errors: line.list(|line| ErrorCount {
                node: line.word(),
                reason: line.word(),
                severity: line.word(),
                count: line.count(),
            }),
            trace: line.word(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(line: Line) -> Line {
        serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap()
    }

    #[test]
    fn what_is_asked_arrives() {
        let flow = Flow {
            source: [10, 0, 0, 1].into(),
            destination: [255, 1, 2, 3].into(),
            source_port: 7,
            destination_port: 65_535,
            ttl: 64,
        };
        let node = |name: &str| PlannedNode {
            name: name.to_owned(),
            number: 3,
            options: "deny\nall".to_owned(),
            private_at: 8,
        };
        for packets in [Packets::Generator, Packets::Flows(vec![flow; 2]), Packets::Capture("a/b.pcap".into())] {
            let load = Load { reuse: Reuse::Hot, flows: 17, ..Load::new(GraphKind::L2CrossConnect) };
            let plan = Plan {
                wiring: "a: b\nb:\n".to_owned(),
                nodes: vec![node("a"), node("b")],
                has_private_data: true,
                packets,
                load,
                workers: 2,
                trace: 5,
            };
            let build = Request::Build(Box::new(plan));
            assert_eq!(Request::of(sent(build.line())), build);
        }
        let length = Duration::from_millis(1500);
        for request in [
            Request::Load(vec!["a.so".into(), "b/c.so".into()]),
            Request::WarmUp(length),
            Request::Window(length),
            Request::Count(Events::Software, length),
            Request::End,
        ] {
            assert_eq!(Request::of(sent(request.line())), request);
        }
    }

    #[test]
    fn what_is_answered_arrives() {
        let counters =
            NodeCounters { calls: 1, vectors: 1 << 52, largest: 7, events: [1, 2, 3, 4], ..Default::default() };
        let row = |state: &'static str| RuntimeRow { name: state.to_owned(), state, counters };
        let nodes = vec![row("polling"), row("active")];
        let share = Share { seconds: 0.25, ticks: 9, packets: 8 };
        let window = Window { seconds: 0.5, loops: 3, nodes: nodes.clone(), workers: vec![share; 2] };
        assert_eq!(window_of(sent(window_line(&window))), window);
        let counted = Counted { names: vec!["cycles".to_owned(), "misses".to_owned()], nodes };
        for counted in [Ok(counted), Err("none".to_owned())] {
            assert_eq!(counted_of(sent(counted_line(counted.clone()))), counted);
        }
        let node = NodeAbout {
            name: "acl".to_owned(),
            object: "a.so".to_owned(),
            arcs: vec!["permit".to_owned(), "other".to_owned()],
            private_name: String::new(),
            private_bytes: 8,
        };
        let nodes = vec![node.clone(), node];
        assert_eq!(nodes_of(sent(nodes_line(nodes.iter()))), nodes);
        for refused in [None, Some(("acl".to_owned(), String::new()))] {
            assert_eq!(refused_of(sent(refused_line(refused.clone()))), refused);
        }
        let words = |word: &str| word.to_owned();
        let ended = Ended {
            rounds: 4,
            percentiles: vec![0.5, 1.5],
            balances: vec![Balance { received: 5, sent: 4, punted: 1, ..Default::default() }],
            errors: vec![ErrorCount { node: words("a"), reason: words("b"), severity: words("c"), count: 6 }],
            trace: words("Packet 1\n"),
        };
        assert_eq!(Ended::of(sent(ended.line())), ended);
    }
}
