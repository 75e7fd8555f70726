//! Nodes and inputs.

use crate::arcs::Verdict;
use crate::frame::Frame;
use crate::plane::Plane;

/// The weight of an error.
#[derive(Clone, Copy, PartialEq)]
pub enum Severity {
    /// The packet is malformed, or no interface takes it.
    Error,
    /// It happens in normal operation.
    Info,
    /// No reason at all, but something else that a node counts: no packet ends for it.
    Counter,
}

impl Severity {
    /// Name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Info => "info",
            Self::Counter => "counter",
        }
    }
}

/// Why a node drops or punts a packet.
#[derive(Clone, Copy, PartialEq)]
pub struct Reason {
    /// The reason, as `show errors` prints it.
    pub text: &'static str,
    /// The weight of the error.
    pub severity: Severity,
}

impl Reason {
    /// A reason of [`Severity::Error`].
    pub const fn error(text: &'static str) -> Self {
        Self {
            text,
            severity: Severity::Error,
        }
    }

    /// A reason of [`Severity::Info`].
    pub const fn info(text: &'static str) -> Self {
        Self {
            text,
            severity: Severity::Info,
        }
    }
}

/// A node.
pub trait Node: Send {
    /// Name of the node.
    fn name(&self) -> &str;

    /// The reasons for which it may drop or punt packets.
    fn reasons(&self) -> &'static [Reason] {
        &[]
    }

    /// The counts of what else it met, beside its reasons, for `show errors`.
    fn counts(&self) -> Vec<(Reason, u64)> {
        Vec::new()
    }

    /// Works on a frame that is not empty.
    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict;

    /// The packets of a frame as this node saw them, one line each.
    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String>;
}

/// A source of packets.
pub trait Input: Send {
    /// The node's name.
    fn name(&self) -> &str;

    /// The interface that packets come in on.
    fn interface(&self) -> u16;

    /// Puts up to [`crate::plane::Settings::frame_size`] packets in an empty frame. An empty one is
    /// an empty poll.
    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame);

    /// True if packets come at a rate of their own, whoever takes them.
    fn is_paced(&self) -> bool {
        false
    }
}
