//! `batch` on a modelled core: in which cache each node finds the lines of a frame.

use super::story::Story;
use crate::blocks::{Blocks, Curve, Drawing, Figure, Picture, Table, fixed, whole};
use findings::Run;
use findings::rows::{Row, named};
use recording::{Recording, metrics};
use serde::Serialize;

/// The case of a way through the graph, and that of the bytes which a frame touches.
const PATH: &str = "path";
const FOOTPRINT: &str = "footprint";

/// The variant that has the sizes of the caches.
const CACHES: &str = "caches";

/// True if a recording is of a modelled core.
pub(super) fn is_of(recording: &Recording) -> bool {
    recording.header.world == "sim"
}

/// The places of a frame's lines, by the size of a frame and by the number of buffers.
#[derive(Serialize)]
pub(super) struct WorkingSet<'r> {
    platform: &'r str,
    /// `dram` or `l2`: to where the device writes.
    device: &'r str,
    l1_bytes: u64,
    l2_bytes: u64,
    frame_sizes: Vec<Way<'r>>,
    pools: Vec<Way<'r>>,
}

/// A way through the graph.
#[derive(Serialize)]
struct Way<'r> {
    frame_size: u64,
    /// Buffers that go around.
    pool: u64,
    /// Bytes that a frame touches: descriptors, indices, lines.
    bytes: [u64; 3],
    nodes: Vec<Node<'r>>,
}

/// The accesses of a node per packet that do not find their line in L1.
#[derive(Serialize)]
struct Node<'r> {
    node: &'r str,
    /// Found in L2.
    l2: f64,
    /// Found in no cache.
    memory: f64,
    data: Vec<Data<'r>>,
}

/// The same of one kind of data.
#[derive(Serialize)]
struct Data<'r> {
    kind: &'r str,
    l2: f64,
    memory: f64,
}

impl Way<'_> {
    /// Accesses of a node that are not found in L1.
    fn beyond_l1(&self, node: &str) -> f64 {
        self.nodes.iter().filter(|of| of.node == node).map(|of| of.l2 + of.memory).sum()
    }

    fn kb(&self) -> f64 {
        self.bytes.iter().sum::<u64>() as f64 / 1024.0
    }

    /// Accesses of the receiving node to metadata that go to memory.
    fn metadata_from_memory(&self) -> f64 {
        let receive = self.nodes.iter().filter(|of| of.node == "receive").flat_map(|of| &of.data);
        receive.filter(|data| data.kind == "metadata").map(|data| data.memory).sum()
    }
}

/// Reads the ways.
pub(super) fn read<'r>(run: &Run<'r>) -> WorkingSet<'r> {
    let recording = run.recording;
    let rows = named(recording);
    let ways = |prefix: &str| -> Vec<Way<'r>> {
        let mut variants: Vec<&str> = rows.iter().filter(|row| row.case == PATH).map(|row| row.variant).collect();
        variants.dedup();
        variants
            .into_iter()
            .filter(|variant| variant.starts_with(prefix))
            .filter_map(|of| way(recording, &rows, of))
            .collect()
    };
    let cache = |level| bytes(&rows, CACHES, level);
    WorkingSet {
        platform: recording.header.platform.as_ref().map_or("", |platform| &platform.name),
        device: rows.iter().find(|row| row.case == PATH).map_or("", |row| row.mode),
        l1_bytes: cache("L1"),
        l2_bytes: cache("L2"),
        frame_sizes: ways("frame-"),
        pools: ways("pool-"),
    }
}

fn bytes(rows: &[Row<'_>], variant: &str, subject: &str) -> u64 {
    let of =
        |row: &&Row<'_>| row.is_of(FOOTPRINT, metrics::FOOTPRINT) && row.variant == variant && row.subject == subject;
    rows.iter().filter(of).map(|row| row.value as u64).sum()
}

fn way<'r>(recording: &Recording, rows: &[Row<'r>], variant: &str) -> Option<Way<'r>> {
    let at = recording.header.coordinates.get(variant)?;
    let number = |key: &str| Some(at.get(key)?.as_integer()? as u64);
    let mut nodes: Vec<Node<'r>> = Vec::new();
    for row in rows.iter().filter(|row| row.is_of(PATH, metrics::ACCESSES_PER_PACKET) && row.variant == variant) {
        let (node, data) = row.subject.split_once(": ")?;
        let (kind, level) = data.split_once(" in ")?;
        if nodes.last().is_none_or(|last| last.node != node) {
            nodes.push(Node { node, l2: 0.0, memory: 0.0, data: Vec::new() });
        }
        let of = nodes.last_mut()?;
        if of.data.last().is_none_or(|last| last.kind != kind) {
            of.data.push(Data { kind, l2: 0.0, memory: 0.0 });
        }
        let data = of.data.last_mut()?;
        match level {
            "L2" => {
                data.l2 += row.value;
                of.l2 += row.value;
            }
            _ => {
                data.memory += row.value;
                of.memory += row.value;
            }
        }
    }
    let bytes = ["descriptors", "indices", "lines"].map(|kind| bytes(rows, variant, kind));
    Some(Way { frame_size: number("frame_size")?, pool: number("pool")?, bytes, nodes })
}

/// The node that meets a frame's lines after another has touched all of them.
const LATER: &str = "switch";

/// Accesses per packet below which a node counts as finding its lines in L1.
const HARDLY_ANY: f64 = 0.05;

impl Story for WorkingSet<'_> {
    fn tell(&self, told: &mut Blocks) {
        let l1 = self.l1_bytes / 1024;
        let fits = self.frame_sizes.iter().take_while(|way| way.beyond_l1(LATER) < HARDLY_ANY).last();
        let leaves = self.frame_sizes.iter().find(|way| way.beyond_l1(LATER) >= HARDLY_ANY);
        let fitting = fits.map(|way| {
            format!(
                "A frame of {} packets touches {} KB and stays in L1 ({l1} KB) from node to node.",
                way.frame_size,
                fixed(way.kb(), 1)
            )
        });
        let leaving = leaves.map(|way| {
            format!(
                "A frame of {} touches {} KB, and {} accesses per packet of the second node that looks at packets go \
                 beyond L1.",
                way.frame_size,
                fixed(way.kb(), 1),
                fixed(way.beyond_l1(LATER), 2)
            )
        });
        told.answer(fitting.into_iter().chain(leaving).collect::<Vec<_>>().join(" "));
        let l2 = self.l2_bytes / 1024;
        let kept = self.pools.iter().take_while(|way| way.metadata_from_memory() < HARDLY_ANY).last();
        let lost = self.pools.iter().find(|way| way.metadata_from_memory() >= HARDLY_ANY);
        let kept = kept.map(|way| {
            format!(
                "With up to {} buffers going around, a buffer's metadata is still in L2 ({l2} KB) when the buffer \
                 comes again.",
                way.pool
            )
        });
        let lost = lost.map(|way| {
            format!(
                "With {} buffers it comes from memory: {} accesses per packet.",
                way.pool,
                fixed(way.metadata_from_memory(), 2)
            )
        });
        told.answer(kept.into_iter().chain(lost).collect::<Vec<_>>().join(" "));
        let curves = Vec::from_iter(["receive", "classify", LATER, "transmit"].map(|node| {
            Curve {
                name: node.to_owned(),
                points: self
                    .frame_sizes
                    .iter()
                    .map(|way| (way.frame_size as f64, Figure { value: way.beyond_l1(node), published: None }))
                    .collect(),
                best: None,
            }
        }));
        let drawing = Drawing::Curves { x: "packets of a frame".to_owned(), curves };
        told.picture(Picture::new("Accesses per packet that go beyond L1", "", "accesses", drawing));
        let device = match self.device {
            "l2" => "The device writes packets and descriptors into L2.",
            _ => "The device writes packets and descriptors into memory; --data-in l2 is one that writes into L2.",
        };
        let note = format!(
            "Accesses per packet that find their line in L2, and in no cache; the others find it in L1. Receive touches a packet's \
             descriptor, its metadata and its index, the two nodes between index, metadata and data, and transmit index, metadata and a \
             descriptor. {device} Sizes and ways of the caches of {} decide it, and no fitted cost.",
            self.platform
        );
        told.table(
            table(&self.frame_sizes)
                .titled(format!(
                    "By packets of a frame, with {} buffers",
                    self.frame_sizes.first().map_or(0, |way| way.pool)
                ))
                .noted(note),
        );
        told.table(table(&self.pools).titled("By buffers that go around"));
    }
}

fn table(ways: &[Way<'_>]) -> Table {
    let nodes = ways.first().map_or(&[][..], |way| &way.nodes);
    let table = Table::with_rows(ways)
        .numbers("buffers", "", |way| whole(way.pool as f64))
        .numbers("frame", "", |way| whole(way.frame_size as f64))
        .numbers("touches", "KB", |way| fixed(way.kb(), 1));
    let table = table.each(nodes.iter().enumerate(), |table, (at, node)| {
        let of = move |way: &Way<'_>, value: fn(&Node<'_>) -> f64| fixed(way.nodes.get(at).map_or(0.0, value), 2);
        table.grouped(node.node, "L2", "", move |way| of(way, |node| node.l2)).grouped(
            node.node,
            "memory",
            "",
            move |way| of(way, |node| node.memory),
        )
    });
    table.done()
}
