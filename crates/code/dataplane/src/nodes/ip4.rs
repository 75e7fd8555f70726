//! `ip4-input`, `ip4-lookup`, `ip4-rewrite`, and all of them in one loop.

use crate::adjacency::{self, DISCARD, FIRST_NEIGHBOUR, GROUP, LOCAL, MARTIAN, Rewrite};
use crate::arcs::{DROP, FIRST_ARC, PUNT, Verdict};
use crate::buffers::Buffer;
use crate::checksum;
use crate::fib::Reader;
use crate::frame::Frame;
use crate::memory::{InFrame, PacketMemory};
use crate::node::{Node, Reason};
use crate::plane::Plane;
use crate::trace::ip4_lines;
use crate::walk::{Body, Strides, rare, rows_of, walk};
use std::hint::cold_path;
use std::net::Ipv4Addr;

/// An earlier node has just read the packet's first line: there is nothing to prefetch.
const HOT: Strides = Strides::NONE;

/// Offset of the network header in bytes: tags are gone by now.
const L3: usize = 14;

/// Bytes of the shortest packet, from the Ethernet header on.
const SHORTEST: u16 = L3 as u16 + 20;

/// Reasons of `ip4-input`.
mod bad {
    pub const SHORT: u8 = 0;
    pub const VERSION: u8 = 1;
    pub const LENGTH: u8 = 2;
    pub const CHECKSUM: u8 = 3;
    pub const SOURCE: u8 = 4;
    pub const BROADCAST: u8 = 5;
    pub const OPTIONS: u8 = 6;
}

const INPUT_REASONS: [Reason; 7] = [
    Reason::error("ip4 header truncated"),
    Reason::error("ip4 version or header length wrong"),
    Reason::error("ip4 length > l2 length"),
    Reason::error("bad ip4 checksum"),
    Reason::error("ip4 source is of no host"),
    Reason::info("ip4 from no address or to everyone"),
    Reason::info("ip4 options to the host"),
];

/// Validates IPv4 headers. Arcs: drop, punt, ip4-lookup.
pub struct Ip4Input;

struct Validate {
    verify_checksum: bool,
    largest_product: u64,
}

/// The largest value that [`checksum::header_product`] may have.
fn largest_product(verify_checksum: bool) -> u64 {
    if verify_checksum {
        checksum::LARGEST_VALID_PRODUCT
    } else {
        u64::MAX
    }
}

/// True for the first bytes of addresses that no host has. One byte from the cache is what a loop
/// can afford.
static NO_HOST: [bool; 256] = {
    let mut no_host = [false; 256];
    let mut first = 0;
    while first < 256 {
        no_host[first] = matches!(first, 0 | 127 | 224..);
        first += 1;
    }
    no_host
};

/// The fields of an IPv4 header that the nodes read, without its checksum.
struct Header {
    version_and_length: u8,
    total_length: u16,
    source: Ipv4Addr,
    destination: Ipv4Addr,
}

impl Header {
    #[inline(always)]
    fn load<M: PacketMemory>(memory: &mut M, buffer: Buffer) -> Self {
        let [version_and_length] = memory.load(buffer, L3);
        Self {
            version_and_length,
            total_length: u16::from_be_bytes(memory.load(buffer, L3 + 2)),
            source: memory.load(buffer, L3 + 12).into(),
            destination: memory.load(buffer, L3 + 16).into(),
        }
    }
}

impl<M: PacketMemory> Body<M> for Validate {
    const IN_BLOCKS: bool = true;
    type Loaded = ();

    #[inline(always)]
    fn expected(&self, _frame: &Frame, _row: usize) -> u8 {
        FIRST_ARC
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
        for (n, &buffer) in rows_of::<N, _>(&frame.buffer, row).iter().enumerate() {
            let header = Header::load(memory, buffer);
            rare!(header.version_and_length != 0x45 => n);
            let length = header.total_length.wrapping_add(L3 as u16);
            rare!(length < SHORTEST => n);
            rare!(length != lengths[n] => n);
            rare!(NO_HOST[header.source.octets()[0] as usize] => n);
            let [first, second] = [L3, L3 + 8].map(|at| memory.load_u64(buffer, at));
            let third = memory.load_u32(buffer, L3 + 16);
            rare!(checksum::header_product(first, second, third) > self.largest_product => n);
        }
        N
    }

    /// Finds the first reason of the list that holds for a header which is not plain. Padding is
    /// cut off.
    fn slow_path(&mut self, memory: &mut M, frame: &mut Frame, row: usize) -> u8 {
        let header = Header::load(memory, frame.buffer[row]);
        let available = (frame.length[row] as usize).saturating_sub(L3);
        let header_bytes = (header.version_and_length & 15) as usize * 4;
        let total = header.total_length as usize;
        let (arc, reason) = if available < 20 {
            (DROP, bad::SHORT)
        } else if header.version_and_length >> 4 != 4 || header_bytes < 20 {
            (DROP, bad::VERSION)
        } else if total > available || total < header_bytes {
            (DROP, bad::LENGTH)
        } else if self.verify_checksum
            && header_checksum(memory, frame, row, header_bytes) != 0xffff
        {
            (DROP, bad::CHECKSUM)
        } else {
            // Padding behind the packet: it ends here.
            frame.length[row] = (total + L3) as u16;
            match source_verdict(header) {
                (FIRST_ARC, _) if header_bytes > 20 => (PUNT, bad::OPTIONS),
                other => other,
            }
        };
        frame.reason[row] = reason;
        arc
    }
}

/// The verdict on a packet by its source, as the kernel decides it.
fn source_verdict(header: Header) -> (u8, u8) {
    let Header {
        source,
        destination,
        ..
    } = header;
    let to_all =
        destination.is_broadcast() || (source.is_unspecified() && destination.is_unspecified());
    match source.octets()[0] {
        224..=239 => (DROP, bad::SOURCE),
        _ if source.is_broadcast() => (DROP, bad::SOURCE),
        // A host that has no address yet.
        _ if to_all => (PUNT, bad::BROADCAST),
        127 => (DROP, bad::SOURCE),
        _ if source.is_unspecified() => (DROP, bad::SOURCE),
        _ => (FIRST_ARC, 0),
    }
}

/// The sum over a header with options.
fn header_checksum<M: PacketMemory>(
    memory: &mut M,
    frame: &Frame,
    row: usize,
    bytes: usize,
) -> u16 {
    let mut header = [0; 60];
    for (at, byte) in header.iter_mut().enumerate().take(bytes) {
        [*byte] = memory.load(frame.buffer[row], L3 + at);
    }
    checksum::sum(&header[..bytes])
}

impl Node for Ip4Input {
    fn name(&self) -> &str {
        "ip4-input"
    }

    fn reasons(&self) -> &'static [Reason] {
        &INPUT_REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        let Plane { pool, settings, .. } = plane;
        let verify_checksum = settings.verify_checksum;
        let mut body = Validate {
            verify_checksum,
            largest_product: largest_product(verify_checksum),
        };
        walk(
            settings.shape,
            HOT,
            &mut InFrame::new(pool),
            frame,
            &mut body,
        )
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        ip4_lines(plane, frame, row)
    }
}

const LOOKUP_REASONS: [Reason; 5] = [
    Reason::error("no route"),
    Reason::error("route drops"),
    Reason::info("packet to one of our addresses to the host"),
    Reason::error("ip4 destination is of no host"),
    Reason::info("ip4 multicast or broadcast to the host"),
];

/// Finds the adjacency. Arcs: drop, punt, ip4-rewrite.
pub struct Ip4Lookup;

struct Lookup<'a> {
    fib: Reader<'a>,
}

impl<M: PacketMemory> Body<M> for Lookup<'_> {
    const IN_BLOCKS: bool = true;
    type Loaded = ();

    #[inline(always)]
    fn expected(&self, _frame: &Frame, _row: usize) -> u8 {
        FIRST_ARC
    }

    #[inline(always)]
    fn work<const N: usize>(
        &mut self,
        memory: &mut M,
        frame: &mut Frame,
        row: usize,
        _expected: u8,
    ) -> usize {
        let buffers = rows_of::<N, _>(&frame.buffer, row);
        let adjacencies = &mut frame.adjacency[row..];
        for (n, (&buffer, place)) in buffers.iter().zip(adjacencies).enumerate() {
            let destination = memory.load_u32(buffer, L3 + 16).swap_bytes();
            let mut adjacency = self.fib.entry(destination);
            // One comparison finds what is no neighbour, and prefixes longer than 24 bits.
            if (adjacency as i16) < FIRST_NEIGHBOUR as i16 {
                cold_path();
                adjacency = self.fib.lookup(destination);
            }
            *place = adjacency;
            rare!(adjacency < FIRST_NEIGHBOUR => n);
        }
        N
    }

    fn slow_path(&mut self, _memory: &mut M, frame: &mut Frame, row: usize) -> u8 {
        let (arc, reason) = match frame.adjacency[row] {
            LOCAL => (PUNT, 2),
            DISCARD => (DROP, 1),
            MARTIAN => (DROP, 3),
            GROUP => (PUNT, 4),
            _ => (PUNT, 0),
        };
        frame.reason[row] = reason;
        arc
    }
}

impl Node for Ip4Lookup {
    fn name(&self) -> &str {
        "ip4-lookup"
    }

    fn reasons(&self) -> &'static [Reason] {
        &LOOKUP_REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        let Plane {
            pool,
            tables,
            settings,
            ..
        } = plane;
        let mut body = Lookup {
            fib: tables.routes.reader(),
        };
        walk(
            settings.shape,
            HOT,
            &mut InFrame::new(pool),
            frame,
            &mut body,
        )
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let mut lines = vec![format!("fib 0 adjacency {}", frame.adjacency[row])];
        lines.extend(ip4_lines(plane, frame, row));
        lines
    }
}

/// Reasons of `ip4-rewrite`.
const EXPIRED: u8 = 0;
const TOO_BIG: u8 = 1;

const REWRITE_REASONS: [Reason; 2] = [
    Reason::error("ip4 ttl <= 1"),
    Reason::error("ip4 length > mtu of the output"),
];

/// Decrements the TTL and writes the new Ethernet header. Arcs: drop, punt, the interfaces' outputs
/// by number.
pub struct Ip4Rewrite;

struct RewriteBody<'a> {
    adjacencies: adjacency::Reader<'a>,
}

impl<M: PacketMemory> Body<M> for RewriteBody<'_> {
    const IN_BLOCKS: bool = true;
    type Loaded = ();

    #[inline(always)]
    fn expected(&self, frame: &Frame, row: usize) -> u8 {
        self.adjacencies.rewrite(frame.adjacency[row]).arc
    }

    #[inline(always)]
    fn work<const N: usize>(
        &mut self,
        memory: &mut M,
        frame: &mut Frame,
        row: usize,
        expected: u8,
    ) -> usize {
        let adjacencies = rows_of::<N, _>(&frame.adjacency, row);
        // Packets in a row often go to the same neighbour: what is known of it stays in registers.
        let first = self.adjacencies.rewrite(adjacencies[0]);
        if *adjacencies == [adjacencies[0]; N] {
            rewrite_all::<N, M>(memory, frame, row, expected, |_| first)
        } else {
            let of = |n: usize| self.adjacencies.rewrite(adjacencies[n]);
            rewrite_all::<N, M>(memory, frame, row, expected, of)
        }
    }

    fn slow_path(&mut self, memory: &mut M, frame: &mut Frame, row: usize) -> u8 {
        let [ttl] = memory.load(frame.buffer[row], L3 + 8);
        frame.reason[row] = if ttl <= 1 { EXPIRED } else { TOO_BIG };
        PUNT
    }
}

/// Rewrites `N` packets from a row on, up to the first one that is not common; returns how many.
#[inline(always)]
fn rewrite_all<const N: usize, M: PacketMemory>(
    memory: &mut M,
    frame: &Frame,
    row: usize,
    expected: u8,
    rewrite_of: impl Fn(usize) -> Rewrite,
) -> usize {
    let lengths = rows_of::<N, _>(&frame.length, row);
    for (n, &buffer) in rows_of::<N, _>(&frame.buffer, row).iter().enumerate() {
        let rewrite = rewrite_of(n);
        rare!(lengths[n] > rewrite.longest => n);
        rare!(rewrite.arc != expected => n);
        let ttl_to_checksum = memory.load_u32(buffer, L3 + 8);
        rare!(ttl_to_checksum as u8 <= 1 => n);
        let ttl_to_checksum = checksum::decrement_ttl(ttl_to_checksum);
        memory.store(buffer, L3 + 8, ttl_to_checksum.to_le_bytes());
        memory.store(buffer, 0, rewrite.at_0);
        memory.store(buffer, 6, rewrite.at_6);
    }
    N
}

impl Node for Ip4Rewrite {
    fn name(&self) -> &str {
        "ip4-rewrite"
    }

    fn reasons(&self) -> &'static [Reason] {
        &REWRITE_REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        let Plane {
            pool,
            tables,
            settings,
            ..
        } = plane;
        let mut body = RewriteBody {
            adjacencies: tables.adjacencies.reader(),
        };
        walk(
            settings.shape,
            HOT,
            &mut InFrame::new(pool),
            frame,
            &mut body,
        )
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let mut lines = vec![format!("adjacency {}", frame.adjacency[row])];
        lines.extend(ip4_lines(plane, frame, row));
        lines
    }
}
