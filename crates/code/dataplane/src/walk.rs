//! The loop over a frame, written once for every shape, stride and memory.
//!
//! ```text
//!   row:      i        i + 1     ...    i + S1·N      ...    i + S2·N
//!              load, finish              prefetch header      prefetch data
//! ```
//! `N` columns are handled together: their prefetches first, then their loads, then the rest of the
//! work, so that the loads of `N` packets are under way at once. Strides count iterations, as the
//! literature does: a dual loop with stride 3 prefetches 6 packets ahead. Bodies of few steps gain
//! more if a block of packets goes one by one, without a question but the rules.

use crate::arcs::{ARCS_MAX, DROP, Verdict};
use crate::frame::{FRAME_MAX, Frame};
use crate::machine;
use crate::memory::PacketMemory;
use std::hint::cold_path;
use std::ops::Range;

/// The number of packets that an iteration handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Shape {
    /// One packet.
    Single,
    /// Two packets.
    Dual,
    /// Four packets; [`BLOCK`] in a body that works in blocks.
    Quad,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 3] = [Self::Single, Self::Dual, Self::Quad];

    /// Packets per iteration.
    pub fn packets(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Dual => 2,
            Self::Quad => 4,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Dual => "dual",
            Self::Quad => "quad",
        }
    }
}

impl std::str::FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|shape| shape.name() == text)
            .ok_or_else(|| format!("no loop shape `{text}`: single, dual or quad"))
    }
}

/// The numbers of iterations by which the loop prefetches ahead; with 0 it does not prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Strides {
    /// S1: the metadata's line.
    pub header: usize,
    /// S2: the data's first line.
    pub data: usize,
}

impl Strides {
    /// No prefetch.
    pub const NONE: Self = Self { header: 0, data: 0 };

    /// The same stride for both lines.
    pub fn both(stride: usize) -> Self {
        Self {
            header: stride,
            data: stride,
        }
    }
}

/// Stands in [`Frame::next`] for the arc of a packet that waits for [`Body::slow_path`]. No node
/// has as many arcs.
const SLOW_PATH: u8 = 0x80;
const _: () = assert!(SLOW_PATH as usize > ARCS_MAX);

/// Returns from a function if a condition holds that hardly any packet meets. Each such rule is a
/// branch of its own that is never taken, which is cheaper than to gather what is wrong in a number
/// and to ask once. The compiler would gather it if the branches did nothing but return, so each
/// has a box that it cannot look into.
macro_rules! rare {
    ($condition:expr => $result:expr) => {
        if $condition {
            std::hint::cold_path();
            std::hint::black_box(());
            return $result;
        }
    };
}
pub(crate) use rare;

/// Packets in a row that a loop hands to [`Body::work`]. The compiler writes out the work of each,
/// with its place in the frame in the instructions, and compares their lengths at once.
pub const BLOCK: usize = 8;

/// The work of a loop: on packets in a row, one after the other, or on one packet, in the two steps
/// between which the loop interleaves its columns.
///
/// Nothing of it calls anything that is not inlined, so the loop keeps all that it needs in
/// registers. Rare packets have a pass of their own.
pub trait Body<M: PacketMemory> {
    /// True if the body has [`Body::work`] in place of the two steps.
    const IN_BLOCKS: bool = false;

    /// The value that the first step hands to the second.
    type Loaded: Copy + Default;

    /// The arc that a packet, and those behind it, will probably take. A packet that takes it costs
    /// one comparison, and none where this is a constant that [`Body::finish`] returns; another one
    /// is noted aside.
    fn expected(&self, frame: &Frame, row: usize) -> u8;

    /// Does the work of `N` packets from a row on, up to the first one that is not common or does
    /// not take the expected arc. Returns how many packets that are, and leaves the others as they
    /// are.
    fn work<const N: usize>(
        &mut self,
        _memory: &mut M,
        _frame: &mut Frame,
        _row: usize,
        _expected: u8,
    ) -> usize {
        0
    }

    /// Reads what the packet's work needs.
    fn load(&self, _memory: &mut M, _frame: &Frame, _row: usize) -> Self::Loaded {
        Self::Loaded::default()
    }

    /// Does the work of a common packet and returns its next arc. Returns `None` and leaves the
    /// packet as it is if it is not common.
    #[inline(always)]
    fn finish(
        &mut self,
        memory: &mut M,
        frame: &mut Frame,
        row: usize,
        _loaded: Self::Loaded,
    ) -> Option<u8> {
        let arc = self.expected(frame, row);
        (self.work::<1>(memory, frame, row, arc) == 1).then_some(arc)
    }

    /// Does all the work of a packet for which [`Body::finish`] returned `None`, after the loop. A
    /// body whose packets are all common need not have this method.
    fn slow_path(&mut self, _memory: &mut M, _frame: &mut Frame, _lane: usize) -> u8 {
        DROP
    }
}

/// Runs a body over a frame, in the shape asked for; each packet's arc is left in [`Frame::next`].
#[inline(always)]
pub fn walk<M: PacketMemory, B: Body<M>>(
    shape: Shape,
    strides: Strides,
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
) -> Verdict {
    match shape {
        Shape::Single => walk_lanes::<1, M, B>(strides, memory, frame, body),
        Shape::Dual => walk_lanes::<2, M, B>(strides, memory, frame, body),
        Shape::Quad => walk_lanes::<4, M, B>(strides, memory, frame, body),
    }
}

/// Bytes of the machine code of a shape's loop over a body, without what runs for rare packets;
/// `None` where it cannot be found out.
pub fn code_bytes<M: PacketMemory, B: Body<M>>(shape: Shape) -> Option<usize> {
    let function = match shape {
        Shape::Single => walk_lanes::<1, M, B>,
        Shape::Dual => walk_lanes::<2, M, B>,
        Shape::Quad => walk_lanes::<4, M, B>,
    };
    machine::code_bytes(function as *const ())
}

#[inline(never)]
fn walk_lanes<const N: usize, M: PacketMemory, B: Body<M>>(
    strides: Strides,
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
) -> Verdict {
    let len = frame.len.min(FRAME_MAX);
    let ahead = Strides {
        header: if M::HEADER_LINE {
            strides.header * N
        } else {
            0
        },
        data: strides.data * N,
    };
    let expected = body.expected(frame, 0);
    frame.next[..len].fill(expected);
    let mut odd_ones = 0;
    let mut row = 0;
    // The loops know nothing of packets that take another arc: each is written here, and the loops
    // go on behind it.
    while let Some((odd, arc)) =
        until_odd::<N, M, B>(memory, frame, body, expected, row..len, ahead)
    {
        frame.next[odd] = arc;
        odd_ones += 1;
        row = odd + 1;
        if odd_ones == MANY {
            mixed::<N, M, B>(memory, frame, body, row..len, ahead);
            break;
        }
    }
    if odd_ones > 0 {
        part(memory, frame, body, len)
    } else {
        Verdict::All(expected)
    }
}

/// Handles packets until one takes another arc than expected; returns its row and its arc.
#[inline(always)]
fn until_odd<const N: usize, M: PacketMemory, B: Body<M>>(
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
    expected: u8,
    rows: Range<usize>,
    ahead: Strides,
) -> Option<(usize, u8)> {
    if !B::IN_BLOCKS || N != Shape::Quad.packets() {
        return packets::<N, false, M, B>(memory, frame, body, expected, rows, ahead);
    }
    let blocks = if ahead.data > 0 {
        blocks::<true, M, B>
    } else {
        blocks::<false, M, B>
    };
    let Range {
        start: mut row,
        end,
    } = rows;
    while row < end {
        row = blocks(memory, frame, body, expected, row..end, ahead.data);
        // Those that fill no block, or are in one with a packet that is not common.
        let few = row..end.min(row + BLOCK);
        row = few.end;
        let none = Strides::NONE;
        let odd = packets::<1, false, M, B>(memory, frame, body, expected, few, none);
        if odd.is_some() {
            return odd;
        }
    }
    None
}

/// Handles packets by blocks, up to the first one that is not common; returns its row, or that of
/// the first one behind the last block. Where it prefetches, `AHEAD` is true.
#[inline(never)]
fn blocks<const AHEAD: bool, M: PacketMemory, B: Body<M>>(
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
    expected: u8,
    rows: Range<usize>,
    ahead: usize,
) -> usize {
    let mut row = rows.start;
    let Some(last) = rows.end.min(FRAME_MAX).checked_sub(BLOCK) else {
        return row;
    };
    while row <= last {
        if AHEAD && row + ahead <= last {
            for &buffer in rows_of::<BLOCK, _>(&frame.buffer, row + ahead) {
                memory.prefetch_data(buffer);
            }
        }
        let done = body.work::<BLOCK>(memory, frame, row, expected);
        if done < BLOCK {
            return row + done;
        }
        row += BLOCK;
    }
    row
}

/// `N` rows of a column of the frame.
#[inline(always)]
pub fn rows_of<const N: usize, T>(column: &[T; FRAME_MAX], row: usize) -> &[T; N] {
    column[row..].first_chunk().expect("rows within the frame")
}

/// Once this number of packets of a frame took another arc than expected, the others may do so as
/// well. Then it is cheaper to store each arc than to leave the loop, which the processor cannot
/// foresee.
const MANY: u32 = 4;

/// Handles packets each of which may take another arc.
#[inline(never)]
fn mixed<const N: usize, M: PacketMemory, B: Body<M>>(
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
    rows: Range<usize>,
    ahead: Strides,
) {
    packets::<N, true, M, B>(memory, frame, body, SLOW_PATH, rows, ahead);
}

/// As [`until_odd`], one after the other. Where packets are `MIXED` it stores the arc of each, and
/// goes on to the end.
#[inline(always)]
fn packets<const N: usize, const MIXED: bool, M: PacketMemory, B: Body<M>>(
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
    expected: u8,
    rows: Range<usize>,
    ahead: Strides,
) -> Option<(usize, u8)> {
    let (mut row, len) = (rows.start, rows.end);
    let most = ahead.header.max(ahead.data);
    let mut odd = None;
    while odd.is_none() && row < len {
        if row % N == 0 {
            // While every prefetch stays within the frame, there is nothing to ask but whether
            // there is a prefetch at all.
            if most > 0 {
                while row + most + N <= len {
                    odd = step::<N, MIXED, M, B>(memory, frame, body, expected, row, ahead);
                    if odd.is_some() {
                        return odd;
                    }
                    row += N;
                }
                // The shorter stride goes on to the end.
                while row + N <= len {
                    let within = |ahead: usize| if row + ahead + N <= len { ahead } else { 0 };
                    let ahead = Strides {
                        header: within(ahead.header),
                        data: within(ahead.data),
                    };
                    odd = step::<N, MIXED, M, B>(memory, frame, body, expected, row, ahead);
                    if odd.is_some() {
                        return odd;
                    }
                    row += N;
                }
            } else {
                while row + N <= len {
                    odd = step::<N, MIXED, M, B>(memory, frame, body, expected, row, Strides::NONE);
                    if odd.is_some() {
                        return odd;
                    }
                    row += N;
                }
            }
        }
        // The packets that do not fill an iteration go one by one.
        if row < len {
            odd = step::<1, MIXED, M, B>(memory, frame, body, expected, row, Strides::NONE);
            row += 1;
        }
    }
    odd
}

/// Does the work of the packets that the loop left, and finds out whether the frame's packets part.
#[cold]
#[inline(never)]
fn part<M: PacketMemory, B: Body<M>>(
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
    len: usize,
) -> Verdict {
    // Most frames that part have no such packet, and to look for one is cheaper than to ask each.
    if frame.next[..len].contains(&SLOW_PATH) {
        for row in 0..len {
            if frame.next[row] == SLOW_PATH {
                frame.next[row] = body.slow_path(memory, frame, row);
            }
        }
    }
    let next = &frame.next[..len];
    match next.first() {
        Some(&arc) if next.iter().all(|other| *other == arc) => Verdict::All(arc),
        _ => Verdict::Mixed,
    }
}

/// One iteration, up to a packet that takes another arc than expected: its row and its arc. Where
/// packets are `MIXED`, all of it.
#[inline(always)]
fn step<const N: usize, const MIXED: bool, M: PacketMemory, B: Body<M>>(
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
    expected: u8,
    row: usize,
    ahead: Strides,
) -> Option<(usize, u8)> {
    // Lanes are below the frame's size already; the masks say so to the compiler. An iteration's
    // first row is a multiple of `N`.
    let at = |row: usize| row & (FRAME_MAX - 1);
    let row = row & (FRAME_MAX - N);
    if ahead.header > 0 {
        for n in 0..N {
            memory.prefetch_header(frame.buffer[at(row + ahead.header + n)]);
        }
    }
    if ahead.data > 0 {
        for n in 0..N {
            memory.prefetch_data(frame.buffer[at(row + ahead.data + n)]);
        }
    }
    let mut loaded = [B::Loaded::default(); N];
    for (n, loaded) in loaded.iter_mut().enumerate() {
        *loaded = body.load(memory, frame, row + n);
    }
    for (n, loaded) in loaded.iter().enumerate() {
        let arc = body.finish(memory, frame, row + n, *loaded);
        memory.worked();
        if MIXED {
            frame.next[row + n] = arc.unwrap_or(SLOW_PATH);
        } else if arc != Some(expected) {
            cold_path();
            return Some((row + n, arc.unwrap_or(SLOW_PATH)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::{Pool, Reuse};
    use crate::memory::InFrame;

    const LAST: u8 = 5;

    /// Arcs by the buffers' numbers: most take the last arc, and each 13th is not common and takes
    /// arc 4 by the slow path.
    struct ByNumber;

    fn arc_of(buffer: u32) -> u8 {
        match buffer {
            buffer if buffer % 13 == 12 => 4,
            buffer if buffer % 7 == 6 => (buffer % 4) as u8,
            _ => LAST,
        }
    }

    impl<M: PacketMemory> Body<M> for ByNumber {
        type Loaded = u32;

        fn expected(&self, _frame: &Frame, _row: usize) -> u8 {
            LAST
        }

        fn load(&self, _memory: &mut M, frame: &Frame, row: usize) -> u32 {
            frame.buffer[row]
        }

        fn finish(
            &mut self,
            _memory: &mut M,
            frame: &mut Frame,
            row: usize,
            buffer: u32,
        ) -> Option<u8> {
            // The count of times that each packet was handled.
            frame.adjacency[row] += 1;
            (buffer % 13 != 12).then(|| arc_of(buffer))
        }

        fn slow_path(&mut self, _memory: &mut M, frame: &mut Frame, row: usize) -> u8 {
            arc_of(frame.buffer[row])
        }
    }

    #[test]
    fn every_packet_is_handled_once_and_has_its_arc_wherever_others_go() {
        let mut pool = Pool::new(FRAME_MAX, Reuse::Cycle);
        let mut frame = Frame::default();
        for (shape, stride, len) in Shape::ALL
            .into_iter()
            .flat_map(|shape| [0, 1, 4].map(|stride| (shape, stride)))
            .flat_map(|(shape, stride)| {
                (0..=41)
                    .chain([FRAME_MAX])
                    .map(move |len| (shape, stride, len))
            })
        {
            // All the same, the first one odd, the last one odd, and many.
            for first in [0, 6, 12, 27] {
                frame.len = len;
                frame.adjacency.fill(0);
                for row in 0..len {
                    frame.buffer[row] = (row as u32 + first) % FRAME_MAX as u32;
                }
                let verdict = walk(
                    shape,
                    Strides::both(stride),
                    &mut InFrame::new(&mut pool),
                    &mut frame,
                    &mut ByNumber,
                );
                let arcs: Vec<u8> = frame
                    .buffers()
                    .iter()
                    .map(|buffer| arc_of(*buffer))
                    .collect();
                assert_eq!(frame.next[..len], arcs, "{shape:?} {stride} {len} {first}");
                assert!(
                    frame.adjacency[..len].iter().all(|times| *times == 1),
                    "{shape:?} {stride} {len} {first}"
                );
                let same = arcs
                    .iter()
                    .all(|arc| *arc == *arcs.first().unwrap_or(&LAST));
                let one = Verdict::All(*arcs.first().unwrap_or(&LAST));
                assert_eq!(
                    verdict,
                    if same { one } else { Verdict::Mixed },
                    "{shape:?} {stride} {len} {first}"
                );
            }
        }
    }
}
