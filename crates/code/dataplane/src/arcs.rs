//! Arcs between nodes, and which of them a frame's packets take.

/// Arc to the node that drops, in every node.
pub const DROP: u8 = 0;
/// Arc to the node that hands packets to the host, in every node.
pub const PUNT: u8 = 1;
/// The first arc that is a node's own.
pub const FIRST_ARC: u8 = 2;
/// A node has at most this many arcs.
pub const ARCS_MAX: usize = 64;

/// The arcs that a frame's packets took. The loop collects them in a register, so that the bodies need no memory for them.
#[derive(Clone, Copy, Debug)]
pub struct Arcs {
    pub(crate) any: u8,
    every: u8,
}

impl Arcs {
    /// The arcs of no packet.
    pub(crate) const NONE: Self = Self { any: 0, every: 0xff };

    /// Adds the arc of one packet.
    #[inline(always)]
    pub(crate) fn take(&mut self, arc: u8) {
        self.any |= arc;
        self.every &= arc;
    }

    /// The one arc that all packets took, if it was one.
    #[inline(always)]
    pub fn only(self) -> Option<u8> {
        (self.any == self.every).then_some(self.any)
    }
}

/// Where a frame's packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All packets take the same arc.
    All(u8),
    /// Each packet takes the arc in its lane of [`Frame::next`](crate::frame::Frame::next).
    Mixed,
    /// The node kept the packets or freed them.
    Consumed,
}

impl From<Arcs> for Verdict {
    #[inline(always)]
    fn from(arcs: Arcs) -> Self {
        arcs.only().map_or(Self::Mixed, Self::All)
    }
}
