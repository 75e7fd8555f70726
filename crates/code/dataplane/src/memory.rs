//! The memory in which packets lie, as the loops see it.
//!
//! The hot loops touch packets through [`PacketMemory`] and nothing else. On the host its
//! operations are loads and stores; a model of a core can stand in its place and charge for each.
//! Two layouts share the loops: [`InFrame`] keeps metadata in the columns of the frame, so a packet
//! costs one line; [`InBuffer`] keeps it in a line of its own in front of the data, as VPP does, so
//! a packet costs two.

use crate::buffers::{Buffer, Pool, Slot};
use crate::frame::Frame;
use crate::machine;

/// The fields that a node knows of a packet before it reads the data.
#[derive(Clone, Copy, Default)]
pub struct Meta {
    /// Offset of the packet within the buffer's data, in bytes.
    pub offset: u16,
    /// Bytes of the packet.
    pub length: u16,
}

/// Memory that holds packets.
pub trait PacketMemory {
    /// True if metadata lies in a line of its own, which is worth a prefetch.
    const HEADER_LINE: bool;

    /// Asks for the metadata's line, if there is one.
    fn prefetch_header(&mut self, buffer: Buffer);

    /// Asks for the first line of the data.
    fn prefetch_data(&mut self, buffer: Buffer);

    /// Reads a packet's metadata.
    fn meta(&mut self, frame: &Frame, row: usize) -> Meta;

    /// Notes the result in the metadata's line, if there is one: where the network header starts,
    /// and which arc was chosen.
    fn set_meta(&mut self, frame: &Frame, row: usize, l3: u8, next: u8);

    /// Reads `N` bytes of the packet.
    fn load<const N: usize>(&mut self, buffer: Buffer, at: usize) -> [u8; N];

    /// Reads eight bytes as a number, the first byte lowest.
    #[inline(always)]
    fn load_u64(&mut self, buffer: Buffer, at: usize) -> u64 {
        u64::from_le_bytes(self.load(buffer, at))
    }

    /// Reads four bytes as a number, the first byte lowest.
    #[inline(always)]
    fn load_u32(&mut self, buffer: Buffer, at: usize) -> u32 {
        u32::from_le_bytes(self.load(buffer, at))
    }

    /// Writes `N` bytes of the packet.
    fn store<const N: usize>(&mut self, buffer: Buffer, at: usize, bytes: [u8; N]);

    /// Says that a packet's work is done. A model charges for instructions that touch no memory;
    /// real memory does nothing.
    #[inline(always)]
    fn worked(&mut self) {}
}

/// Host memory, metadata in the columns of the frame.
pub type InFrame<'a> = Host<'a, false>;

/// Host memory, metadata in a line in front of the data.
pub type InBuffer<'a> = Host<'a, true>;

/// Host memory in one of the two layouts.
pub struct Host<'a, const HEADER_LINE: bool>(&'a mut [Slot]);

impl<'a, const HEADER_LINE: bool> Host<'a, HEADER_LINE> {
    /// The packets of a pool.
    #[inline(always)]
    pub fn new(pool: &'a mut Pool) -> Self {
        Self(pool.slots())
    }
}

impl<const HEADER_LINE: bool> PacketMemory for Host<'_, HEADER_LINE> {
    const HEADER_LINE: bool = HEADER_LINE;

    #[inline(always)]
    fn prefetch_header(&mut self, buffer: Buffer) {
        if HEADER_LINE {
            machine::prefetch(self.0[buffer as usize].header.as_ptr());
        }
    }

    #[inline(always)]
    fn prefetch_data(&mut self, buffer: Buffer) {
        machine::prefetch(self.0[buffer as usize].data.as_ptr());
    }

    #[inline(always)]
    fn meta(&mut self, frame: &Frame, row: usize) -> Meta {
        if !HEADER_LINE {
            return Meta {
                offset: 0,
                length: frame.length[row],
            };
        }
        let header = &self.0[frame.buffer[row] as usize].header;
        Meta {
            offset: u16::from_le_bytes([header[0], header[1]]),
            length: u16::from_le_bytes([header[2], header[3]]),
        }
    }

    #[inline(always)]
    fn set_meta(&mut self, frame: &Frame, row: usize, l3: u8, next: u8) {
        if HEADER_LINE {
            let header = &mut self.0[frame.buffer[row] as usize].header;
            header[4] = l3;
            header[5] = next;
        }
    }

    #[inline(always)]
    fn load<const N: usize>(&mut self, buffer: Buffer, at: usize) -> [u8; N] {
        *self.0[buffer as usize].data[at..]
            .first_chunk()
            .expect("a load within the buffer")
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, buffer: Buffer, at: usize, bytes: [u8; N]) {
        *self.0[buffer as usize].data[at..]
            .first_chunk_mut()
            .expect("a store within the buffer") = bytes;
    }
}

/// Writes the metadata line that [`InBuffer`] reads.
pub fn write_header_line(pool: &mut Pool, buffer: Buffer, meta: Meta) {
    let header = pool.header_mut(buffer);
    header[..2].copy_from_slice(&meta.offset.to_le_bytes());
    header[2..4].copy_from_slice(&meta.length.to_le_bytes());
}
