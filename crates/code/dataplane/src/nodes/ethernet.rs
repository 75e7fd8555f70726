//! `ethernet-input`: the first node that reads a packet.

use crate::adjacency::{GROUP, LOCAL};
use crate::arcs::{DROP, FIRST_ARC, PUNT, Verdict};
use crate::buffers::Buffer;
use crate::fib::Fib;
use crate::frame::Frame;
use crate::memory::{InFrame, PacketMemory};
use crate::node::{Node, Reason};
use crate::plane::{Mode, Plane};
use crate::trace::ethernet_line;
use crate::walk::{Body, rare, rows_of, walk};

/// Bytes of an Ethernet header.
const HEADER: u16 = 14;
/// Bytes of an 802.1Q tag.
const TAG: u16 = 4;
/// The shortest IPv4 header behind an Ethernet header.
const SHORTEST_IP4: u16 = HEADER + 20;

const NEXT_L2: u8 = FIRST_ARC;
const NEXT_IP4: u8 = FIRST_ARC + 1;

const TRUNCATED: u8 = 0;
const GIANT: u8 = 1;
const NOT_OURS: u8 = 2;
const UNKNOWN_VLAN: u8 = 3;
const UNKNOWN_TYPE: u8 = 4;
const BAD_SOURCE: u8 = 5;
const IP6: u8 = 6;
const UNICAST_TO_GROUP: u8 = 7;
const ARP: u8 = 8;

const REASONS: [Reason; 9] = [
    Reason::error("ethernet header or payload truncated"),
    Reason::error("packet longer than the interface's mtu"),
    Reason::error("l3 mac mismatch"),
    Reason::error("packet of a vlan"),
    Reason::error("unknown ethernet type"),
    Reason::error("source address is a group"),
    Reason::info("ip6 to the host"),
    Reason::error("ip4 for one host in a frame for several"),
    Reason::info("arp to the host"),
];

/// Classifies packets: cross connected or routed, tagged or not. Arcs: drop, punt, l2-input,
/// ip4-input.
pub struct EthernetInput;

/// The fields of an interface that the loop needs.
struct Interface {
    mac: u64,
    longest: u16,
}

/// The loop of an interface that is cross connected, or of one that routes.
struct Classify<'a, const CROSS_CONNECT: bool> {
    interface: Interface,
    routes: &'a Fib,
}

/// The addresses' first eight bytes as a number, first byte lowest, and the EtherType as it lies in
/// memory.
#[derive(Clone, Copy, Default)]
struct Loaded {
    addresses: u64,
    ether_type: u16,
    length: u16,
}

const MAC_BITS: u64 = 0xffff_ffff_ffff;
/// The lowest bit of the source address's first byte.
const SOURCE_IS_GROUP: u64 = 1 << 48;
const TYPE_IP4: u16 = u16::from_le_bytes([0x08, 0x00]);
const TYPE_ARP: u16 = u16::from_le_bytes([0x08, 0x06]);
const TYPE_IP6: u16 = u16::from_le_bytes([0x86, 0xdd]);
const TYPE_TAG: u16 = u16::from_le_bytes([0x81, 0x00]);
/// A provider's tag (802.1ad).
const TYPE_PROVIDER_TAG: u16 = u16::from_le_bytes([0x88, 0xa8]);

impl<const CROSS_CONNECT: bool> Classify<'_, CROSS_CONNECT> {
    /// Arc of a common packet.
    #[inline(always)]
    fn arc(&self) -> u8 {
        if CROSS_CONNECT { NEXT_L2 } else { NEXT_IP4 }
    }
}

impl<M: PacketMemory, const CROSS_CONNECT: bool> Body<M> for Classify<'_, CROSS_CONNECT> {
    const IN_BLOCKS: bool = !CROSS_CONNECT;
    type Loaded = Loaded;

    #[inline(always)]
    fn expected(&self, _frame: &Frame, _row: usize) -> u8 {
        self.arc()
    }

    #[inline(always)]
    fn work<const N: usize>(
        &mut self,
        memory: &mut M,
        frame: &mut Frame,
        row: usize,
        _expected: u8,
    ) -> usize {
        let lengths = rows_of::<N, _>(&frame.length, row);
        let longest = self.interface.longest;
        rare!(lengths.map(|length| SHORTEST_IP4.saturating_sub(length)) != [0; N] => 0);
        rare!(lengths.map(|length| length.saturating_sub(longest)) != [0; N] => 0);
        for (n, &buffer) in rows_of::<N, _>(&frame.buffer, row).iter().enumerate() {
            rare!(memory.load_u64(buffer, 0) & MAC_BITS != self.interface.mac => n);
            rare!(u16::from_le_bytes(memory.load(buffer, 12)) != TYPE_IP4 => n);
        }
        N
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> Loaded {
        let buffer = frame.buffer[row];
        Loaded {
            addresses: memory.load_u64(buffer, 0),
            ether_type: u16::from_le_bytes(memory.load(buffer, 12)),
            length: frame.length[row],
        }
    }

    #[inline(always)]
    fn finish(
        &mut self,
        memory: &mut M,
        frame: &mut Frame,
        row: usize,
        loaded: Loaded,
    ) -> Option<u8> {
        if CROSS_CONNECT {
            rare!(loaded.addresses & SOURCE_IS_GROUP != 0 => None);
            rare!(loaded.ether_type == TYPE_TAG => None);
            rare!(loaded.length < HEADER => None);
            rare!(loaded.length > self.interface.longest => None);
        } else {
            rare!(self.work::<1>(memory, frame, row, NEXT_IP4) == 0 => None);
        }
        Some(self.arc())
    }

    fn slow_path(&mut self, memory: &mut M, frame: &mut Frame, row: usize) -> u8 {
        let loaded = self.load(memory, frame, row);
        let (next, reason) = arc_and_reason::<M, CROSS_CONNECT>(self, memory, frame, row, loaded);
        frame.reason[row] = reason;
        next
    }
}

/// Arc and reason; the reason means nothing on arcs that lead on.
fn arc_and_reason<M: PacketMemory, const CROSS_CONNECT: bool>(
    classify: &Classify<'_, CROSS_CONNECT>,
    memory: &mut M,
    frame: &mut Frame,
    row: usize,
    loaded: Loaded,
) -> (u8, u8) {
    let Classify { interface, routes } = classify;
    let Loaded {
        addresses,
        ether_type,
        length,
    } = loaded;
    if length < HEADER {
        return (DROP, TRUNCATED);
    }
    // A bridge drops these, and a router does not care.
    if CROSS_CONNECT && addresses & SOURCE_IS_GROUP != 0 {
        return (DROP, BAD_SOURCE);
    }
    // A cross connect leaves tags alone, as a bridge does; a provider's tag counts as payload.
    let tagged = ether_type == TYPE_TAG || (!CROSS_CONNECT && ether_type == TYPE_PROVIDER_TAG);
    if length > interface.longest + if tagged { TAG } else { 0 } {
        return (DROP, GIANT);
    }
    if tagged && length < HEADER + TAG {
        return (DROP, TRUNCATED);
    }
    if CROSS_CONNECT {
        return (NEXT_L2, 0);
    }
    let to_group = addresses & 1 != 0;
    if addresses & MAC_BITS != interface.mac && !to_group {
        return (DROP, NOT_OURS);
    }
    let mut kind = ether_type;
    while kind == TYPE_TAG || kind == TYPE_PROVIDER_TAG {
        if frame.length[row] < HEADER + TAG {
            return (DROP, TRUNCATED);
        }
        // VLAN 0 is none, whatever the tag and however many there are: it says a priority only.
        if vlan(memory, frame.buffer[row]) != 0 {
            return (DROP, UNKNOWN_VLAN);
        }
        kind = remove_tag(memory, frame.buffer[row], frame.length[row]);
        frame.length[row] -= TAG;
    }
    match kind {
        TYPE_IP4 if frame.length[row] < SHORTEST_IP4 => (DROP, TRUNCATED),
        TYPE_IP4 if to_group => {
            // A packet for one host that came in a frame for several is dropped: each of them would
            // forward a copy (RFC 1122, section 3.3.6).
            let destination = memory
                .load_u32(frame.buffer[row], HEADER as usize + 16)
                .swap_bytes();
            match routes.reader().lookup(destination) {
                LOCAL | GROUP => (NEXT_IP4, 0),
                _ => (DROP, UNICAST_TO_GROUP),
            }
        }
        TYPE_IP4 => (NEXT_IP4, 0),
        TYPE_ARP => (PUNT, ARP),
        TYPE_IP6 => (PUNT, IP6),
        _ => (DROP, UNKNOWN_TYPE),
    }
}

/// The VLAN of the packet's first tag.
fn vlan<M: PacketMemory>(memory: &mut M, buffer: Buffer) -> u16 {
    u16::from_be_bytes(memory.load(buffer, HEADER as usize)) & 0x0fff
}

/// Moves the packet over its tag, and returns the EtherType that stood behind it.
fn remove_tag<M: PacketMemory>(memory: &mut M, buffer: Buffer, length: u16) -> u16 {
    for at in 12..(length - TAG) as usize {
        let byte = memory.load::<1>(buffer, at + TAG as usize);
        memory.store(buffer, at, byte);
    }
    u16::from_le_bytes(memory.load(buffer, 12))
}

impl Node for EthernetInput {
    fn name(&self) -> &str {
        "ethernet-input"
    }

    fn reasons(&self) -> &'static [Reason] {
        &REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        let Plane {
            pool,
            interfaces,
            tables,
            settings,
            ..
        } = plane;
        let there = &interfaces[frame.rx as usize];
        let interface = Interface {
            mac: there.mac.bits(),
            longest: there.mtu + HEADER,
        };
        let routes = &tables.routes;
        let mut memory = InFrame::new(pool);
        match there.mode {
            Mode::CrossConnect { .. } => {
                let mut body = Classify::<true> { interface, routes };
                walk(
                    settings.shape,
                    settings.strides,
                    &mut memory,
                    frame,
                    &mut body,
                )
            }
            Mode::Route => {
                let mut body = Classify::<false> { interface, routes };
                walk(
                    settings.shape,
                    settings.strides,
                    &mut memory,
                    frame,
                    &mut body,
                )
            }
        }
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        vec![ethernet_line(plane.pool.data(frame.buffer[row]))]
    }
}
