//! Inputs without a device: a generator of packets, and a list of them.

use crate::buffers::{Buffer, Slot};
use crate::checksum;
use crate::frame::{FRAME_MAX, Frame};
use crate::machine;
use crate::node::Input;
use crate::plane::{Mac, Plane};
use std::net::Ipv4Addr;

/// A minimal UDP packet as it lies in memory: 64 bytes on the wire with the frame check sequence,
/// 60 without.
pub const PACKET_BYTES: u16 = 60;

/// Builds a 60-byte UDP packet; the four bytes after it are zero.
pub fn udp_packet(
    to: Mac,
    from: Mac,
    source: Ipv4Addr,
    destination: Ipv4Addr,
    ttl: u8,
) -> [u8; 64] {
    let mut packet = [0; 64];
    packet[..6].copy_from_slice(&to.0);
    packet[6..12].copy_from_slice(&from.0);
    packet[12] = 0x08;
    let mut header = [
        0x45, 0, 0, 46, 0, 0, 0x40, 0, ttl, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    header[12..16].copy_from_slice(&source.octets());
    header[16..20].copy_from_slice(&destination.octets());
    checksum::write_header(&mut header);
    packet[14..34].copy_from_slice(&header);
    packet[34..42].copy_from_slice(&[0x10, 0, 0x20, 0, 0, 26, 0, 0]);
    packet
}

/// Writes a packet's first line. An array of known size is a few stores; a slice would be a call.
#[inline(always)]
fn write_line(slots: &mut [Slot], buffer: Buffer, line: [u8; 64]) {
    if let Some(there) = slots[buffer as usize].data.first_chunk_mut() {
        *there = line;
    }
}

/// Generates packets from templates, a frame whenever it is polled.
pub struct Generator {
    interface: u16,
    templates: Vec<[u8; 64]>,
    next: usize,
}

impl Generator {
    /// Packets for an interface, one flow per template, in turn, without end.
    ///
    /// # Panics
    /// Without a template.
    pub fn new(interface: u16, templates: Vec<[u8; 64]>) -> Self {
        assert!(!templates.is_empty(), "a generator needs a template");
        Self {
            interface,
            templates,
            next: 0,
        }
    }
}

impl Input for Generator {
    fn name(&self) -> &str {
        "pg-input"
    }

    fn interface(&self) -> u16 {
        self.interface
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let wanted = plane.settings.frame_size.min(FRAME_MAX);
        let count = plane.pool.allocate(&mut frame.buffer[..wanted]);
        let buffers = &frame.buffer[..count];
        let slots = plane.pool.slots();
        // The lines may have gone to L2 since their last use.
        const AHEAD: usize = 8;
        let prefetch = |slots: &[Slot], row: usize| {
            if let Some(&ahead) = buffers.get(row + AHEAD) {
                machine::prefetch(slots[ahead as usize].data.as_ptr());
            }
        };
        if let [template] = self.templates[..] {
            for (row, &buffer) in buffers.iter().enumerate() {
                prefetch(slots, row);
                write_line(slots, buffer, template);
            }
        } else {
            for (row, &buffer) in buffers.iter().enumerate() {
                prefetch(slots, row);
                write_line(slots, buffer, self.templates[self.next]);
                self.next += 1;
                if self.next == self.templates.len() {
                    self.next = 0;
                }
            }
        }
        frame.length[..count].fill(PACKET_BYTES);
        frame.len = count;
        plane.interfaces[self.interface as usize]
            .rx
            .add(count as u64, count as u64 * u64::from(PACKET_BYTES));
    }
}

/// The arrival of packets at a device that nobody waits for.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Arrivals {
    /// Packets a second, at least 1.
    pub rate: u64,
    /// Packets that the device holds; it loses one that comes when so many wait.
    pub ring: u64,
}

/// An input whose packets come at a rate of their own: a poll takes those that wait.
pub struct Paced {
    input: Box<dyn Input>,
    arrivals: Arrivals,
    /// The counter at the first poll.
    began: Option<u64>,
    /// Packets that were taken or lost.
    gone: u64,
}

impl Paced {
    /// The first packet comes after the first poll.
    pub fn new(input: Box<dyn Input>, arrivals: Arrivals) -> Self {
        Self {
            input,
            arrivals,
            began: None,
            gone: 0,
        }
    }

    /// Packets that wait at a reading of a counter that counts `hz` ticks a second.
    fn waiting(&mut self, now: u64, hz: u64) -> u64 {
        let ticks = now.wrapping_sub(*self.began.get_or_insert(now));
        let arrived =
            (u128::from(ticks) * u128::from(self.arrivals.rate) / u128::from(hz.max(1))) as u64;
        self.gone = self.gone.max(arrived.saturating_sub(self.arrivals.ring));
        arrived - self.gone
    }
}

impl Input for Paced {
    fn name(&self) -> &str {
        self.input.name()
    }

    fn interface(&self) -> u16 {
        self.input.interface()
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let most = plane.settings.frame_size;
        let waiting = self.waiting(machine::ticks(), machine::counter_hz()) as usize;
        if waiting > 0 {
            plane.settings.frame_size = most.min(waiting);
            self.input.poll(plane, frame);
            plane.settings.frame_size = most;
            self.gone += frame.len as u64;
        }
    }

    fn is_paced(&self) -> bool {
        true
    }
}

/// A list of packets of any length, from a capture file or a test.
pub struct Packets {
    interface: u16,
    name: String,
    packets: Vec<Vec<u8>>,
    next: usize,
    /// True if the first one comes again after the last.
    again: bool,
}

impl Packets {
    /// Packets for an interface, each given once. A packet longer than a buffer is cut, so that the
    /// graph sees a giant and counts it.
    pub fn new(interface: u16, name: &str, packets: Vec<Vec<u8>>) -> Self {
        Self {
            interface,
            name: name.to_owned(),
            packets,
            next: 0,
            again: false,
        }
    }

    /// The same, again and again without end.
    pub fn again(self) -> Self {
        Self {
            again: true,
            ..self
        }
    }

    fn left(&self) -> usize {
        self.packets.len() - self.next
    }
}

impl Input for Packets {
    fn name(&self) -> &str {
        &self.name
    }

    fn interface(&self) -> u16 {
        self.interface
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let most = if self.again && !self.packets.is_empty() {
            FRAME_MAX
        } else {
            self.left()
        };
        let wanted = plane.settings.frame_size.min(FRAME_MAX).min(most);
        let count = plane.pool.allocate(&mut frame.buffer[..wanted]);
        let mut bytes = 0;
        for row in 0..count {
            let packet = &self.packets[self.next];
            self.next += 1;
            if self.again && self.next == self.packets.len() {
                self.next = 0;
            }
            let data = plane.pool.data_mut(frame.buffer[row]);
            let length = packet.len().min(data.len());
            data[..length].copy_from_slice(&packet[..length]);
            // An earlier, longer packet may lie behind a short one. Its bytes are cleared, so that
            // nobody reads them as the short packet's own.
            data[length..(length + 64).min(crate::buffers::DATA_BYTES)].fill(0);
            frame.length[row] = length as u16;
            bytes += length as u64;
        }
        frame.len = count;
        plane.interfaces[self.interface as usize]
            .rx
            .add(count as u64, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_wait_until_they_are_taken_or_the_ring_is_full() {
        let arrivals = Arrivals {
            rate: 1000,
            ring: 100,
        };
        let mut paced = Paced::new(Box::new(Packets::new(0, "", Vec::new())), arrivals);
        assert_eq!(paced.waiting(7, 1_000_000), 0);
        assert_eq!(paced.waiting(10_007, 1_000_000), 10);
        paced.gone += 4;
        assert_eq!(paced.waiting(10_007, 1_000_000), 6);
        assert_eq!(paced.waiting(1_000_007, 1_000_000), 100);
    }
}
