//! Frames: a vector of packets and what nodes tell each other about them.

use crate::buffers::Buffer;

/// The largest frame size that can be chosen.
pub const FRAME_MAX: usize = 1024;

/// The frame sizes that can be chosen.
pub const FRAME_SIZES: [usize; 5] = [64, 128, 256, 512, 1024];

/// A vector of packets. Each column is a *lane* array: one packet's metadata is spread over the lanes at its place, so a
/// node that needs the length and nothing else touches the lengths and nothing else.
///
/// All packets of a frame came in on the same interface.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Frame {
    /// Packets in the frame.
    pub len: usize,
    /// The interface they came in on.
    pub rx: u16,
    /// Whether a packet of the frame is traced.
    pub traced: bool,
    /// Buffers.
    pub buffer: [Buffer; FRAME_MAX],
    /// Bytes of the packet, from the Ethernet header on.
    pub length: [u16; FRAME_MAX],
    /// The adjacency that a lookup chose.
    pub adjacency: [u16; FRAME_MAX],
    /// The arc that the node chose.
    pub next: [u8; FRAME_MAX],
    /// Why a packet is dropped or punted, as an index into the reasons of the node that sent it there.
    pub reason: [u8; FRAME_MAX],
    /// Number of the packet's trace, 0 for none.
    pub trace: [u16; FRAME_MAX],
}

impl Frame {
    /// An empty frame.
    pub fn new() -> Self {
        Self {
            len: 0,
            rx: 0,
            traced: false,
            buffer: [0; FRAME_MAX],
            length: [0; FRAME_MAX],
            adjacency: [0; FRAME_MAX],
            next: [0; FRAME_MAX],
            reason: [0; FRAME_MAX],
            trace: [0; FRAME_MAX],
        }
    }

    /// The buffers of the packets in the frame.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffer[..self.len.min(FRAME_MAX)]
    }

    /// Adds a packet that is not traced.
    pub fn add(&mut self, buffer: Buffer, length: u16, adjacency: u16, reason: u8) {
        let to = self.len;
        self.buffer[to] = buffer;
        self.length[to] = length;
        self.adjacency[to] = adjacency;
        self.reason[to] = reason;
        self.trace[to] = 0;
        self.len += 1;
    }

    /// Copies one packet's lanes from another frame to the end of this one.
    #[inline(always)]
    pub fn take(&mut self, from: &Frame, lane: usize) {
        let to = self.len;
        self.buffer[to] = from.buffer[lane];
        self.length[to] = from.length[lane];
        self.adjacency[to] = from.adjacency[lane];
        self.reason[to] = from.reason[lane];
        self.trace[to] = if from.traced { from.trace[lane] } else { 0 };
        // What came before from untraced frames has stale numbers in its lanes.
        if from.traced && !self.traced {
            self.trace[..to].fill(0);
            self.traced = true;
        }
        self.len += 1;
    }
}

impl Default for Frame {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes that one packet takes in the lanes of a frame.
pub const LANE_BYTES: usize = size_of::<Buffer>() + 3 * size_of::<u16>() + 2 * size_of::<u8>();
