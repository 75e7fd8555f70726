//! `ip4-resolve`: packets for a neighbour whose Ethernet address is not known wait here while it is
//! asked for.

use std::collections::{HashMap, VecDeque};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use crate::arp;
use crate::control::{Control, Request};
use dataplane::buffers::Buffer;
use dataplane::frame::Frame;
use dataplane::graph::{DROP, FIRST_ARC, Node, Reason, Verdict};
use dataplane::plane::{Emitted, Mac, Plane};
use dataplane::tables::NoRoom;

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

/// The number of times that neighbours are looked through for what is due.
const LOOK: Duration = Duration::from_millis(50);

struct Waiting {
    buffer: Buffer,
    length: u16,
    rx: u16,
    since: Duration,
}

/// Arcs: drop, punt, icmp-host-unreachable, the interfaces' outputs by number, and then the way
/// back to `ip4-rewrite`.
pub struct Ip4Resolve {
    control: Arc<Control>,
    /// By adjacency.
    waiting: HashMap<u16, VecDeque<Waiting>>,
    rewrite: u8,
    looked: Duration,
}

impl Ip4Resolve {
    /// The node of a plane with that many interfaces.
    pub fn new(control: Arc<Control>, interfaces: usize) -> Self {
        Self { control, waiting: HashMap::new(), rewrite: OUTPUT + interfaces as u8, looked: Duration::ZERO }
    }

    fn ask(plane: &mut Plane, request: Request) {
        if let Some((buffer, length)) = arp_request(plane, request) {
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

    fn wait(&mut self, plane: &mut Plane, frame: &Frame, row: usize) {
        let (buffer, length, rx) = (frame.buffer[row], frame.length[row], frame.rx);
        let there = plane.tables.adjacencies.get(frame.adjacency[row]);
        let send = |plane: &mut Plane, arc, adjacency, reason| {
            plane.emit(Emitted { arc, rx, buffer, length, adjacency, reason });
        };
        let data = plane.pool.data(buffer);
        let address = there.address.unwrap_or(Ipv4Addr::new(data[30], data[31], data[32], data[33]));
        let (side, now) = (plane.side(there.interface), plane.now);
        let mut control = self.control.lock();
        let timing = control.timing;
        let asked = control.ask(&plane.tables, side, address, now);
        drop(control);
        let (adjacency, request) = match asked {
            Ok(asked) => asked,
            Err(NoRoom::Adjacencies) => return send(plane, DROP, 0, TABLE_FULL),
            Err(NoRoom::Routes(_)) => return send(plane, DROP, 0, NO_ROUTE_LEFT),
        };
        if let Some(request) = request {
            Self::ask(plane, request);
        }
        if plane.tables.adjacencies.rewrite(adjacency).is_resolved() {
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

/// Makes the packet of an ARP request in a new buffer; returns it with its length. `None` without a
/// buffer, or without an address of ours on the interface to ask from.
fn arp_request(plane: &mut Plane, request: Request) -> Option<(Buffer, u16)> {
    let from = plane.own.source(request.interface, Some(request.address))?;
    let mut buffer = [0];
    if plane.pool.allocate(&mut buffer) == 0 {
        return None;
    }
    let mac = plane.interfaces[request.interface as usize].mac;
    let to = if request.mac == Mac::default() { Mac::BROADCAST } else { request.mac };
    let data = plane.pool.data_mut(buffer[0]);
    let (address, from) = (request.address.octets(), from.octets());
    arp::write(data, arp::REQUEST, to, (mac, from), (Mac::default(), address));
    plane.generated += 1;
    Some((buffer[0], arp::PACKET_BYTES))
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
            let due = self.control.try_lock().map(|mut control| control.due(&plane.tables, now)).unwrap_or_default();
            for request in due {
                Self::ask(plane, request);
            }
        }
        if self.waiting.is_empty() {
            return;
        }
        let patience = self.control.lock().timing.patience();
        let rewrite = self.rewrite;
        self.waiting.retain(|&adjacency, queue| {
            let resolved = plane.tables.adjacencies.rewrite(adjacency).is_resolved();
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
        for row in 0..frame.len {
            self.wait(plane, frame, row);
        }
        Verdict::Consumed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let there = plane.tables.adjacencies.get(frame.adjacency[row]);
        let interface = &plane.interfaces[there.interface as usize].name;
        vec![format!("adjacency {} on {interface}: the neighbour is asked for", frame.adjacency[row])]
    }
}
