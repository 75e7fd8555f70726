//! Frames: a vector of packets and what nodes tell each other about them.

use crate::buffers::Buffer;

/// The largest frame size that can be chosen.
pub const FRAME_MAX: usize = 1024;

/// The frame sizes that can be chosen.
pub const FRAME_SIZES: [usize; 5] = [64, 128, 256, 512, 1024];

/// A vector of packets. Each column is an array: one packet's metadata is spread over the
/// columns in its row, so a node that needs the length and nothing else touches the lengths and
/// nothing else.
///
/// All packets of a frame came in on the same interface.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Frame {
    /// Packets in the frame.
    pub len: usize,
    /// The interface they came in on.
    pub rx: u16,
    /// True if a packet of the frame is traced.
    pub traced: bool,
    /// Buffers.
    pub buffer: [Buffer; FRAME_MAX],
    /// Bytes of the packet, from the Ethernet header on.
    pub length: [u16; FRAME_MAX],
    /// The adjacency that a lookup chose.
    pub adjacency: [u16; FRAME_MAX],
    /// The arc that the node chose.
    pub next: [u8; FRAME_MAX],
    /// Why a packet is dropped or punted, as an index into the reasons of the node that sent it
    /// there.
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

    /// Copies the rows of packets from another frame to the end of this one, which must have room
    /// for them.
    pub fn take(&mut self, from: &Frame, rows: &[u16]) {
        fn copy<T: Copy>(to: &mut [T], from: &[T; FRAME_MAX], rows: &[u16]) {
            for (to, row) in to.iter_mut().zip(rows) {
                *to = from[*row as usize % FRAME_MAX];
            }
        }
        let to = self.len..self.len + rows.len();
        copy(&mut self.buffer[to.clone()], &from.buffer, rows);
        copy(&mut self.length[to.clone()], &from.length, rows);
        copy(&mut self.adjacency[to.clone()], &from.adjacency, rows);
        copy(&mut self.reason[to.clone()], &from.reason, rows);
        if from.traced {
            // Rows that came from untraced frames before have stale numbers in this column.
            if !self.traced {
                self.trace[..to.start].fill(0);
                self.traced = true;
            }
            copy(&mut self.trace[to], &from.trace, rows);
        } else {
            self.trace[to].fill(0);
        }
        self.len += rows.len();
    }
}

impl Default for Frame {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes that one packet takes in a frame.
pub const LANE_BYTES: usize = size_of::<Buffer>() + 3 * size_of::<u16>() + 2 * size_of::<u8>();

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets with a number in each row; traces have it too if there are any.
    fn frame(len: usize, first: u16, traced: bool) -> Frame {
        let mut frame = Frame { len, traced, ..Frame::new() };
        for (row, number) in (0..len).zip(first..) {
            frame.buffer[row] = number.into();
            (frame.length[row], frame.adjacency[row], frame.reason[row]) = (number, number, number as u8);
            // A frame that traces nothing keeps the numbers of its earlier use here.
            frame.trace[row] = number;
        }
        frame
    }

    #[test]
    fn lanes_are_copied_to_the_end_and_no_stale_trace_comes_along() {
        for (there, from) in [(false, false), (false, true), (true, false), (true, true)] {
            let (mut frame, other) = (frame(3, 1, there), frame(9, 10, from));
            frame.take(&other, &[0, 4, 8]);
            let numbers = [1, 2, 3, 10, 14, 18];
            assert_eq!((frame.buffers(), &frame.length[..6]), (&numbers.map(u32::from)[..], &numbers[..]));
            assert_eq!((&frame.adjacency[..6], &frame.reason[..6]), (&numbers[..], &numbers.map(|n| n as u8)[..]));
            assert_eq!(frame.traced, there || from);
            let traces = |traced: bool, part: &[u16]| if traced { part.to_vec() } else { vec![0; part.len()] };
            if frame.traced {
                let expected = [traces(there, &numbers[..3]), traces(from, &numbers[3..])].concat();
                assert_eq!(frame.trace[..6], expected, "{there} {from}");
            }
        }
    }
}
