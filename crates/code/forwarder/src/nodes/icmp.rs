//! Answers and errors of our own: `ip4-local` for what is sent to us, and a node for each kind of
//! ICMP error (RFC 792, RFC 1812).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dataplane::buffers::DATA_BYTES;
use dataplane::checksum;
use dataplane::frame::Frame;
use dataplane::graph::{DROP, FIRST_ARC, Node, Reason, Verdict};
use dataplane::plane::Plane;
use dataplane::trace::ip4_lines;

/// The place where the network header starts.
const L3: usize = 14;
/// Bytes of an IP header without options, and of an ICMP header.
const IP: usize = 20;
const ICMP: usize = 8;
/// The largest IP packet that carries an error.
const ERROR_BYTES: usize = 576;
/// The time to live that a packet of ours starts with: `ip4-rewrite` takes one off, and 64 goes
/// out.
const TTL: u8 = 65;

const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;

/// An error that is told to a packet's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The packet's TTL is used up.
    TimeExceeded,
    /// There is no route.
    NetUnreachable,
    /// The neighbour does not answer.
    HostUnreachable,
    /// We do not speak the protocol.
    ProtocolUnreachable,
    /// Nobody listens at the port.
    PortUnreachable,
    /// It is longer than the next link takes, and may not be fragmented.
    FragmentationNeeded,
    /// An option is wrong; the row of the adjacency says at which byte.
    ParameterProblem,
}

impl Message {
    /// Every error.
    pub const ALL: [Self; 7] = [
        Self::TimeExceeded,
        Self::NetUnreachable,
        Self::HostUnreachable,
        Self::ProtocolUnreachable,
        Self::PortUnreachable,
        Self::FragmentationNeeded,
        Self::ParameterProblem,
    ];

    /// The name of the node that sends it.
    pub fn node_name(self) -> &'static str {
        match self {
            Self::TimeExceeded => "icmp-time-exceeded",
            Self::NetUnreachable => "icmp-net-unreachable",
            Self::HostUnreachable => "icmp-host-unreachable",
            Self::ProtocolUnreachable => "icmp-protocol-unreachable",
            Self::PortUnreachable => "icmp-port-unreachable",
            Self::FragmentationNeeded => "icmp-fragmentation-needed",
            Self::ParameterProblem => "icmp-parameter-problem",
        }
    }

    fn type_and_code(self) -> [u8; 2] {
        match self {
            Self::TimeExceeded => [11, 0],
            Self::NetUnreachable => [3, 0],
            Self::HostUnreachable => [3, 1],
            Self::ProtocolUnreachable => [3, 2],
            Self::PortUnreachable => [3, 3],
            Self::FragmentationNeeded => [3, 4],
            Self::ParameterProblem => [12, 0],
        }
    }
}

/// Lets packets through at a rate, and a twentieth of what that is per second at once.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    per_second: f64,
    tokens: f64,
    then: Duration,
}

impl RateLimit {
    /// The limit of a rate per second.
    pub fn new(per_second: u32) -> Self {
        Self { per_second: per_second.into(), tokens: (f64::from(per_second) / 20.0).max(1.0), then: Duration::ZERO }
    }

    /// Returns true if one more may pass.
    pub fn take(&mut self, now: Duration) -> bool {
        let earned = now.saturating_sub(self.then).as_secs_f64() * self.per_second;
        self.tokens = (self.tokens + earned).min((self.per_second / 20.0).max(1.0));
        self.then = now;
        let passes = self.tokens >= 1.0;
        if passes {
            self.tokens -= 1.0;
        }
        passes
    }
}

const LIMITED: u8 = 0;
const NOT_FOR_IT: u8 = 1;
const NO_ADDRESS: u8 = 2;

const ERROR_REASONS: [Reason; 3] = [
    Reason::info("icmp error not sent: rate limit"),
    Reason::info("icmp error not sent: packet is one that gets none"),
    Reason::error("icmp error not sent: no address of ours"),
];

/// Turns packets into ICMP errors to their sources. Arcs: drop, punt, and back to `ip4-lookup`.
pub struct IcmpError {
    message: Message,
    limit: Arc<Mutex<RateLimit>>,
    identification: u16,
}

impl IcmpError {
    /// The node of an error. The limit is for all nodes that have it.
    pub fn new(message: Message, limit: Arc<Mutex<RateLimit>>) -> Self {
        Self { message, limit, identification: 0 }
    }

    fn turn(&mut self, plane: &mut Plane, frame: &mut Frame, row: usize) -> (u8, u8) {
        let (buffer, rx) = (frame.buffer[row], frame.rx);
        let bytes = (frame.length[row] as usize).min(DATA_BYTES) - L3;
        let data = plane.pool.data(buffer);
        if !may_get_error(data) {
            return (DROP, NOT_FOR_IT);
        }
        // An error about what was sent to us comes from that address, any other from where it
        // leaves.
        let source = [data[26], data[27], data[28], data[29]];
        let to_us = plane.own.find([data[30], data[31], data[32], data[33]].into()).map(|own| own.address);
        let Some(from) = to_us.or_else(|| plane.address_towards(source.into(), rx)) else { return (DROP, NO_ADDRESS) };
        if !self.limit.lock().unwrap_or_else(PoisonError::into_inner).take(plane.now) {
            return (DROP, LIMITED);
        }
        let word = match self.message {
            Message::FragmentationNeeded => u32::from(plane.tables.adjacencies.rewrite(frame.adjacency[row]).mtu()),
            Message::ParameterProblem => u32::from(frame.adjacency[row]) << 24,
            _ => 0,
        };
        let quoted = bytes.min(ERROR_BYTES - IP - ICMP);
        self.identification = self.identification.wrapping_add(1);
        let data = plane.pool.data_mut(buffer);
        let tos = (data[L3 + 1] & 0x1e) | 0xc0;
        data.copy_within(L3..L3 + quoted, L3 + IP + ICMP);
        let [a, b] = ((IP + ICMP + quoted) as u16).to_be_bytes();
        let [c, d] = self.identification.to_be_bytes();
        let mut header = [0x45, tos, a, b, c, d, 0, 0, TTL, PROTOCOL_ICMP, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        header[12..16].copy_from_slice(&from.octets());
        header[16..20].copy_from_slice(&source);
        checksum::write_header(&mut header);
        data[L3..L3 + IP].copy_from_slice(&header);
        let icmp = &mut data[L3 + IP..L3 + IP + ICMP + quoted];
        icmp[..2].copy_from_slice(&self.message.type_and_code());
        icmp[2..4].fill(0);
        icmp[4..8].copy_from_slice(&word.to_be_bytes());
        let sum = !checksum::sum(icmp);
        icmp[2..4].copy_from_slice(&sum.to_le_bytes());
        frame.length[row] = (L3 + IP + ICMP + quoted) as u16;
        plane.interfaces[rx as usize].drops += 1;
        plane.generated += 1;
        (FIRST_ARC, 0)
    }
}

/// True if an error may be sent about a packet (RFC 1122, section 3.2.2). `ip4-input` has seen to
/// it that its source is a host.
fn may_get_error(data: &[u8; DATA_BYTES]) -> bool {
    let header = (data[L3] & 15) as usize * 4;
    let first_fragment = u16::from_be_bytes([data[L3 + 6], data[L3 + 7]]) & 0x1fff == 0;
    let is_error = data[L3 + 9] == PROTOCOL_ICMP && !matches!(data[L3 + header], 0 | 8 | 9 | 10 | 13..=18);
    let to_one = data[0] & 1 == 0;
    first_fragment && !is_error && to_one
}

impl Node for IcmpError {
    fn name(&self) -> &str {
        self.message.node_name()
    }

    fn reasons(&self) -> &'static [Reason] {
        &ERROR_REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        for row in 0..frame.len {
            (frame.next[row], frame.reason[row]) = self.turn(plane, frame, row);
        }
        Verdict::Mixed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let [kind, code] = self.message.type_and_code();
        let data = plane.pool.data(frame.buffer[row]);
        let to = std::net::Ipv4Addr::new(data[30], data[31], data[32], data[33]);
        vec![format!("ICMP type {kind}, code {code} to {to}")]
    }
}

const LOCAL: u8 = FIRST_ARC;
const TO_PROTOCOL_UNREACHABLE: u8 = FIRST_ARC + 1;
const TO_PORT_UNREACHABLE: u8 = FIRST_ARC + 2;
const TO_LOOKUP: u8 = FIRST_ARC + 3;

const FRAGMENT: u8 = 0;
const BAD_CHECKSUM: u8 = 1;
const ANSWERED: u8 = 2;
const MESSAGE: u8 = 3;
const NO_PORT: u8 = 4;
const NO_TCP: u8 = 5;
const NO_PROTOCOL: u8 = 6;
const SHORT: u8 = 7;

const LOCAL_REASONS: [Reason; 8] = [
    Reason::error("fragment to one of our addresses"),
    Reason::error("bad icmp checksum"),
    Reason::info("echo request answered"),
    Reason::info("icmp message to us"),
    Reason::info("udp to one of our addresses"),
    Reason::info("tcp to one of our addresses"),
    Reason::info("unknown protocol to one of our addresses"),
    Reason::error("icmp message truncated"),
];

/// Answers what is sent to an address that we answer for. Arcs: drop, punt, the end of what was for
/// us, icmp-protocol-unreachable, icmp-port-unreachable, and back to `ip4-lookup`.
#[derive(Default)]
pub struct Ip4Local;

fn receive(plane: &mut Plane, frame: &Frame, row: usize) -> (u8, u8) {
    let buffer = frame.buffer[row];
    let end = (frame.length[row] as usize).min(DATA_BYTES);
    let data = plane.pool.data_mut(buffer);
    let at = L3 + (data[L3] & 15) as usize * 4;
    if u16::from_be_bytes([data[L3 + 6], data[L3 + 7]]) & 0x3fff != 0 {
        return (DROP, FRAGMENT);
    }
    match data[L3 + 9] {
        PROTOCOL_ICMP if at + ICMP > end => (DROP, SHORT),
        PROTOCOL_ICMP if checksum::sum(&data[at..end]) != 0xffff => (DROP, BAD_CHECKSUM),
        PROTOCOL_ICMP if data[at] == ECHO_REQUEST => {
            data[at] = ECHO_REPLY;
            data[at + 2..at + 4].fill(0);
            let sum = !checksum::sum(&data[at..end]);
            data[at + 2..at + 4].copy_from_slice(&sum.to_le_bytes());
            let (source, destination) =
                ([data[26], data[27], data[28], data[29]], [data[30], data[31], data[32], data[33]]);
            data[26..30].copy_from_slice(&destination);
            data[30..34].copy_from_slice(&source);
            data[L3 + 8] = TTL;
            data[L3 + 10..L3 + 12].fill(0);
            let sum = !checksum::sum(&data[L3..at]);
            data[L3 + 10..L3 + 12].copy_from_slice(&sum.to_le_bytes());
            plane.interfaces[frame.rx as usize].local += 1;
            plane.generated += 1;
            (TO_LOOKUP, ANSWERED)
        }
        PROTOCOL_ICMP => (LOCAL, MESSAGE),
        PROTOCOL_UDP => (TO_PORT_UNREACHABLE, NO_PORT),
        PROTOCOL_TCP => (DROP, NO_TCP),
        _ => (TO_PROTOCOL_UNREACHABLE, NO_PROTOCOL),
    }
}

impl Node for Ip4Local {
    fn name(&self) -> &str {
        "ip4-local"
    }

    fn reasons(&self) -> &'static [Reason] {
        &LOCAL_REASONS
    }

    fn reasoned_arcs(&self) -> u64 {
        u64::MAX
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        for row in 0..frame.len {
            (frame.next[row], frame.reason[row]) = receive(plane, frame, row);
        }
        Verdict::Mixed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        ip4_lines(plane, frame, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_limit_lets_a_burst_and_then_its_rate_through() {
        let mut limit = RateLimit::new(100);
        let passed = |limit: &mut RateLimit, milliseconds| {
            (0..1000).filter(|_| limit.take(Duration::from_millis(milliseconds))).count()
        };
        assert_eq!(passed(&mut limit, 0), 5);
        assert_eq!(passed(&mut limit, 20), 2);
        assert_eq!(passed(&mut limit, 10_000), 5);
    }
}
