//! `arp-input`: answers who asks for our addresses, and learns who answers us (RFC 826).

use std::sync::Arc;

use crate::arp::{self, Message};
use crate::control::{Control, Learnt};
use dataplane::frame::Frame;
use dataplane::graph::{DROP, FIRST_ARC, Node, PUNT, Reason, Verdict};
use dataplane::own::Owner;
use dataplane::plane::{Mode, Plane};
use dataplane::trace::ethernet_line;

const LOCAL: u8 = FIRST_ARC;
/// The arc to the output of interface 0.
const OUTPUT: u8 = FIRST_ARC + 1;

const MALFORMED: u8 = 0;
const CONFLICT: u8 = 1;
const STRANGER: u8 = 2;
const KERNEL: u8 = 3;
const LEARNT: u8 = 4;
const UNASKED: u8 = 5;
const FULL: u8 = 6;

const REASONS: [Reason; 7] = [
    Reason::error("arp malformed"),
    Reason::error("arp: a neighbour has one of our addresses"),
    Reason::error("arp from outside the interface's networks"),
    Reason::info("arp for an address that the kernel answers for"),
    Reason::info("arp: neighbour learnt"),
    Reason::info("arp that concerns others"),
    Reason::error("arp: table of neighbours is full"),
];

/// Arcs: drop, punt, the end of what was for us, the interfaces' outputs by number.
pub struct ArpInput {
    control: Arc<Control>,
}

impl ArpInput {
    /// The node that learns neighbours.
    pub fn new(control: Arc<Control>) -> Self {
        Self { control }
    }
}

/// Arc and reason of one packet; an answer is written over the question.
fn answer(control: &Control, plane: &mut Plane, frame: &Frame, row: usize) -> (u8, u8) {
    let (rx, buffer) = (frame.rx, frame.buffer[row]);
    let data = plane.pool.data(buffer);
    let Some(message) = Message::read(&data[..frame.length[row] as usize]) else { return (DROP, MALFORMED) };
    let Message { operation, sender, sender_address, target_address } = message;
    let own = plane.own.clone();
    if own.find(sender_address).is_some() {
        return (DROP, CONFLICT);
    }
    let target = own.find(target_address);
    let asked_us = operation == arp::REQUEST && target.is_some();
    // A host that does not know its own address yet asks from 0.0.0.0 (RFC 5227). It gets an
    // answer, but there is no address to learn.
    let learns = !sender_address.is_unspecified();
    let at_hand = own
        .all()
        .iter()
        .any(|own| own.interface == rx && own.network().is_some_and(|network| network.covers(sender_address)));
    let mut reason = UNASKED;
    if learns {
        if !at_hand {
            return (DROP, STRANGER);
        }
        let side = plane.side(rx);
        reason = match control.lock().learn(&plane.tables, side, sender_address, sender, asked_us, plane.now) {
            Learnt::Yes => LEARNT,
            Learnt::Unasked => UNASKED,
            Learnt::Full => FULL,
        };
    }
    match target {
        Some(target) if asked_us && target.owner == Owner::Kernel => (PUNT, KERNEL),
        Some(_) if asked_us => {
            let us = (plane.interfaces[rx as usize].mac, target_address.octets());
            let data = plane.pool.data_mut(buffer);
            arp::write(data, arp::REPLY, sender, us, (sender, sender_address.octets()));
            plane.interfaces[rx as usize].local += 1;
            plane.generated += 1;
            (OUTPUT + rx as u8, reason)
        }
        _ => (LOCAL, reason),
    }
}

impl Node for ArpInput {
    fn name(&self) -> &str {
        "arp-input"
    }

    fn reasons(&self) -> &'static [Reason] {
        &REASONS
    }

    fn reasoned_arcs(&self) -> u64 {
        // A reason can be counted on every arc: a neighbour is learnt from packets that are
        // dropped, too.
        u64::MAX
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        debug_assert_eq!(plane.interfaces[frame.rx as usize].mode, Mode::Route, "a cross connect hands ARP on");
        for row in 0..frame.len {
            let (arc, reason) = answer(&self.control, plane, frame, row);
            (frame.next[row], frame.reason[row]) = (arc, reason);
            if arc >= OUTPUT {
                frame.length[row] = arp::PACKET_BYTES;
            }
        }
        Verdict::Mixed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let data = plane.pool.data(frame.buffer[row]);
        let mut lines = vec![ethernet_line(data)];
        if let Some(message) = Message::read(&data[..frame.length[row] as usize]) {
            let what = if message.operation == arp::REQUEST { "who has" } else { "reply to" };
            lines.push(format!(
                "{what} {}, tells {} at {}",
                message.target_address, message.sender_address, message.sender
            ));
        }
        lines
    }
}
