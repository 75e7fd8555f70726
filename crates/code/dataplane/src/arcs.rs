//! Arcs between nodes, and which of them a frame's packets take.

/// Arc to the node that drops, in every node.
pub const DROP: u8 = 0;
/// Arc to the node that hands packets to the host, in every node.
pub const PUNT: u8 = 1;
/// The first arc that is a node's own.
pub const FIRST_ARC: u8 = 2;
/// A node has at most this many arcs.
pub const ARCS_MAX: usize = 64;

/// Destination of a frame's packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// All packets take the same arc.
    All(u8),
    /// Each packet takes the arc in its row of [`Frame::next`](crate::frame::Frame::next).
    Mixed,
    /// The node kept the packets or freed them.
    Consumed,
}
