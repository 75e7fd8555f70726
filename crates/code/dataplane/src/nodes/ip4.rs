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
use crate::walk::{Body, Strides, rare, walk};
use std::net::Ipv4Addr;

/// An earlier node has just read the packet's first line: there is nothing to prefetch.
const HOT: Strides = Strides::NONE;

/// Offset of the network header in bytes: tags are gone by now.
const L3: usize = 14;

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

/// A header as numbers, the first byte lowest, and parts of it as the common path needs them: a
/// part is cheaper to load than to cut out.
#[derive(Clone, Copy, Default)]
struct Header {
    first: u64,
    second: u64,
    third: u32,
    version_and_length: u8,
    total_length: u16,
    /// The source's first byte.
    source_start: u8,
}

impl Header {
    #[inline(always)]
    fn load<M: PacketMemory>(memory: &mut M, frame: &Frame, row: usize) -> Self {
        let buffer = frame.buffer[row];
        let byte = |memory: &mut M, at: usize| memory.load::<1>(buffer, at)[0];
        Self {
            first: memory.load_u64(buffer, L3),
            second: memory.load_u64(buffer, L3 + 8),
            third: memory.load_u32(buffer, L3 + 16),
            version_and_length: byte(memory, L3),
            total_length: u16::from_be_bytes(memory.load(buffer, L3 + 2)),
            source_start: byte(memory, L3 + 12),
        }
    }

    #[inline(always)]
    fn source(self) -> u32 {
        ((self.second >> 32) as u32).swap_bytes()
    }

    #[inline(always)]
    fn destination(self) -> u32 {
        self.third.swap_bytes()
    }

    /// True if the header needs no slow path.
    #[inline(always)]
    fn is_plain(self, length: u16, largest_product: u64) -> bool {
        rare!(self.version_and_length != 0x45 => false);
        rare!(length < L3 as u16 + 20 => false);
        rare!(self.total_length != length - L3 as u16 => false);
        rare!(NO_HOST[self.source_start as usize] => false);
        rare!(checksum::header_product(self.first, self.second, self.third) > largest_product => false);
        true
    }
}

impl<M: PacketMemory> Body<M> for Validate {
    type Loaded = Header;

    #[inline(always)]
    fn expected(&self, _frame: &Frame) -> u8 {
        FIRST_ARC
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> Header {
        Header::load(memory, frame, row)
    }

    #[inline(always)]
    fn finish(
        &mut self,
        _memory: &mut M,
        frame: &mut Frame,
        row: usize,
        header: Header,
    ) -> Option<u8> {
        header
            .is_plain(frame.length[row], self.largest_product)
            .then_some(FIRST_ARC)
    }

    /// Finds the first reason of the list that holds for a header which is not plain. Padding is
    /// cut off.
    fn slow_path(&mut self, memory: &mut M, frame: &mut Frame, row: usize) -> u8 {
        let header = Header::load(memory, frame, row);
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
    let (source, destination) = (
        Ipv4Addr::from(header.source()),
        Ipv4Addr::from(header.destination()),
    );
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
    type Loaded = u16;

    #[inline(always)]
    fn expected(&self, _frame: &Frame) -> u8 {
        FIRST_ARC
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> u16 {
        self.fib
            .lookup(memory.load_u32(frame.buffer[row], L3 + 16).swap_bytes())
    }

    #[inline(always)]
    fn finish(
        &mut self,
        _memory: &mut M,
        frame: &mut Frame,
        row: usize,
        adjacency: u16,
    ) -> Option<u8> {
        frame.adjacency[row] = adjacency;
        rare!(adjacency < FIRST_NEIGHBOUR => None);
        Some(FIRST_ARC)
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
    /// The buffer, and the bytes from the TTL to the checksum.
    type Loaded = (Buffer, u32);

    #[inline(always)]
    fn expected(&self, frame: &Frame) -> u8 {
        FIRST_ARC + self.adjacencies.rewrite(frame.adjacency[0]).interface() as u8
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> (Buffer, u32) {
        let buffer = frame.buffer[row];
        (buffer, memory.load_u32(buffer, L3 + 8))
    }

    #[inline(always)]
    fn finish(
        &mut self,
        memory: &mut M,
        frame: &mut Frame,
        row: usize,
        (buffer, loaded): (Buffer, u32),
    ) -> Option<u8> {
        let rewrite = self.adjacencies.rewrite(frame.adjacency[row]);
        rare!(loaded as u8 <= 1 => None);
        rare!(!rewrite.takes(frame.length[row]) => None);
        Some(FIRST_ARC + write(memory, buffer, loaded, rewrite))
    }

    fn slow_path(&mut self, memory: &mut M, frame: &mut Frame, row: usize) -> u8 {
        let [ttl] = memory.load(frame.buffer[row], L3 + 8);
        frame.reason[row] = if ttl <= 1 { EXPIRED } else { TOO_BIG };
        PUNT
    }
}

/// Returns the interface.
#[inline(always)]
fn write<M: PacketMemory>(
    memory: &mut M,
    buffer: Buffer,
    ttl_to_checksum: u32,
    rewrite: Rewrite,
) -> u8 {
    memory.store(
        buffer,
        L3 + 8,
        checksum::decrement_ttl(ttl_to_checksum).to_le_bytes(),
    );
    memory.store(buffer, 0, rewrite.at_0());
    memory.store(buffer, 6, rewrite.at_6());
    rewrite.interface() as u8
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
