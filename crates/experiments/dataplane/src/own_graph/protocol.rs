//! Requests to the process that runs a graph, and its answers: a line of JSON each.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use dataplane::buffers::Reuse;
use dataplane::graph::{Balance, EVENTS, NodeCounters, RuntimeRow};
use dataplane::plane::Settings;
use dataplane::walk::Strides;
use serde::{Deserialize, Serialize};

use crate::events::Events;
use crate::graphs::{Counted, ErrorCount, GraphKind, Load, Share, Window};

/// A request.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// An answer: each request has one kind of it, so none says which it is.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The nodes of the shared objects.
    Loaded(Vec<NodeAbout>),
    /// The graph is there, but where a node cannot be set up: its name, and why.
    Built(Option<(String, String)>),
    /// It ran.
    WarmedUp(()),
    /// A window.
    Window(WindowSent),
    /// Events, or why the machine counts none.
    Counted(Result<CountedSent, String>),
    /// The rest.
    Ended(Ended),
}

/// A node of a shared object, as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAbout {
    /// Its name.
    pub name: String,
    /// The shared object.
    pub object: String,
    /// The names of its arcs.
    pub arcs: Vec<String>,
    /// The name of its packets' private data; none if it is the node's alone.
    pub private_name: Option<String>,
    /// Bytes of private data per packet.
    pub private_bytes: usize,
}

/// A graph that was found to be right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    pub load: LoadSent,
    /// Threads.
    pub workers: usize,
    /// Packets of the first worker that are traced.
    pub trace: usize,
}

/// A node of a shared object in a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Packets {
    /// As many flows as the load says.
    Generator,
    /// These flows.
    Flows(Vec<Flow>),
    /// Those of a capture file, again and again.
    Capture(PathBuf),
}

/// Packets that are alike: UDP, 60 bytes without the frame check sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Where they are from.
    pub source: Ipv4Addr,
    /// Where they are to go.
    pub destination: Ipv4Addr,
    /// The UDP port that they are from.
    #[serde(default = "source_port")]
    pub source_port: u16,
    /// The UDP port that they go to.
    #[serde(default = "destination_port")]
    pub destination_port: u16,
    /// Their time to live.
    #[serde(default = "ttl")]
    pub ttl: u8,
}

fn source_port() -> u16 {
    0x1000
}

fn destination_port() -> u16 {
    0x2000
}

fn ttl() -> u8 {
    64
}

/// [`Load`], between processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSent {
    cross_connect: bool,
    shape: String,
    strides: [usize; 2],
    frame_size: usize,
    verify_checksum: bool,
    buffers: usize,
    hot: bool,
    routes: u32,
    outputs: u16,
    flows: u32,
}

impl From<Load> for LoadSent {
    fn from(load: Load) -> Self {
        let Settings { shape, strides, frame_size, verify_checksum } = load.settings;
        Self {
            cross_connect: load.kind == GraphKind::L2CrossConnect,
            shape: shape.name().to_owned(),
            strides: [strides.header, strides.data],
            frame_size,
            verify_checksum,
            buffers: load.buffers,
            hot: load.reuse == Reuse::Hot,
            routes: load.routes,
            outputs: load.outputs,
            flows: load.flows,
        }
    }
}

impl LoadSent {
    /// The load.
    pub fn load(&self) -> Load {
        let [header, data] = self.strides;
        Load {
            kind: if self.cross_connect { GraphKind::L2CrossConnect } else { GraphKind::Ip4Route },
            settings: Settings {
                shape: self.shape.parse().unwrap_or(Settings::default().shape),
                strides: Strides { header, data },
                frame_size: self.frame_size,
                verify_checksum: self.verify_checksum,
            },
            buffers: self.buffers,
            reuse: if self.hot { Reuse::Hot } else { Reuse::Cycle },
            routes: self.routes,
            outputs: self.outputs,
            flows: self.flows,
        }
    }
}

/// [`RuntimeRow`], between processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowSent {
    name: String,
    polls: bool,
    counters: [u64; 6],
    events: [u64; EVENTS],
}

impl From<RuntimeRow> for RowSent {
    fn from(RuntimeRow { name, state, counters }: RuntimeRow) -> Self {
        let NodeCounters { calls, vectors, ticks, empty_polls, empty_ticks, largest, events } = counters;
        let counters = [calls, vectors, ticks, empty_polls, empty_ticks, largest];
        Self { name, polls: state == POLLING, counters, events }
    }
}

const POLLING: &str = "polling";

impl From<RowSent> for RuntimeRow {
    fn from(RowSent { name, polls, counters, events }: RowSent) -> Self {
        let [calls, vectors, ticks, empty_polls, empty_ticks, largest] = counters;
        let counters = NodeCounters { calls, vectors, ticks, empty_polls, empty_ticks, largest, events };
        Self { name, state: if polls { POLLING } else { "active" }, counters }
    }
}

fn sent(rows: Vec<RuntimeRow>) -> Vec<RowSent> {
    rows.into_iter().map(RowSent::from).collect()
}

fn received(rows: Vec<RowSent>) -> Vec<RuntimeRow> {
    rows.into_iter().map(RuntimeRow::from).collect()
}

/// [`Window`], between processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WindowSent {
    seconds: f64,
    loops: u64,
    nodes: Vec<RowSent>,
    workers: Vec<Share>,
}

impl From<Window> for WindowSent {
    fn from(Window { seconds, loops, nodes, workers }: Window) -> Self {
        Self { seconds, loops, nodes: sent(nodes), workers }
    }
}

impl From<WindowSent> for Window {
    fn from(WindowSent { seconds, loops, nodes, workers }: WindowSent) -> Self {
        Self { seconds, loops, nodes: received(nodes), workers }
    }
}

/// [`Counted`], between processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CountedSent {
    names: Vec<String>,
    nodes: Vec<RowSent>,
}

impl From<Counted> for CountedSent {
    fn from(Counted { names, nodes }: Counted) -> Self {
        Self { names, nodes: sent(nodes) }
    }
}

impl From<CountedSent> for Counted {
    fn from(CountedSent { names, nodes }: CountedSent) -> Self {
        Self { names, nodes: received(nodes) }
    }
}

/// The rest of what a graph tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Rounds that were timed.
    pub rounds: u64,
    /// The percentiles of their times.
    pub percentiles: Vec<f64>,
    /// Where each worker's packets ended, in the order of the fields of [`Balance`].
    balances: Vec<[u64; 8]>,
    /// Packets that ended for a reason, and what else nodes counted.
    pub errors: Vec<ErrorCount>,
    /// The traces, if any packet was traced.
    pub trace: Option<String>,
}

impl Ended {
    /// All of it.
    pub fn new(
        rounds: u64,
        percentiles: Vec<f64>,
        balances: &[Balance],
        errors: Vec<ErrorCount>,
        trace: Option<String>,
    ) -> Self {
        let numbers = |balance: &Balance| {
            let Balance { received, sent, dropped, punted, refused, local, generated, held } = *balance;
            [received, sent, dropped, punted, refused, local, generated, held]
        };
        Self { rounds, percentiles, balances: balances.iter().map(numbers).collect(), errors, trace }
    }

    /// Where each worker's packets ended.
    pub fn balances(&self) -> Vec<Balance> {
        let balance = |&[received, sent, dropped, punted, refused, local, generated, held]: &[u64; 8]| Balance {
            received,
            sent,
            dropped,
            punted,
            refused,
            local,
            generated,
            held,
        };
        self.balances.iter().map(balance).collect()
    }
}
