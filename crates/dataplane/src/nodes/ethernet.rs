//! `ethernet-input`: the first look at a packet.

use super::{error, ethernet_line, info};
use crate::buffers::Buffer;
use crate::frame::Frame;
use crate::graph::{DROP, FIRST_ARC, Node, PUNT, Reason, Verdict};
use crate::memory::{InFrame, PacketMemory};
use crate::plane::{Mode, Plane};
use crate::walk::{Body, walk};

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
const ARP: u8 = 6;

const REASONS: [Reason; 7] = [
    error("ethernet header or payload truncated"),
    error("packet longer than the interface's mtu"),
    error("l3 mac mismatch"),
    error("unknown vlan"),
    error("unknown ethernet type"),
    error("source address is a group"),
    info("arp or ip6 to the host"),
];

/// Classifies packets: cross connected or routed, tagged or not. Arcs: drop, punt, l2-input, ip4-input.
#[derive(Default)]
pub struct EthernetInput;

/// What the loop needs of the interface.
struct Interface {
    cross_connect: bool,
    mac: u64,
    longest: u16,
    vlans: Vec<u16>,
}

struct Classify {
    interface: Interface,
}

/// The first 16 bytes as two numbers, first byte lowest: whole registers, never bytes, on the common path.
#[derive(Clone, Copy, Default)]
struct Loaded {
    low: u64,
    high: u64,
    length: u16,
}

const MAC_BITS: u64 = 0xffff_ffff_ffff;
const TYPE_IP4: u16 = u16::from_le_bytes([0x08, 0x00]);
const TYPE_ARP: u16 = u16::from_le_bytes([0x08, 0x06]);
const TYPE_IP6: u16 = u16::from_le_bytes([0x86, 0xdd]);
const TYPE_TAG: u16 = u16::from_le_bytes([0x81, 0x00]);

impl Loaded {
    #[inline(always)]
    fn destination(self) -> u64 {
        self.low & MAC_BITS
    }

    /// The lowest bit of an address's first byte says that it is a group.
    #[inline(always)]
    fn source_is_group(self) -> bool {
        self.low & (1 << 48) != 0
    }

    #[inline(always)]
    fn ether_type(self) -> u16 {
        (self.high >> 32) as u16
    }
}

impl<M: PacketMemory> Body<M> for Classify {
    type Loaded = Loaded;

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, lane: usize) -> Loaded {
        let meta = memory.meta(frame, lane);
        let (buffer, at) = (frame.buffer[lane], meta.offset as usize);
        Loaded { low: memory.load_u64(buffer, at), high: memory.load_u64(buffer, at + 8), length: meta.length }
    }

    #[inline(always)]
    fn finish(&mut self, memory: &mut M, frame: &mut Frame, lane: usize, loaded: Loaded) -> u8 {
        let length = loaded.length;
        let common = (length <= self.interface.longest) & !loaded.source_is_group();
        let (plain, next) = if self.interface.cross_connect {
            (common & (length >= HEADER) & (loaded.ether_type() != TYPE_TAG), NEXT_L2)
        } else {
            let ours = loaded.destination() == self.interface.mac;
            (common & (length >= SHORTEST_IP4) & ours & (loaded.ether_type() == TYPE_IP4), NEXT_IP4)
        };
        let next = if plain { next } else { look_again(&self.interface, memory, frame, lane, loaded) };
        memory.set_meta(frame, lane, HEADER as u8, next);
        next
    }
}

/// The packet is not of the common kind.
#[cold]
#[inline(never)]
fn look_again<M: PacketMemory>(
    interface: &Interface,
    memory: &mut M,
    frame: &mut Frame,
    lane: usize,
    loaded: Loaded,
) -> u8 {
    let (arc, reason) = judge(interface, memory, frame, lane, loaded);
    frame.reason[lane] = reason;
    arc
}

/// Arc and reason; the reason means nothing on arcs that lead on.
fn judge<M: PacketMemory>(
    interface: &Interface,
    memory: &mut M,
    frame: &mut Frame,
    lane: usize,
    loaded: Loaded,
) -> (u8, u8) {
    let length = loaded.length;
    if length < HEADER {
        return (DROP, TRUNCATED);
    }
    if loaded.source_is_group() {
        return (DROP, BAD_SOURCE);
    }
    let mut kind = loaded.ether_type();
    let tagged = kind == TYPE_TAG;
    if length > interface.longest + if tagged { TAG } else { 0 } {
        return (DROP, GIANT);
    }
    if tagged {
        if length < HEADER + TAG {
            return (DROP, TRUNCATED);
        }
        let [.., high, low] = loaded.high.to_le_bytes();
        if !interface.vlans.contains(&u16::from_be_bytes([high & 0x0f, low])) {
            return (DROP, UNKNOWN_VLAN);
        }
    }
    if interface.cross_connect {
        return (NEXT_L2, 0);
    }
    let to_group = loaded.low & 1 != 0;
    if loaded.destination() != interface.mac && !to_group {
        return (DROP, NOT_OURS);
    }
    if tagged {
        kind = remove_tag(memory, frame.buffer[lane], length);
        frame.length[lane] = length - TAG;
    }
    match kind {
        TYPE_IP4 if frame.length[lane] < SHORTEST_IP4 => (DROP, TRUNCATED),
        TYPE_IP4 => (NEXT_IP4, 0),
        TYPE_ARP | TYPE_IP6 => (PUNT, ARP),
        _ => (DROP, UNKNOWN_TYPE),
    }
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
        let interface = &plane.interfaces[frame.rx as usize];
        let interface = Interface {
            cross_connect: matches!(interface.mode, Mode::CrossConnect { .. }),
            mac: interface.mac.bits(),
            longest: interface.mtu + HEADER,
            vlans: interface.vlans.clone(),
        };
        let mut body = Classify { interface };
        let settings = plane.settings;
        walk(settings.shape, settings.strides, &mut InFrame(&mut plane.pool), frame, &mut body).into()
    }

    fn trace(&self, plane: &Plane, frame: &Frame, lane: usize) -> Vec<String> {
        vec![ethernet_line(plane.pool.data(frame.buffer[lane]))]
    }
}
