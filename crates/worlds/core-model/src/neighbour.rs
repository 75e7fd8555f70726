//! Adjacent-line prefetch: the neighbour that a second-level cache fetches with a line.

use std::collections::VecDeque;

/// Lines that are remembered until the one beside them is asked for.
const REMEMBERED: usize = 64;

/// The history by which a second-level cache chooses the neighbour that it fetches.
#[derive(Default)]
pub(crate) struct Neighbours {
    /// Lines that were asked for, and whose neighbours were not.
    alone: VecDeque<u64>,
    /// True if the program went down from a line to its neighbour, when it last went to one.
    downwards: bool,
}

impl Neighbours {
    /// Notes a line that is asked for. Returns the one to fetch with it, unless it is itself the
    /// neighbour of one that was asked for.
    pub(crate) fn beside(&mut self, line: u64) -> Option<u64> {
        if let Some(at) = self
            .alone
            .iter()
            .position(|other| other.abs_diff(line) == 1)
        {
            self.downwards = line < self.alone[at];
            self.alone.remove(at);
            return None;
        }
        if self.alone.len() == REMEMBERED {
            self.alone.pop_front();
        }
        self.alone.push_back(line);
        if self.downwards {
            line.checked_sub(1)
        } else {
            line.checked_add(1)
        }
    }
}
