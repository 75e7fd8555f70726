//! A frame's way through a graph on a modelled core: the cache in which each node finds the lines
//! that it touches.
//!
//! ```text
//!   device ──► receive ────► ethernet-input, ──► l2-output, ──► tx ───────► device
//!   writes     descriptor    l2-input            output         index
//!   descriptor metadata      index               index          metadata
//!   and data   index         metadata, data      metadata       descriptor
//! ```
//!
//! Sizes and ways of the caches decide the result, and the distance of the buffers, which says how
//! many sets of a cache they share. No cost is part of it, and so nothing that was fitted.

use crate::places::CacheLevel;
use core_model::{Core, Parameters, Site, Stall};
use dataplane::frame::FRAME_MAX;
use itertools::Itertools;

/// Bytes of a descriptor that a device reads or writes (slide "Types of Data Accesses").
pub const DESCRIPTOR: u64 = 32;

/// Bytes of a packet's index in a frame.
pub const INDEX: u64 = 4;

/// Lines of a buffer that nodes touch: the metadata's and the first of the data.
pub const BUFFER_LINES: u64 = 2;

/// The nodes that a frame goes through, in their order: those of the slides' cross connect.
#[derive(Clone, Copy, PartialEq)]
pub enum Node {
    /// Takes packets from the device.
    Receive,
    /// The first to look at a packet's data.
    EthernetInput,
    /// The second to look at it.
    L2Input,
    /// Chooses the output, by the metadata.
    L2Output,
    /// Counts what goes out.
    Output,
    /// Hands packets to a device.
    Transmit,
}

impl Node {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Receive,
        Self::EthernetInput,
        Self::L2Input,
        Self::L2Output,
        Self::Output,
        Self::Transmit,
    ];

    /// The name that a result shows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receive => "receive",
            Self::EthernetInput => "ethernet-input",
            Self::L2Input => "l2-input",
            Self::L2Output => "l2-output",
            Self::Output => "output",
            Self::Transmit => "tx",
        }
    }

    /// The kinds of data that it touches, in their order.
    pub const fn touches(self) -> &'static [Kind] {
        match self {
            Self::Receive => &[Kind::Descriptor, Kind::Metadata, Kind::Index],
            Self::EthernetInput | Self::L2Input => &[Kind::Index, Kind::Metadata, Kind::Data],
            Self::L2Output | Self::Output => &[Kind::Index, Kind::Metadata],
            Self::Transmit => &[Kind::Index, Kind::Metadata, Kind::Descriptor],
        }
    }
}

/// A kind of data.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// The packet's place and length, as device and core hand them to each other.
    Descriptor,
    /// The buffer's number in the frame.
    Index,
    /// The metadata in front of the packet, which one node leaves for the next.
    Metadata,
    /// The packet's first line.
    Data,
}

impl Kind {
    /// The name that a result shows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Descriptor => "descriptor",
            Self::Index => "index",
            Self::Metadata => "metadata",
            Self::Data => "data",
        }
    }
}

/// A way through the graph.
#[derive(Clone, Copy)]
pub struct FramePath {
    /// Packets of a frame.
    pub frame_size: usize,
    /// Buffers that go around, each with a descriptor; one comes again when all others were there.
    pub pool: usize,
    /// Bytes from one buffer to the next.
    pub buffer_bytes: u64,
    /// The place to which the device writes.
    pub device: CacheLevel,
    /// Frames of which accesses are counted, once the pool has gone around.
    pub frames: usize,
}

/// The accesses of a node to a kind of data, per packet.
pub struct Found {
    /// The node.
    pub node: Node,
    /// The data.
    pub kind: Kind,
    /// The number that found their line in L2, and not in L1.
    pub l2: f64,
    /// The number that found it in no cache.
    pub memory: f64,
}

/// Places in memory, apart from each other.
const RECEIVE_RING: u64 = 1 << 40;
const TRANSMIT_RING: u64 = 2 << 40;
const VECTORS: u64 = 3 << 40;
/// Bytes from one node's vector of indices to the next: the largest frame's and a line.
const VECTOR: u64 = FRAME_MAX as u64 * INDEX + core_model::LINE;

impl FramePath {
    /// The address of a kind of data of a packet, which is the frame's at `row`.
    fn address(&self, node: Node, kind: Kind, (packet, row): (u64, u64)) -> u64 {
        let buffer = packet % self.pool as u64;
        match (kind, node) {
            (Kind::Descriptor, Node::Transmit) => TRANSMIT_RING + buffer * DESCRIPTOR,
            (Kind::Descriptor, _) => RECEIVE_RING + buffer * DESCRIPTOR,
            // A node reads what the one before wrote.
            (Kind::Index, _) => VECTORS + (node as u64).saturating_sub(1) * VECTOR + row * INDEX,
            (Kind::Metadata, _) => buffer * self.buffer_bytes,
            (Kind::Data, _) => buffer * self.buffer_bytes + core_model::LINE,
        }
    }

    /// Takes frames through the graph.
    fn go(&self, core: &mut Core) {
        let warm_up = self.pool.div_ceil(self.frame_size);
        for frame in 0..warm_up + self.frames {
            if frame == warm_up {
                core.clear_stalls();
            }
            let size = self.frame_size as u64;
            let packets = (0..size)
                .map(|row| (frame as u64 * size + row, row))
                .collect_vec();
            for &packet in &packets {
                for kind in [Kind::Descriptor, Kind::Data] {
                    let line = self.address(Node::Receive, kind, packet);
                    match self.device {
                        CacheLevel::L2 => core.place_in_l2(line),
                        CacheLevel::Llc | CacheLevel::Dram => core.device_writes(line),
                    }
                }
            }
            for node in Node::ALL {
                for &packet in &packets {
                    touch(core, *self, node, packet);
                }
            }
        }
    }
}

/// The accesses of a node to a packet, one after the other.
fn touch(core: &mut Core, path: FramePath, node: Node, packet: (u64, u64)) {
    let mut load = |node_of_address, kind| {
        core.load(
            path.address(node_of_address, kind, packet),
            site(node, kind),
        );
        core.drain();
    };
    node.touches().iter().for_each(|kind| load(node, *kind));
    // It hands the packet on.
    if let (true, Some(next)) = (node != Node::Receive, Node::ALL.get(node as usize + 1)) {
        load(*next, Kind::Index);
    }
}

fn site(node: Node, kind: Kind) -> Site {
    Site(node as u8 * 8 + kind as u8)
}

/// Takes frames through the graph, and counts where lines were found.
pub fn run(hardware: Parameters, path: FramePath) -> Vec<Found> {
    let mut core = Core::new(hardware, 1);
    path.go(&mut core);
    let packets = (path.frames * path.frame_size) as f64;
    let found = |node: Node, kind: Kind| {
        let Stall {
            from_l2,
            from_memory,
            ..
        } = core.stalls(site(node, kind));
        Found {
            node,
            kind,
            l2: from_l2 as f64 / packets,
            memory: from_memory as f64 / packets,
        }
    };
    Node::ALL
        .into_iter()
        .flat_map(|node| node.touches().iter().map(move |&kind| (node, kind)))
        .map(|(node, kind)| found(node, kind))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A72: Parameters = Parameters {
        work: 0.0,
        window: 0.0,
        l2: 20.0,
        dram: 100.0,
        dram_spread: 0.0,
        translation: 0.0,
        tlb_entries: 32,
        second_tlb: 0.0,
        second_tlb_entries: 0,
        page_bytes: 4096,
        fill_buffers: 6,
        prefetch_issue: 1.0,
        l1_bytes: 32 << 10,
        l1_ways: 2,
        l2_bytes: 512 << 10,
        l2_ways: 16,
    };
    const PATH: FramePath = FramePath {
        frame_size: 64,
        pool: 1024,
        buffer_bytes: 4160,
        device: CacheLevel::Dram,
        frames: 32,
    };

    fn of(path: FramePath, node: Node, kind: Kind) -> [f64; 2] {
        let found = run(A72, path);
        let found = found
            .iter()
            .find(|found| found.node == node && found.kind == kind)
            .unwrap();
        [found.l2, found.memory]
    }

    #[test]
    fn the_first_look_at_what_the_device_wrote_goes_to_memory() {
        assert_eq!(of(PATH, Node::EthernetInput, Kind::Data), [0.0, 1.0]);
        let [l2, memory] = of(PATH, Node::Receive, Kind::Descriptor);
        assert_eq!(memory, 0.5, "two descriptors have a line");
        assert!(
            l2 < 0.01,
            "{l2}: hardly ever another line of the set comes between the two"
        );
        let stashed = FramePath {
            device: CacheLevel::L2,
            ..PATH
        };
        assert_eq!(of(stashed, Node::EthernetInput, Kind::Data), [1.0, 0.0]);
    }

    #[test]
    fn a_small_frame_stays_in_l1_and_a_large_one_does_not() {
        assert_eq!(of(PATH, Node::L2Input, Kind::Data), [0.0, 0.0]);
        assert_eq!(
            of(
                FramePath {
                    frame_size: 1024,
                    ..PATH
                },
                Node::L2Input,
                Kind::Data
            ),
            [1.0, 0.0]
        );
    }

    #[test]
    fn a_large_pool_pushes_its_metadata_out_of_l2() {
        assert_eq!(of(PATH, Node::Receive, Kind::Metadata), [1.0, 0.0]);
        assert_eq!(
            of(
                FramePath {
                    pool: 16_384,
                    ..PATH
                },
                Node::Receive,
                Kind::Metadata
            ),
            [0.0, 1.0]
        );
    }

    #[test]
    fn buffers_at_an_even_distance_share_few_sets() {
        // 32 lines: every 8th buffer has the same sets of L1.
        let even = FramePath {
            buffer_bytes: 2048,
            ..PATH
        };
        assert_eq!(of(even, Node::L2Input, Kind::Data), [1.0, 0.0]);
    }
}
