//! `l2-input` and `l2-output`: a cross connect.
//!
//! All packets of a frame came in on one interface, so both nodes decide once a frame.

use crate::arcs::{DROP, FIRST_ARC, Verdict};
use crate::frame::Frame;
use crate::node::{Node, Reason};
use crate::plane::{Mode, Plane};
use crate::trace::ethernet_line;

/// A node of a cross connect; packets of an interface that has no other one are dropped.
pub enum L2 {
    /// Sends cross-connected packets on. Arcs: drop, punt, l2-output.
    Input,
    /// Chooses the output of the other interface. Arcs: drop, punt, the interfaces' outputs by
    /// number.
    Output,
}

const REASONS: [Reason; 1] = [Reason::error("interface is not cross connected")];

impl Node for L2 {
    fn name(&self) -> &str {
        match self {
            Self::Input => "l2-input",
            Self::Output => "l2-output",
        }
    }

    fn reasons(&self) -> &'static [Reason] {
        &REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        Verdict::All(match (plane.interfaces[frame.rx as usize].mode, self) {
            (Mode::CrossConnect { .. }, Self::Input) => FIRST_ARC,
            (Mode::CrossConnect { peer }, Self::Output) => FIRST_ARC + peer as u8,
            (Mode::Route, _) => {
                frame.reason[..frame.len].fill(0);
                DROP
            }
        })
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let interface = match (plane.interfaces[frame.rx as usize].mode, self) {
            (Mode::CrossConnect { peer }, Self::Output) => peer,
            _ => frame.rx,
        };
        vec![format!(
            "{}: sw_if_index {interface} {}",
            self.name(),
            ethernet_line(plane.pool.data(frame.buffer[row]))
        )]
    }
}
