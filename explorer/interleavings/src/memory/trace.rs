//! Runs that differ: what each step accesses, and what is held back for others to overtake it.

use super::state::Memory;
use super::types::Touch;
use super::view::{Entry, EntryKind};

impl Memory {
    /// Keeps what each step accesses, or does not: where every run is tried that differs.
    pub(crate) fn keep_trace(&mut self, keep: bool) {
        self.trace = keep.then(Vec::new);
    }

    /// The present step accesses something else than words.
    pub(crate) fn touch(&mut self, touches: impl IntoIterator<Item = Touch>) {
        if let Some(trace) = &mut self.trace {
            trace.extend(touches);
        }
    }

    /// The words that have changed since the last call, where accesses are kept.
    pub(crate) fn take_changes(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.changes)
    }

    /// A step of the CPU ends: hands over what it has accessed, and which choices to hold an entry
    /// back would have made a difference. True if an entry was held back for others to overtake it,
    /// and none has.
    pub(crate) fn end_step(
        &mut self,
        cpu: usize,
        mut hand_over: impl FnMut(&[Touch], &[u32]),
    ) -> bool {
        let now = self.now;
        if let Some(view) = self.views.get_mut(cpu) {
            view.last_step = now;
        }
        if let Some(trace) = &mut self.trace {
            hand_over(trace, &self.worth_holding);
            trace.clear();
        }
        self.worth_holding.clear();
        std::mem::take(&mut self.redundant)
    }

    pub(super) fn note_change(&mut self, cell: u16) {
        self.changed = Some(cell);
        if let Some(trace) = &mut self.trace {
            trace.push(Touch { cell, writes: true });
            self.changes.push(cell);
        }
    }

    /// The state of a line has changed.
    pub(super) fn trace_line(&mut self, line: usize) {
        let cells = self.cells_of(line);
        if let Some(trace) = &mut self.trace
            && self.views.iter().any(|view| !view.coherent)
        {
            trace.extend(cells.map(|cell| Touch {
                cell: cell as u16,
                writes: true,
            }));
        }
    }

    /// Something enters the buffer: it might overtake what was not held back.
    #[cold]
    pub(super) fn note_unheld(&mut self, cpu: usize, entry: Entry, coherent: bool) {
        let mut unheld = std::mem::take(&mut self.unheld);
        unheld.retain(|(other, older)| {
            if *other != cpu {
                return true;
            }
            if !self.follows(older, &entry, coherent) {
                self.worth_holding.push(older.asked);
                return false;
            }
            entry.left != 0
        });
        if entry.left == 0 && entry.asked != 0 {
            unheld.push((cpu, entry));
        }
        self.unheld = unheld;
    }

    /// A store or maintenance reaches the others: it has overtaken the older ones that are left.
    pub(super) fn note_overtaking(&mut self, cpu: usize, entry: &Entry) {
        self.redundant |= entry.left == u8::MAX && !entry.overtaken;
        let view = &mut self.views[cpu];
        for older in &mut view.buffer[..usize::from(view.buffered)] {
            older.overtaken |= older.what != EntryKind::StoreBarrier && older.age < entry.age;
        }
    }

    fn overtaken_entries(&self, cpu: usize) -> impl Iterator<Item = usize> {
        let view = &self.views[cpu];
        view.entries()
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.overtaken && entry.left == u8::MAX)
            .map(|(at, _)| at)
    }

    /// The entries that were held back and that a later one has overtaken.
    #[inline(always)]
    pub(crate) fn overtaken(&self, cpu: usize) -> usize {
        if self.views[cpu].buffered == 0 {
            0
        } else {
            self.overtaken_entries(cpu).count()
        }
    }

    /// Lets one of them leave the buffer.
    pub(crate) fn let_overtaken_leave(&mut self, cpu: usize, nth: usize) {
        let at = self.overtaken_entries(cpu).nth(nth);
        if let Some(at) = at {
            self.leave(cpu, at);
        }
    }
}
