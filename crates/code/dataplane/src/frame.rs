//! Frames: a vector of packets and what nodes tell each other about them.

use crate::arcs::ARCS_MAX;
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
    /// Why the node that has the frame drops or punts a packet, as an index into its reasons. It
    /// does not go with the packet.
    pub reason: [u8; FRAME_MAX],
    /// Number of the packet's trace, 0 for none.
    pub trace: [u16; FRAME_MAX],
}

impl Frame {
    /// The buffers of the packets in the frame.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffer[..self.len.min(FRAME_MAX)]
    }

    /// Copies packets of another frame to the end of this one, which must have room for them.
    pub(crate) fn take(&mut self, from: &Frame, rows: &Rows) {
        let start = self.len;
        if from.traced && !self.traced {
            // A frame that traces nothing keeps the numbers of its earlier use here.
            self.trace[..start].fill(0);
            self.traced = true;
        }
        let mut to = start;
        for row in rows.iter() {
            // Both are below it; the masks say so to the compiler.
            let (at, row) = (to % FRAME_MAX, row % FRAME_MAX);
            self.buffer[at] = from.buffer[row];
            self.length[at] = from.length[row];
            self.adjacency[at] = from.adjacency[row];
            to += 1;
        }
        if from.traced {
            for (row, at) in rows.iter().zip(start..) {
                self.trace[at] = from.trace[row];
            }
        } else {
            self.trace[start..to].fill(0);
        }
        self.len = to;
    }
}

/// Rows of a frame, a bit for each.
pub(crate) struct Rows {
    words: [u64; FRAME_MAX / 64],
    /// The words that the frame's packets have.
    used: usize,
}

impl Rows {
    /// Those of all packets.
    pub fn all(frame: &Frame) -> Self {
        let (full, rest) = (frame.len / 64, frame.len % 64);
        let mut words = [0; FRAME_MAX / 64];
        words[..full].fill(u64::MAX);
        if rest > 0 {
            words[full] = (1 << rest) - 1;
        }
        Self {
            words,
            used: frame.len.div_ceil(64),
        }
    }

    /// The first row.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// Takes out those whose packets take an arc. Eight packets are compared at a time, without a
    /// branch.
    pub fn take_arc(&mut self, frame: &Frame, arc: u8) -> Self {
        const ONES: u64 = 0x0101_0101_0101_0101;
        /// Moves the lowest bit of each byte to the highest byte.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        const {
            assert!(
                ARCS_MAX <= 0x80,
                "the addition below would carry into the next byte"
            )
        };
        let mut taken = Self {
            words: [0; FRAME_MAX / 64],
            used: self.used,
        };
        let (arcs, _) = frame.next.as_chunks::<64>();
        for ((left, taken), arcs) in self
            .words
            .iter_mut()
            .zip(&mut taken.words)
            .zip(arcs)
            .take(self.used)
        {
            let (eights, _) = arcs.as_chunks::<8>();
            let mut same = 0;
            for (place, eight) in eights.iter().enumerate() {
                let differs = (u64::from_le_bytes(*eight) ^ (ONES * u64::from(arc))) + ONES * 0x7f;
                same |= (((!differs >> 7) & ONES).wrapping_mul(GATHER) >> 56) << (8 * place);
            }
            *taken = *left & same;
            *left &= !same;
        }
        taken
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.words[..self.used]
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The rows, from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words[..self.used]
            .iter()
            .enumerate()
            .flat_map(|(at, word)| {
                let mut word = *word;
                std::iter::from_fn(move || {
                    let row = (word != 0).then(|| at * 64 + word.trailing_zeros() as usize);
                    word &= word.wrapping_sub(1);
                    row
                })
            })
    }
}

impl Default for Frame {
    /// An empty frame.
    fn default() -> Self {
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
}

/// Bytes that one packet takes in a frame.
pub const LANE_BYTES: usize = size_of::<Buffer>() + 3 * size_of::<u16>() + 2 * size_of::<u8>();

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets with a number in each row; traces have it too if there are any.
    fn frame(len: usize, first: u16, traced: bool) -> Frame {
        let mut frame = Frame {
            len,
            traced,
            ..Frame::default()
        };
        for (row, number) in (0..len).zip(first..) {
            frame.buffer[row] = number.into();
            (frame.length[row], frame.adjacency[row]) = (number, number);
            // A frame that traces nothing keeps the numbers of its earlier use here.
            frame.trace[row] = number;
        }
        frame
    }

    #[test]
    fn lanes_are_copied_to_the_end_and_no_stale_trace_comes_along() {
        for (there, from) in [(false, false), (false, true), (true, false), (true, true)] {
            let (mut frame, mut other) = (frame(3, 1, there), frame(9, 10, from));
            other.next[..9].copy_from_slice(&[1, 0, 0, 0, 1, 0, 0, 0, 1]);
            frame.take(&other, &Rows::all(&other).take_arc(&other, 1));
            let numbers = [1, 2, 3, 10, 14, 18];
            assert_eq!(
                (frame.buffers(), &frame.length[..6]),
                (&numbers.map(u32::from)[..], &numbers[..])
            );
            assert_eq!(frame.adjacency[..6], numbers);
            assert_eq!(frame.traced, there || from);
            let traces = |traced: bool, part: &[u16]| {
                if traced {
                    part.to_vec()
                } else {
                    vec![0; part.len()]
                }
            };
            if frame.traced {
                let expected = [traces(there, &numbers[..3]), traces(from, &numbers[3..])].concat();
                assert_eq!(frame.trace[..6], expected, "{there} {from}");
            }
        }
    }

    #[test]
    fn each_row_is_among_those_of_its_arc_and_of_no_other() {
        let mut frame = Frame::default();
        for (len, arcs) in [1, 8, 63, 64, 65, 130, 256, FRAME_MAX]
            .into_iter()
            .flat_map(|len| [(len, 2), (len, 64)])
        {
            frame.len = len;
            // Rows behind the last one have arcs of an earlier use.
            frame.next = std::array::from_fn(|row| (row * row / 3 % arcs) as u8);
            let mut left = Rows::all(&frame);
            assert_eq!(
                left.iter().collect::<Vec<_>>(),
                (0..len).collect::<Vec<_>>()
            );
            for arc in 0..arcs as u8 {
                let rows = left.take_arc(&frame, arc);
                let expected: Vec<usize> = (0..len).filter(|row| frame.next[*row] == arc).collect();
                assert_eq!(
                    (rows.len(), rows.iter().collect::<Vec<_>>()),
                    (expected.len(), expected),
                    "{len} {arc}"
                );
            }
            assert_eq!(left.first(), None);
        }
    }
}
