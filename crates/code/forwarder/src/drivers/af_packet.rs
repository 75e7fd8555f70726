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
use super::packet_socket::{BATCH, BLOCK_BYTES, BLOCKS, Fanout, Received, Receiver, Sender};

const SPLIT: usize = 0;
const CUT: usize = 4;

fn reason(unfinished: Unfinished) -> usize {
    match unfinished {
        Unfinished::Kind => 1,
        Unfinished::Long => 2,
        Unfinished::Malformed => 3,
    }
}

/// Receives from a packet socket. Packets are whole then: missing checksums are written, and large
/// packets are split.
pub struct PacketDriver {
    /// None while the interface is away.
    receiver: Option<Receiver>,
    device: String,
    group: Option<Fanout>,
    splitter: Splitter,
}

impl PacketDriver {
    /// An input node for an interface of the graph, which has the name of the machine's. If it
    /// `is_shared`, it shares the interface with the inputs of other workers.
    ///
    /// # Errors
    /// The kernel does not share it.
    pub fn input(receiver: Receiver, interface: u16, name: &str, is_shared: bool) -> io::Result<DriverInput<Self>> {
        let group = is_shared.then(|| Fanout::new(interface));
        if let Some(group) = group {
            receiver.join(group)?;
        }
        let driver = Self { receiver: Some(receiver), device: name.to_owned(), group, splitter: Splitter::default() };
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
            let problem = if is_cut {
                Some(CUT)
            } else if offload.splits() {
                met.count(SPLIT);
                self.splitter.take(bytes, tag, offload, DATA_BYTES).err().map(reason)
            } else {
                // Longer than a buffer is longer than any interface's MTU: the graph sees a giant
                // and counts it.
                let length = bytes.len().min(DATA_BYTES);
                data[..length].copy_from_slice(&bytes[..length]);
                match offload.finish(&mut data[..length]) {
                    Err(unfinished) if length == bytes.len() => Some(reason(unfinished)),
                    _ => return Some(insert_tag(data, length, tag)),
                }
            };
            if let Some(problem) = problem {
                met.drop(problem);
            }
        }
    }
}

/// Puts the tag back that the kernel took out; returns the packet's new length.
fn insert_tag(data: &mut [u8; DATA_BYTES], length: usize, tag: Option<[u8; 4]>) -> usize {
    match tag {
        Some(tag) if length >= 12 => {
            let length = length.min(DATA_BYTES - 4);
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
        Reason::error("part of a large packet longer than a buffer"),
        Reason::error("offload header contradicts the packet"),
        Reason::error("packet longer than the ring's block"),
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
            "packet socket, ring TPACKET_V3 of {BLOCKS} x {} kB{shared}; missing checksums and splitting: done here; \
             sends by sendmmsg, {BATCH} at a time",
            BLOCK_BYTES >> 10
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
