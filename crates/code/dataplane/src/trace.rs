//! Following packets through the graph.

use crate::arcs::{PUNT, Verdict};
use crate::buffers::DATA_BYTES;
use crate::frame::Frame;
use crate::mac::Mac;
use crate::node::Node;
use crate::plane::Plane;
use std::net::Ipv4Addr;
use std::time::Instant;

/// The trace of one packet in one node.
#[derive(Debug)]
pub struct Step {
    /// Microseconds since the tracer was made.
    pub microseconds: u64,
    /// The node's name.
    pub node: String,
    /// The node's trace, one line each.
    pub lines: Vec<String>,
}

/// The path of one packet through the graph.
#[derive(Debug, Default)]
pub struct Trace {
    /// Steps of the path, in order.
    pub steps: Vec<Step>,
}

/// Which packets are traced, and their traces so far.
pub struct Tracer {
    input: Option<String>,
    left: usize,
    traces: Vec<Trace>,
    since: Instant,
}

impl Default for Tracer {
    fn default() -> Self {
        Self {
            input: None,
            left: 0,
            traces: Vec::new(),
            since: Instant::now(),
        }
    }
}

impl Tracer {
    /// Traces are numbered in 16 bits.
    pub const MOST: usize = u16::MAX as usize;

    /// Follows the next `count` packets of an input.
    pub fn add(&mut self, input: &str, count: usize) {
        self.input = Some(input.to_owned());
        self.left = count.min(Self::MOST - self.traces.len());
    }

    /// The traces so far.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    #[inline(always)]
    pub(crate) fn wants(&self, input: &str) -> bool {
        self.left > 0 && self.input.as_deref() == Some(input)
    }

    #[cold]
    pub(crate) fn begin(&mut self, input: &str, plane: &Plane, frame: &mut Frame) {
        let count = self.left.min(frame.len);
        self.left -= count;
        frame.traced = true;
        frame.trace[..frame.len].fill(0);
        for row in 0..count {
            let interface = &plane.interfaces[frame.rx as usize];
            let lines = vec![format!(
                "{} ({}) length {} buffer {}",
                interface.name, frame.rx, frame.length[row], frame.buffer[row]
            )];
            self.traces.push(Trace {
                steps: vec![self.step(input, lines)],
            });
            frame.trace[row] = self.traces.len() as u16;
        }
    }

    #[cold]
    pub(crate) fn note(
        &mut self,
        node: &dyn Node,
        plane: &Plane,
        frame: &Frame,
        verdict: Option<Verdict>,
    ) {
        for row in 0..frame.len {
            let number = frame.trace[row] as usize;
            if number == 0 || number > self.traces.len() {
                continue;
            }
            let mut lines = node.trace(plane, frame, row);
            let arc = match verdict {
                Some(Verdict::All(arc)) => Some(arc),
                Some(Verdict::Mixed) => Some(frame.next[row]),
                Some(Verdict::Consumed) | None => None,
            };
            if let Some(arc) = arc
                && arc <= PUNT
                && let Some(reason) = node.reasons().get(frame.reason[row] as usize)
            {
                lines.push(format!("{}: {}", reason.severity.name(), reason.text));
            }
            let step = self.step(node.name(), lines);
            self.traces[number - 1].steps.push(step);
        }
    }

    fn step(&self, node: &str, lines: Vec<String>) -> Step {
        Step {
            microseconds: self.since.elapsed().as_micros() as u64,
            node: node.to_owned(),
            lines,
        }
    }
}

/// Bytes of a packet's headers, which lie within its buffer.
fn bytes<const N: usize>(data: &[u8; DATA_BYTES], at: usize) -> [u8; N] {
    *data[at..]
        .first_chunk()
        .expect("a header within the buffer")
}

/// A packet's Ethernet header as a person reads it.
pub fn ethernet_line(data: &[u8; DATA_BYTES]) -> String {
    let mac = |at: usize| Mac(bytes(data, at));
    let kind = match [data[12], data[13]] {
        [0x08, 0x00] => "IP4".to_owned(),
        [0x08, 0x06] => "ARP".to_owned(),
        [0x86, 0xdd] => "IP6".to_owned(),
        [0x81, 0x00] => format!(
            "802.1q vlan {}",
            u16::from_be_bytes([data[14] & 0x0f, data[15]])
        ),
        [a, b] => format!("0x{a:02x}{b:02x}"),
    };
    format!("{kind}: {} -> {}", mac(6), mac(0))
}

/// Offset of the network header in bytes: tags are gone by now.
const L3: usize = 14;

/// A packet's IPv4 header as a person reads it, one line each.
pub fn ip4_lines(plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
    let data = plane.pool.data(frame.buffer[row]);
    let address = |at: usize| Ipv4Addr::from(bytes::<4>(data, L3 + at));
    let protocol = match data[L3 + 9] {
        1 => "ICMP".to_owned(),
        6 => "TCP".to_owned(),
        17 => "UDP".to_owned(),
        other => format!("protocol {other}"),
    };
    let number = |at: usize| u16::from_be_bytes(bytes(data, L3 + at));
    vec![
        format!("{protocol}: {} -> {}", address(12), address(16)),
        format!(
            "  tos 0x{:02x}, ttl {}, length {}, checksum 0x{:04x}",
            data[L3 + 1],
            data[L3 + 8],
            number(2),
            number(10)
        ),
        format!(
            "  fragment id 0x{:04x}, offset {}",
            number(4),
            (number(6) & 0x1fff) * 8
        ),
    ]
}
