//! `ip4-resolve`: packets for a neighbour whose Ethernet address is not known wait here while it is asked for.

use std::collections::{HashMap, VecDeque};
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::arcs::{DROP, FIRST_ARC, Verdict};
use crate::buffers::Buffer;
use crate::control::{NoNeighbour, Request};
use crate::frame::Frame;
use crate::node::{Node, Reason};
use crate::plane::{Emitted, Plane};

const UNREACHABLE: u8 = FIRST_ARC;
/// The arc to the output of interface 0; the last arc of all leads back to `ip4-rewrite`.
const OUTPUT: u8 = FIRST_ARC + 1;

const NO_ANSWER: u8 = 0;
const QUEUE_FULL: u8 = 1;
const QUEUES_FULL: u8 = 2;
const TABLE_FULL: u8 = 3;
const NO_ROUTE_LEFT: u8 = 4;

const REASONS: [Reason; 5] = [
    Reason::error("neighbour does not answer"),
    Reason::error("queue of the neighbour is full, oldest dropped"),
    Reason::error("queues of all neighbours are full"),
    Reason::error("table of neighbours is full"),
    Reason::error("table of routes has no place for a neighbour"),
];

/// How often neighbours are looked through for what is due.
const LOOK: Duration = Duration::from_millis(50);

struct Waiting {
    buffer: Buffer,
    length: u16,
    rx: u16,
    since: Duration,
}

/// Arcs: drop, punt, icmp-host-unreachable, the interfaces' outputs by number, and then the way back to `ip4-rewrite`.
pub struct Ip4Resolve {
    /// By adjacency.
    waiting: HashMap<u16, VecDeque<Waiting>>,
    rewrite: u8,
    looked: Duration,
}

impl Ip4Resolve {
    /// The node of a plane with that many interfaces.
    pub fn new(interfaces: usize) -> Self {
        Self { waiting: HashMap::new(), rewrite: OUTPUT + interfaces as u8, looked: Duration::ZERO }
    }

    fn ask(plane: &mut Plane, request: Request) {
        if let Some((buffer, length)) = plane.arp_request(request) {
            let Request { interface, .. } = request;
            plane.emit(Emitted {
                arc: OUTPUT + interface as u8,
                rx: interface,
                buffer,
                length,
                adjacency: 0,
                reason: 0,
            });
        }
    }

    fn wait(&mut self, plane: &mut Plane, frame: &Frame, lane: usize) {
        let (buffer, length, rx) = (frame.buffer[lane], frame.length[lane], frame.rx);
        let there = plane.shared.adjacencies.get(frame.adjacency[lane]);
        let send = |plane: &mut Plane, arc, adjacency, reason| {
            plane.emit(Emitted { arc, rx, buffer, length, adjacency, reason });
        };
        let data = plane.pool.data(buffer);
        let address = there.address.unwrap_or(Ipv4Addr::new(data[30], data[31], data[32], data[33]));
        let (side, now) = (plane.side(there.interface), plane.now);
        let shared = plane.shared.clone();
        let mut control = shared.control();
        let timing = control.timing;
        let asked = control.ask(side, address, now);
        drop(control);
        let (adjacency, request) = match asked {
            Ok(asked) => asked,
            Err(NoNeighbour::Full) => return send(plane, DROP, 0, TABLE_FULL),
            Err(NoNeighbour::Route(_)) => return send(plane, DROP, 0, NO_ROUTE_LEFT),
        };
        if let Some(request) = request {
            Self::ask(plane, request);
        }
        if shared.adjacencies.rewrite(adjacency).is_resolved() {
            // It answered another worker meanwhile.
            return send(plane, self.rewrite, adjacency, 0);
        }
        if plane.held >= timing.queue_all as u64 {
            return send(plane, DROP, 0, QUEUES_FULL);
        }
        let queue = self.waiting.entry(adjacency).or_default();
        queue.push_back(Waiting { buffer, length, rx, since: now });
        plane.held += 1;
        if queue.len() > timing.queue
            && let Some(Waiting { buffer, length, rx, .. }) = queue.pop_front()
        {
            plane.held -= 1;
            plane.emit(Emitted { arc: DROP, rx, buffer, length, adjacency, reason: QUEUE_FULL });
        }
    }
}

impl Node for Ip4Resolve {
    fn name(&self) -> &str {
        "ip4-resolve"
    }

    fn reasons(&self) -> &'static [Reason] {
        &REASONS
    }

    fn reasoned_arcs(&self) -> u64 {
        0b11 | 1 << UNREACHABLE
    }

    fn housekeeping(&mut self, plane: &mut Plane) {
        let now = plane.now;
        if now >= self.looked + LOOK {
            self.looked = now;
            let shared = plane.shared.clone();
            let due = shared.try_control().map(|mut control| control.due(now)).unwrap_or_default();
            for request in due {
                Self::ask(plane, request);
            }
        }
        if self.waiting.is_empty() {
            return;
        }
        let patience = plane.shared.control().timing.patience();
        let rewrite = self.rewrite;
        self.waiting.retain(|&adjacency, queue| {
            let resolved = plane.shared.adjacencies.rewrite(adjacency).is_resolved();
            let (arc, reason) = if resolved { (rewrite, 0) } else { (UNREACHABLE, NO_ANSWER) };
            while let Some(packet) = queue.pop_front_if(|packet| resolved || now >= packet.since + patience) {
                let Waiting { buffer, length, rx, .. } = packet;
                plane.held -= 1;
                plane.emit(Emitted { arc, rx, buffer, length, adjacency, reason });
            }
            !queue.is_empty()
        });
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        for lane in 0..frame.len {
            self.wait(plane, frame, lane);
        }
        Verdict::Consumed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, lane: usize) -> Vec<String> {
        let there = plane.shared.adjacencies.get(frame.adjacency[lane]);
        let interface = &plane.interfaces[there.interface as usize].name;
        vec![format!("adjacency {} on {interface}: the neighbour is asked for", frame.adjacency[lane])]
    }
}
