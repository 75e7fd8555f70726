//! `batch` on a modelled core: in which cache each node finds the lines of a frame.

use crate::Findings;
use crate::rows::{Row, named};
use recording::{Recording, distinct, metrics};
use schemars::JsonSchema;
use serde::Serialize;

/// The case of a way through the graph, and that of the bytes which a frame touches.
const PATH: &str = "path";

const FOOTPRINT: &str = "footprint";

/// The variant that has the sizes of the caches.
const CACHES: &str = "caches";

/// True if a recording is of a modelled core.
pub fn is_of(recording: &Recording) -> bool {
    recording.header.world == "sim"
}

/// The places of a frame's lines, by the size of a frame and by the number of buffers.
#[derive(Serialize, JsonSchema)]
pub struct WorkingSet<'r> {
    /// The platform's name.
    pub platform: &'r str,
    /// `dram` or `l2`: to where the device writes.
    pub device: &'r str,
    /// Size of the first-level data cache in bytes.
    pub l1_bytes: u64,
    /// Size of the second-level cache in bytes.
    pub l2_bytes: u64,
    /// Ways with frames of different sizes and the same number of buffers, at each stride.
    pub frame_sizes: Vec<Way<'r>>,
    /// Ways with different numbers of buffers and frames of the same size, at each stride.
    pub pools: Vec<Way<'r>>,
}

/// A way through the graph.
#[derive(Serialize, JsonSchema)]
pub struct Way<'r> {
    /// Packets of a frame, at least 1.
    pub frame_size: u64,
    /// Buffers that go around.
    pub pool: u64,
    /// Bytes from one buffer to the next.
    pub buffer_bytes: u64,
    /// Bytes that a frame touches: descriptors, indices, lines.
    pub bytes: [u64; 3],
    /// The nodes, in the order in which packets meet them.
    pub nodes: Vec<Node<'r>>,
}

/// The accesses of a node per packet that do not find their line in L1.
#[derive(Serialize, JsonSchema)]
pub struct Node<'r> {
    /// The node's name.
    pub node: &'r str,
    /// Found in L2.
    pub l2: f64,
    /// Found in no cache.
    pub memory: f64,
    /// The same accesses by the kind of data.
    pub data: Vec<Data<'r>>,
}

/// The same of one kind of data.
#[derive(Serialize, JsonSchema)]
pub struct Data<'r> {
    /// The kind of data, such as `metadata`.
    pub kind: &'r str,
    /// Accesses per packet that are found in L2.
    pub l2: f64,
    /// Accesses per packet that are found in no cache.
    pub memory: f64,
}

impl Way<'_> {
    /// Accesses of a node that are not found in L1.
    pub fn beyond_l1(&self, node: &str) -> f64 {
        self.nodes
            .iter()
            .filter(|of| of.node == node)
            .map(|of| of.l2 + of.memory)
            .sum()
    }

    /// The bytes that a frame touches, in KB of 1024.
    pub fn kb(&self) -> f64 {
        self.bytes.iter().sum::<u64>() as f64 / 1024.0
    }

    /// Accesses of the receiving node to metadata that go to memory.
    pub fn metadata_from_memory(&self) -> f64 {
        self.nodes
            .iter()
            .filter(|of| of.node == "receive")
            .flat_map(|of| &of.data)
            .filter(|data| data.kind == "metadata")
            .map(|data| data.memory)
            .sum()
    }
}

/// Reads the ways.
pub fn read<'r>(findings: &Findings<'r>) -> WorkingSet<'r> {
    let recording = findings.recording;
    let rows = named(recording);
    let ways = |prefix: &str| -> Vec<Way<'r>> {
        variants(&rows, PATH)
            .into_iter()
            .filter(|variant| variant.starts_with(prefix))
            .filter_map(|of| way(recording, &rows, of))
            .collect()
    };
    let cache = |level| bytes(&rows, CACHES, level);
    WorkingSet {
        platform: recording.header.platform_name().unwrap_or_default(),
        device: rows
            .iter()
            .find(|row| row.case == PATH)
            .map_or("", |row| row.mode),
        l1_bytes: cache("L1"),
        l2_bytes: cache("L2"),
        frame_sizes: ways("frame-"),
        pools: ways("pool-"),
    }
}

fn variants<'r>(rows: &[Row<'r>], case: &str) -> Vec<&'r str> {
    let of_case = rows.iter().filter(|row| row.case == case);
    distinct(of_case.map(|row| row.variant))
}

fn bytes(rows: &[Row<'_>], variant: &str, subject: &str) -> u64 {
    rows.iter()
        .filter(|row| {
            row.is_of(FOOTPRINT, metrics::FOOTPRINT)
                && row.variant == variant
                && row.subject == subject
        })
        .map(|row| row.value as u64)
        .sum()
}

fn way<'r>(recording: &Recording, rows: &[Row<'r>], variant: &str) -> Option<Way<'r>> {
    let at = recording.header.coordinates.get(variant)?;
    let mut nodes: Vec<Node<'r>> = Vec::new();
    for row in rows
        .iter()
        .filter(|row| row.case == PATH && row.variant == variant)
    {
        let (node, kind) = (row.subject, row.role);
        if nodes.last().is_none_or(|last| last.node != node) {
            nodes.push(Node {
                node,
                l2: 0.0,
                memory: 0.0,
                data: Vec::new(),
            });
        }
        let of = nodes.last_mut()?;
        if of.data.last().is_none_or(|last| last.kind != kind) {
            of.data.push(Data {
                kind,
                l2: 0.0,
                memory: 0.0,
            });
        }
        let data = of.data.last_mut()?;
        if row.is_of(PATH, metrics::L2_ACCESSES) {
            data.l2 += row.value;
            of.l2 += row.value;
        } else if row.is_of(PATH, metrics::MEMORY_ACCESSES) {
            data.memory += row.value;
            of.memory += row.value;
        }
    }
    let bytes = ["descriptors", "indices", "lines"].map(|kind| bytes(rows, variant, kind));
    let [frame_size, pool, buffer_bytes] =
        ["frame_size", "pool", "buffer_bytes"].map(|key| Some(at.get(key)?.as_integer()? as u64));
    Some(Way {
        frame_size: frame_size?,
        pool: pool?,
        buffer_bytes: buffer_bytes?,
        bytes,
        nodes,
    })
}

/// The node that meets a frame's lines after another has touched all of them.
pub const LATER: &str = "l2-input";

/// Accesses per packet below which a node counts as finding its lines in L1.
pub const HARDLY_ANY: f64 = 0.05;
