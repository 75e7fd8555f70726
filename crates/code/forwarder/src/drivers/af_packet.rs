//! Packets of a Linux interface through packet sockets. The kernel keeps the interface and sees
//! every packet, too.

use std::io;

use dataplane::buffers::DATA_BYTES;
use dataplane::frame::Frame;
use dataplane::graph::Reason;
use dataplane::nodes::Device;
use dataplane::plane::Plane;

use super::input::{Driver, DriverCounters, DriverInput, Room};
use super::offload::{Splitter, Unfinished};
use super::packet_socket::{BATCH, Fanout, Received, Receiver, SLOT_BYTES, SLOTS, Sender};

const SPLIT: usize = 0;
const CUT: usize = 4;
const TOO_LONG: usize = 5;

fn reason(unfinished: Unfinished) -> usize {
    match unfinished {
        Unfinished::Kind => 1,
        Unfinished::Long => 2,
        Unfinished::Malformed => 3,
    }
}

const ETHERNET_BYTES: usize = 14;
const TAG_BYTES: usize = 4;

/// Receives from a packet socket. Packets are whole then: missing checksums are written, and large
/// packets are split.
pub struct PacketDriver {
    /// None while the interface is away.
    receiver: Option<Receiver>,
    device: String,
    group: Option<Fanout>,
    splitter: Splitter,
    /// Bytes of the longest part that a large packet is split into, without a tag beside it.
    longest: usize,
}

impl PacketDriver {
    /// An input node for an interface of the graph, which has the name of the machine's and takes
    /// IP packets of up to `mtu` bytes. If it `is_shared`, it shares the interface with the inputs
    /// of other workers.
    ///
    /// # Errors
    /// The kernel does not share it.
    pub fn input(
        receiver: Receiver,
        interface: u16,
        name: &str,
        mtu: u16,
        is_shared: bool,
    ) -> io::Result<DriverInput<Self>> {
        let group = is_shared.then(|| Fanout::new(interface));
        if let Some(group) = group {
            receiver.join(group)?;
        }
        let longest = (ETHERNET_BYTES + usize::from(mtu)).min(DATA_BYTES - TAG_BYTES);
        let (device, splitter) = (name.to_owned(), Splitter::default());
        let driver = Self { receiver: Some(receiver), device, group, splitter, longest };
        Ok(DriverInput::new(driver, interface, format!("af-packet-input-{name}")))
    }

    /// A receiver on the interface that has come back.
    fn reopened(&self) -> io::Result<Receiver> {
        let receiver = Receiver::new(&self.device)?;
        if let Some(group) = self.group {
            receiver.join(group)?;
        }
        Ok(receiver)
    }

    /// Writes the next packet into a buffer's data and returns its length; `None` if there is none.
    fn next_into(&mut self, data: &mut [u8; DATA_BYTES], met: &mut DriverCounters<'_>) -> Option<usize> {
        loop {
            if let Some(length) = self.splitter.next_part(data) {
                return Some(length);
            }
            let Received { bytes, tag, offload, is_cut, .. } = self.receiver.as_mut()?.next_packet()?;
            let tag_bytes = tag.map_or(0, |tag| tag.len());
            let problem = if is_cut {
                Some(CUT)
            } else if offload.splits() {
                met.count(SPLIT);
                self.splitter.take(bytes, tag, offload, self.longest + tag_bytes).err().map(reason)
            } else if bytes.len() + tag_bytes > DATA_BYTES {
                // The interface's MTU was raised since the forwarder started: it refuses to start
                // on one that is above this.
                Some(TOO_LONG)
            } else {
                let length = bytes.len();
                data[..length].copy_from_slice(bytes);
                match offload.finish(&mut data[..length]) {
                    Err(unfinished) => Some(reason(unfinished)),
                    Ok(()) => return Some(insert_tag(data, length, tag)),
                }
            };
            if let Some(problem) = problem {
                met.drop(problem);
            }
        }
    }
}

/// Puts the tag back that the kernel took out, for which there must be room; returns the packet's
/// new length.
fn insert_tag(data: &mut [u8; DATA_BYTES], length: usize, tag: Option<[u8; 4]>) -> usize {
    match tag {
        Some(tag) if length >= 12 => {
            data.copy_within(12..length, 16);
            data[12..16].copy_from_slice(&tag);
            length + 4
        }
        _ => length,
    }
}

impl Driver for PacketDriver {
    const REASONS: &'static [Reason] = &[
        Reason::info("large packet split"),
        Reason::error("large packet of a kind that is not split"),
        Reason::error("part of a large packet longer than the interface's mtu"),
        Reason::error("offload header contradicts the packet"),
        Reason::error("large packet found no room beside the ring"),
        Reason::error("packet longer than a buffer: lower the interface's mtu"),
    ];

    fn fill(&mut self, room: &mut Room<'_>) {
        while room.put(|data, met| self.next_into(data, met)) {}
    }

    fn kernel_drops(&mut self) -> u64 {
        self.receiver.as_ref().and_then(|receiver| receiver.kernel_drops().ok()).unwrap_or_default()
    }

    fn look(&mut self, away: bool) -> bool {
        if away {
            // The old one goes first: a group of receivers is for one interface as long as one of
            // them is there.
            self.receiver = None;
            // A receiver on an interface that is down has failed already.
            self.receiver = self.reopened().ok().filter(|receiver| !receiver.has_failed());
            return self.receiver.is_some();
        }
        self.receiver.as_ref().is_some_and(|receiver| !receiver.has_failed())
    }

    fn hardware(&self) -> String {
        let shared = if self.group.is_some() { ", shared out to workers by flow (fanout)" } else { "" };
        format!(
            "packet socket, ring TPACKET_V2 of {SLOTS} x {} kB{shared}; missing checksums and splitting: done here; \
             sends by sendmmsg, {BATCH} at a time",
            SLOT_BYTES >> 10
        )
    }
}

impl Device for Sender {
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize {
        let pool = &plane.pool;
        let packets =
            frame.buffers().iter().zip(&frame.length).map(|(buffer, length)| &pool.data(*buffer)[..*length as usize]);
        Self::send(self, packets)
    }
}
