//! `ethernet-input`: the first look at a packet.

use super::{error, ethernet_line, info};
use crate::buffers::Buffer;
use crate::frame::Frame;
use crate::graph::{Arcs, DROP, FIRST_ARC, Node, PUNT, Reason, Verdict};
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
    arcs: Arcs,
}

#[derive(Clone, Copy)]
struct Loaded {
    first: [u8; 16],
    length: u16,
}

impl<M: PacketMemory> Body<M> for Classify {
    type Loaded = Loaded;

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, lane: usize) -> Loaded {
        let meta = memory.meta(frame, lane);
        Loaded { first: memory.load(frame.buffer[lane], meta.offset as usize), length: meta.length }
    }

    #[inline(always)]
    fn finish(&mut self, memory: &mut M, frame: &mut Frame, lane: usize, loaded: Loaded) {
        let Loaded { first, length } = loaded;
        let [a, b, c, d, e, f, g, h, ..] = first;
        let destination = u64::from_le_bytes([a, b, c, d, e, f, g, h]) & 0xffff_ffff_ffff;
        let fits = length <= self.interface.longest;
        let source_is_group = g & 1 != 0;
        let next = if self.interface.cross_connect {
            let tagged = first[12] == 0x81 && first[13] == 0;
            if length >= HEADER && fits && !source_is_group && !tagged {
                NEXT_L2
            } else {
                self.look_again(memory, frame, lane, loaded)
            }
        } else {
            let is_ip4 = first[12] == 0x08 && first[13] == 0;
            let ours = destination == self.interface.mac;
            if length >= SHORTEST_IP4 && fits && ours && is_ip4 && !source_is_group {
                NEXT_IP4
            } else {
                self.look_again(memory, frame, lane, loaded)
            }
        };
        self.arcs.take(next);
        memory.set_meta(frame, lane, HEADER as u8, next);
    }
}

impl Classify {
    /// The packet is not of the common kind.
    #[cold]
    fn look_again<M: PacketMemory>(&self, memory: &mut M, frame: &mut Frame, lane: usize, loaded: Loaded) -> u8 {
        let Loaded { first, length } = loaded;
        let mut end = |arc: u8, reason: u8| {
            frame.reason[lane] = reason;
            arc
        };
        if length < HEADER {
            return end(DROP, TRUNCATED);
        }
        if first[6] & 1 != 0 {
            return end(DROP, BAD_SOURCE);
        }
        let tagged = first[12] == 0x81 && first[13] == 0;
        if length > self.interface.longest + if tagged { TAG } else { 0 } {
            return end(DROP, GIANT);
        }
        if tagged {
            if length < HEADER + TAG {
                return end(DROP, TRUNCATED);
            }
            let vlan = u16::from_be_bytes([first[14] & 0x0f, first[15]]);
            if !self.interface.vlans.contains(&vlan) {
                return end(DROP, UNKNOWN_VLAN);
            }
        }
        if self.interface.cross_connect {
            return NEXT_L2;
        }
        let [a, b, c, d, e, f, g, h, ..] = first;
        let destination = u64::from_le_bytes([a, b, c, d, e, f, g, h]) & 0xffff_ffff_ffff;
        if destination != self.interface.mac && a & 1 == 0 {
            return end(DROP, NOT_OURS);
        }
        let mut kind = [first[12], first[13]];
        if tagged {
            kind = remove_tag(memory, frame.buffer[lane], length);
            frame.length[lane] = length - TAG;
        }
        let mut end = |arc: u8, reason: u8| {
            frame.reason[lane] = reason;
            arc
        };
        match kind {
            [0x08, 0x00] if frame.length[lane] < SHORTEST_IP4 => end(DROP, TRUNCATED),
            [0x08, 0x00] => NEXT_IP4,
            [0x08, 0x06] | [0x86, 0xdd] => end(PUNT, ARP),
            _ => end(DROP, UNKNOWN_TYPE),
        }
    }
}

/// Moves the packet over its tag, and returns the EtherType that stood behind it.
fn remove_tag<M: PacketMemory>(memory: &mut M, buffer: Buffer, length: u16) -> [u8; 2] {
    for at in 12..(length - TAG) as usize {
        let byte = memory.load::<1>(buffer, at + TAG as usize);
        memory.store(buffer, at, byte);
    }
    if length >= HEADER + TAG { memory.load(buffer, 12) } else { [0; 2] }
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
        let mut body = Classify { interface, arcs: Arcs::default() };
        let settings = plane.settings;
        walk(settings.shape, settings.strides, &mut InFrame(&mut plane.pool), frame, &mut body);
        body.arcs.verdict()
    }

    fn trace(&self, plane: &Plane, frame: &Frame, lane: usize) -> Vec<String> {
        vec![ethernet_line(plane.pool.data(frame.buffer[lane]))]
    }
}
