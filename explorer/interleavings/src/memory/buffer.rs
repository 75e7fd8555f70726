//! Store buffers: what enters them, and in what order it leaves.

use super::history::{Dirty, Message};
use super::races::Tag;
use super::state::Memory;
use super::types::{Answers, Delay, Touch};
use super::view::{BUFFER, Entry, EntryKind};

impl Memory {
    /// Asks for how long something stays in the buffer; the number of the choice as well.
    pub(super) fn delay(&mut self, what: Delay, answers: &mut impl Answers) -> (u8, u32) {
        self.asked += 1;
        (answers.delay(what), self.asked)
    }

    /// True if the CPU has entries in its buffer, or would have.
    #[inline(always)]
    pub(super) fn has_buffered(&self, cpu: usize) -> bool {
        self.views[cpu].buffered != 0 || !self.unheld.is_empty()
    }

    /// An operation of `cpu` passes: what has been in its buffer for long enough leaves it.
    #[inline(always)]
    pub fn pass(&mut self, cpu: usize) {
        if self.views[cpu].buffered != 0 {
            self.pass_buffer(cpu);
        }
        // What it does before its late load gets its value, it may do afterwards.
        if self.owing != 0 && self.debts[cpu].is_some() {
            self.touch([Touch::debt(cpu, false)]);
        }
    }

    fn pass_buffer(&mut self, cpu: usize) {
        let mut due = None;
        let view = &mut self.views[cpu];
        for (at, entry) in view.buffer[..usize::from(view.buffered)]
            .iter_mut()
            .enumerate()
        {
            if entry.left != u8::MAX {
                entry.left = entry.left.saturating_sub(1);
            }
            if entry.left == 0 {
                due = Some(at);
            }
        }
        if due.is_some() {
            // The youngest first: it takes along what it must follow, and whoever is left goes
            // after it.
            while let Some(at) = self.views[cpu]
                .entries()
                .iter()
                .rposition(|entry| entry.left == 0)
            {
                self.leave(cpu, at);
            }
        }
    }

    pub(super) fn enter(&mut self, cpu: usize, mut entry: Entry) {
        self.views[cpu].entered += 1;
        entry.age = self.views[cpu].entered;
        let coherent = self.views[cpu].coherent;
        if self.trace.is_some() && entry.what != EntryKind::StoreBarrier {
            self.note_unheld(cpu, entry, coherent);
        }
        if entry.left == 0
            && (self.views[cpu].buffered == 0 || !self.must_follow_any(cpu, &entry, coherent))
        {
            self.perform(cpu, entry);
            return;
        }
        if usize::from(self.views[cpu].buffered) == BUFFER {
            self.leave(cpu, 0);
        }
        let view = &mut self.views[cpu];
        view.buffer[usize::from(view.buffered)] = entry;
        view.buffered += 1;
        if entry.left == 0 {
            let at = usize::from(view.buffered) - 1;
            self.leave(cpu, at);
        }
    }

    fn must_follow_any(&self, cpu: usize, entry: &Entry, coherent: bool) -> bool {
        let view = &self.views[cpu];
        view.entries()
            .iter()
            .any(|older| self.follows(older, entry, coherent))
    }

    /// True if `younger` may leave the buffer only after `older`.
    pub(super) fn follows(&self, older: &Entry, younger: &Entry, coherent: bool) -> bool {
        use EntryKind::{Release, StoreBarrier};
        if younger.what == Release || younger.what == StoreBarrier || older.what == StoreBarrier {
            return !(older.what.is_maintenance() && younger.what == Release);
        }
        let same_line = self.line_of(older.cell) == self.line_of(younger.cell);
        match (older.what.is_maintenance(), younger.what.is_maintenance()) {
            (false, false) => older.cell == younger.cell,
            _ => same_line && coherent,
        }
    }

    /// Lets the entry at `at` leave a CPU's buffer, after those that it must follow.
    pub fn leave(&mut self, cpu: usize, at: usize) {
        let coherent = self.views[cpu].coherent;
        let mut at = at;
        let entry = self.views[cpu].buffer[at];
        let mut older = 0;
        while older < at {
            let other = self.views[cpu].buffer[older];
            if self.follows(&other, &entry, coherent) {
                let before = self.views[cpu].buffered;
                self.leave(cpu, older);
                // It may have taken others along, all of them older than we are.
                at -= usize::from(before - self.views[cpu].buffered);
                older = 0;
            } else {
                older += 1;
            }
        }
        let view = &mut self.views[cpu];
        view.buffer
            .copy_within(at + 1..usize::from(view.buffered), at);
        view.buffered -= 1;
        self.perform(cpu, entry);
    }

    pub(super) fn leave_while(&mut self, cpu: usize, which: impl Fn(&Entry) -> bool) {
        self.unheld
            .retain(|(other, entry)| *other != cpu || !which(entry));
        while let Some(at) = {
            let view = &self.views[cpu];
            view.entries().iter().position(&which)
        } {
            self.leave(cpu, at);
        }
    }

    /// All that a CPU has stored or maintained reaches the others.
    pub fn empty_buffer(&mut self, cpu: usize) {
        self.unheld.retain(|(other, _)| *other != cpu);
        while self.views[cpu].buffered != 0 {
            self.leave(cpu, 0);
        }
    }

    fn perform(&mut self, cpu: usize, entry: Entry) {
        self.reserved -= u32::from(entry.reserved);
        if self.trace.is_some() && entry.what != EntryKind::StoreBarrier {
            self.note_overtaking(cpu, &entry);
        }
        match entry.what {
            EntryKind::Store => self.write(cpu, entry.cell, entry.value, entry.tag),
            EntryKind::Release => {
                self.write(cpu, entry.cell, entry.value, entry.tag);
                self.views[cpu].released = self.now;
            }
            EntryKind::Clean => self.clean(cpu, entry.cell, false),
            EntryKind::CleanInvalidate => self.clean(cpu, entry.cell, true),
            EntryKind::StoreBarrier => {}
        }
    }

    fn write(&mut self, cpu: usize, cell: u16, value: u64, tag: Tag) {
        if self.reserved != 0 {
            self.let_reserved_leave(cpu, cell);
        }
        let coherent = self.views[cpu].coherent;
        if coherent {
            let line = self.line_of(cell);
            self.fill(line);
            self.lines[line].dirty = Dirty::Cpu(cpu as u8);
        }
        let at = self.tick();
        let message = Message {
            value,
            at,
            writer: cpu as u8,
            tag,
        };
        let line = self.line_of(cell);
        let cached = self.lines[line].cached;
        // While no cache has the line, what memory holds is what everybody sees.
        let mut differs = false;
        if coherent || !cached {
            differs |= self.cells[usize::from(cell)].coherent.append(message);
            self.remember(cell, value);
        }
        if !coherent {
            differs |= self.cells[usize::from(cell)].memory.append(message);
        }
        self.views[cpu].stored = at;
        let known = self.known_at(cell, coherent, cpu);
        self.known[known] = at;
        if differs {
            self.note_change(cell);
        }
        if self.owing != 0 {
            self.pay(cpu, cell, message);
        }
    }

    /// Entries in a CPU's buffer.
    pub fn buffered(&self, cpu: usize) -> usize {
        usize::from(self.views[cpu].buffered)
    }

    /// The store of a read-modify-write that has not reached the others: its CPU, and its place in
    /// the buffer.
    pub(super) fn reserved_by(&self, cell: u16) -> Option<(usize, usize)> {
        self.views.iter().enumerate().find_map(|(cpu, view)| {
            view.entries()
                .iter()
                .position(|entry| entry.reserved && entry.cell == cell)
                .map(|at| (cpu, at))
        })
    }

    /// Another CPU is about to store to the word, or to read it for a read-modify-write of its own.
    pub(super) fn let_reserved_leave(&mut self, cpu: usize, cell: u16) {
        if let Some((other, at)) = self.reserved_by(cell).filter(|(other, _)| *other != cpu) {
            self.leave(other, at);
        }
    }
}
