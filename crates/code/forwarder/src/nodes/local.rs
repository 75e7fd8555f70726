//! `local-end`: where packets end that were for us.

use dataplane::frame::Frame;
use dataplane::graph::{Node, Verdict};
use dataplane::plane::Plane;

/// The end of packets that were for us.
#[derive(Default)]
pub struct Local;

impl Node for Local {
    fn name(&self) -> &str {
        "local-end"
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        plane.interfaces[frame.rx as usize].local += frame.len as u64;
        plane.pool.free(frame.buffers());
        Verdict::Consumed
    }

    fn trace(&self, _plane: &Plane, _frame: &Frame, _lane: usize) -> Vec<String> {
        vec!["it was for us".to_owned()]
    }
}
