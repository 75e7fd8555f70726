//! The loop over a frame, written once for every shape, stride and memory.
//!
//! ```text
//!   lane:      i        i + 1     ...    i + S1·N      ...    i + S2·N
//!              load, finish              prefetch header      prefetch data
//! ```
//! `N` lanes are handled together: their prefetches first, then their loads, then the rest of the work, so that the loads
//! of `N` packets are under way at once. Strides count iterations, as the literature does: a dual loop with stride 3
//! prefetches 6 packets ahead.

use crate::arcs::DROP;
use crate::frame::{FRAME_MAX, Frame};
use crate::machine;
use crate::memory::PacketMemory;

pub use crate::arcs::Arcs;

/// How many packets an iteration handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// One packet.
    Single,
    /// Two packets.
    Dual,
    /// Four packets.
    Quad,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 3] = [Self::Single, Self::Dual, Self::Quad];

    /// Packets per iteration.
    pub fn lanes(self) -> usize {
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

/// How many iterations ahead the loop prefetches; with 0 it does not prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Strides {
    /// S1: the metadata's line.
    pub header: usize,
    /// S2: the data's first line.
    pub data: usize,
}

impl Strides {
    /// The same stride for both lines.
    pub fn both(stride: usize) -> Self {
        Self { header: stride, data: stride }
    }
}

/// What [`Body::finish`] returns instead of an arc when a packet needs the slow path.
pub const SLOW_PATH: u8 = 0x80;

/// What a loop does with one packet, in the two steps between which the loop interleaves its lanes.
///
/// Neither step calls anything that is not inlined, so the loop keeps all that it needs in registers. Rare packets have a pass of their own.
pub trait Body<M: PacketMemory> {
    /// What the first step hands to the second.
    type Loaded: Copy + Default;

    /// Reads what the packet's work needs.
    fn load(&self, memory: &mut M, frame: &Frame, lane: usize) -> Self::Loaded;

    /// Does the work of a common packet and returns its next arc. Returns [`SLOW_PATH`] and leaves the packet as it is if it is not common.
    fn finish(&mut self, memory: &mut M, frame: &mut Frame, lane: usize, loaded: Self::Loaded) -> u8;

    /// Does all the work of a packet for which [`Body::finish`] returned [`SLOW_PATH`], after the loop. A body that never returns it need
    /// not have this method.
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
) -> Arcs {
    match shape {
        Shape::Single => walk_lanes::<1, M, B>(strides, memory, frame, body),
        Shape::Dual => walk_lanes::<2, M, B>(strides, memory, frame, body),
        Shape::Quad => walk_lanes::<4, M, B>(strides, memory, frame, body),
    }
}

/// Bytes of the machine code of a shape's loop over a body, without what runs for rare packets; `None` where it cannot be found out.
pub fn code_bytes<M: PacketMemory, B: Body<M>>(shape: Shape) -> Option<usize> {
    type Loop<M, B> = fn(Strides, &mut M, &mut Frame, &mut B) -> Arcs;
    let function: Loop<M, B> = match shape {
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
) -> Arcs {
    let len = frame.len.min(FRAME_MAX);
    let header_ahead = if M::HEADER_LINE { strides.header * N } else { 0 };
    let data_ahead = strides.data * N;
    let mut arcs = Arcs::NONE;
    let mut lane = 0;
    // While every prefetch stays within the frame, there is nothing to ask but whether there is a prefetch at all.
    let ahead = header_ahead.max(data_ahead);
    if ahead > 0 {
        while lane + ahead + N <= len {
            step::<N, M, B>(memory, frame, body, &mut arcs, lane, header_ahead, data_ahead);
            lane += N;
        }
        // The shorter stride goes on to the end.
        while lane + N <= len {
            let within = |ahead: usize| if lane + ahead + N <= len { ahead } else { 0 };
            let (header_ahead, data_ahead) = (within(header_ahead), within(data_ahead));
            step::<N, M, B>(memory, frame, body, &mut arcs, lane, header_ahead, data_ahead);
            lane += N;
        }
    } else {
        while lane + N <= len {
            step::<N, M, B>(memory, frame, body, &mut arcs, lane, 0, 0);
            lane += N;
        }
    }
    while lane < len {
        step::<1, M, B>(memory, frame, body, &mut arcs, lane, 0, 0);
        lane += 1;
    }
    if arcs.any & SLOW_PATH != 0 { slow_path(memory, frame, body, len) } else { arcs }
}

#[cold]
#[inline(never)]
fn slow_path<M: PacketMemory, B: Body<M>>(memory: &mut M, frame: &mut Frame, body: &mut B, len: usize) -> Arcs {
    let mut arcs = Arcs::NONE;
    for lane in 0..len {
        if frame.next[lane] == SLOW_PATH {
            frame.next[lane] = body.slow_path(memory, frame, lane);
        }
        arcs.take(frame.next[lane]);
    }
    arcs
}

#[inline(always)]
fn step<const N: usize, M: PacketMemory, B: Body<M>>(
    memory: &mut M,
    frame: &mut Frame,
    body: &mut B,
    arcs: &mut Arcs,
    lane: usize,
    header_ahead: usize,
    data_ahead: usize,
) {
    // Lanes are below the frame's size already; the mask says so to the compiler.
    let at = |lane: usize| lane & (FRAME_MAX - 1);
    if header_ahead > 0 {
        for n in 0..N {
            memory.prefetch_header(frame.buffer[at(lane + header_ahead + n)]);
        }
    }
    if data_ahead > 0 {
        for n in 0..N {
            memory.prefetch_data(frame.buffer[at(lane + data_ahead + n)]);
        }
    }
    let mut loaded = [B::Loaded::default(); N];
    for (n, loaded) in loaded.iter_mut().enumerate() {
        *loaded = body.load(memory, frame, at(lane + n));
    }
    for (n, loaded) in loaded.iter().enumerate() {
        let arc = body.finish(memory, frame, at(lane + n), *loaded);
        frame.next[at(lane + n)] = arc;
        arcs.take(arc);
        memory.worked();
    }
}
