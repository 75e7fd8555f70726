//! `l2-input` and `l2-output`: a cross connect.
//!
//! All packets of a frame came in on one interface, so both nodes decide once a frame.

use crate::arcs::{DROP, FIRST_ARC, Verdict};
use crate::frame::Frame;
use crate::node::{Node, Reason};
use crate::plane::{Mode, Plane};
use crate::trace::ethernet_line;

/// Sends cross-connected packets on. Arcs: drop, punt, l2-output.
pub struct L2Input;

const REASONS: [Reason; 1] = [Reason::error("interface is not cross connected")];

/// Sends a frame's packets along an arc that depends on the other interface; drops those of an
/// interface that has none.
fn cross(plane: &Plane, frame: &mut Frame, arc: impl Fn(u16) -> u8) -> Verdict {
    match plane.interfaces[frame.rx as usize].mode {
        Mode::CrossConnect { peer } => Verdict::All(arc(peer)),
        Mode::Route => {
            frame.reason[..frame.len].fill(0);
            Verdict::All(DROP)
        }
    }
}

impl Node for L2Input {
    fn name(&self) -> &str {
        "l2-input"
    }

    fn reasons(&self) -> &'static [Reason] {
        &REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        cross(plane, frame, |_| FIRST_ARC)
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        vec![format!(
            "l2-input: sw_if_index {} {}",
            frame.rx,
            ethernet_line(plane.pool.data(frame.buffer[row]))
        )]
    }
}

/// Chooses the output of the other interface. Arcs: drop, punt, the interfaces' outputs by number.
pub struct L2Output;

impl Node for L2Output {
    fn name(&self) -> &str {
        "l2-output"
    }

    fn reasons(&self) -> &'static [Reason] {
        &REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        cross(plane, frame, |peer| FIRST_ARC + peer as u8)
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let to = match plane.interfaces[frame.rx as usize].mode {
            Mode::CrossConnect { peer } => peer,
            Mode::Route => frame.rx,
        };
        vec![format!(
            "l2-output: sw_if_index {to} {}",
            ethernet_line(plane.pool.data(frame.buffer[row]))
        )]
    }
}
