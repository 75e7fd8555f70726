//! Loads, stores, atomics, and the maintenance of lines.

use super::history::{Message, Moment};
use super::state::Memory;
use super::types::{Answers, AtomicOrder, Delay, LoadResult, Order, Touch};
use super::view::{Entry, EntryKind};

/// Writer and value of the newer of two messages, which the whole machine holds as the newest,
/// unless the value is the one that was loaded.
#[inline(always)]
fn differing_newest(here: &Message, other: &Message, loaded: &Message) -> Option<(u8, u64)> {
    let latest = if other.at > here.at { other } else { here };
    (latest.value != loaded.value).then_some((latest.writer, latest.value))
}

impl Memory {
    pub(crate) fn load(
        &mut self,
        cpu: usize,
        cell: u16,
        order: Order,
        answers: &mut impl Answers,
    ) -> LoadResult {
        self.load_after(cpu, cell, order, 0, answers)
    }

    /// A load whose address depends on a value that came at `after`: it returns nothing that had
    /// been replaced by then.
    pub fn load_after(
        &mut self,
        cpu: usize,
        cell: u16,
        order: Order,
        after: Moment,
        answers: &mut impl Answers,
    ) -> LoadResult {
        let coherent = self.views[cpu].coherent;
        if self.has_buffered(cpu)
            && let Some(own) = self.load_own(cpu, cell, order)
        {
            return own;
        }
        if coherent {
            self.fill(self.line_of(cell));
        }
        let known = self.known_at(cell, coherent, cpu);
        let view = &self.views[cpu];
        let released = if order == Order::Ordered {
            view.released
        } else {
            0
        };
        let floor = view.floor.max(released).max(self.known[known]).max(after);
        let state = &self.cells[usize::from(cell)];
        let history = if coherent {
            &state.coherent
        } else {
            &state.memory
        };
        let newest = history.newest();
        let mut message = newest;
        if newest.at > floor {
            let choices = history.choices(floor);
            if choices > 1 {
                let in_order = history.choices(view.last_step) - 1;
                message = history.aged(answers.age(choices, in_order));
            }
        }
        let other = if coherent {
            state.memory.newest()
        } else {
            state.coherent.newest()
        };
        let newest_elsewhere = differing_newest(&newest, &other, &message);
        let view = &mut self.views[cpu];
        view.loaded = view.loaded.max(message.at);
        if order != Order::Relaxed {
            view.floor = view.floor.max(message.at);
        }
        self.known[known] = self.known[known].max(message.at);
        if let Some(races) = &mut self.races {
            races.loads(cpu, order != Order::Relaxed, message.tag);
        }
        if let Some(trace) = &mut self.trace {
            trace.push(Touch {
                cell,
                writes: false,
            });
        }
        LoadResult {
            value: message.value,
            newest_elsewhere,
            is_newest_here: message.at == newest.at,
            at: message.at,
        }
    }

    /// Lets what must come before a load leave the buffer; the CPU's own store to the word, if it
    /// is still there.
    fn load_own(&mut self, cpu: usize, cell: u16, order: Order) -> Option<LoadResult> {
        if order == Order::Ordered {
            self.leave_while(cpu, |entry| entry.what == EntryKind::Release);
        }
        if self.views[cpu].coherent {
            let line = self.line_of(cell);
            let per_line = self.cells_per_line;
            self.leave_while(cpu, |entry| {
                entry.what.is_maintenance() && usize::from(entry.cell) / per_line == line
            });
        }
        let own = self.views[cpu]
            .entries()
            .iter()
            .rev()
            .find(|entry| entry.what.is_store() && entry.cell == cell);
        let Entry { value, after, .. } = *own?;
        // What depends on it depends on what it depends on. A load that acquires what a
        // read-modify-write stores comes after what that has read (DDI 0487, B2.3:
        // Atomic-ordered-before).
        if order != Order::Relaxed {
            let view = &mut self.views[cpu];
            view.floor = view.floor.max(after);
        }
        Some(LoadResult {
            value,
            newest_elsewhere: None,
            is_newest_here: true,
            at: after,
        })
    }

    pub(crate) fn store(
        &mut self,
        cpu: usize,
        cell: u16,
        value: u64,
        order: Order,
        answers: &mut impl Answers,
    ) {
        self.store_after(cpu, cell, value, order, 0, answers);
    }

    /// A store whose address or data depends on a value that came at `after`.
    pub fn store_after(
        &mut self,
        cpu: usize,
        cell: u16,
        value: u64,
        order: Order,
        after: Moment,
        answers: &mut impl Answers,
    ) {
        let what = if order == Order::Relaxed {
            EntryKind::Store
        } else {
            EntryKind::Release
        };
        let (left, asked) = self.delay(Delay::Store, answers);
        let releases = order != Order::Relaxed;
        let tag = self
            .races
            .as_mut()
            .map_or(0, |races| races.stores(cpu, releases, 0));
        self.enter(
            cpu,
            Entry {
                value,
                tag,
                after,
                ..Entry::other(what, cell, left, asked)
            },
        );
    }

    /// Changes a word in one step, as an instruction does that reads and writes (LSE: `CAS`, `SWP`,
    /// `LDADD` and their like), or as two that are exclusive, whose store succeeds (`LDXR` and
    /// `STXR`); only for CPUs in coherency. `change` makes the new value of the newest one; `None`
    /// leaves it.
    pub fn atomic(
        &mut self,
        cpu: usize,
        cell: u16,
        order: AtomicOrder,
        is_pair: bool,
        change: impl FnOnce(u64) -> Option<u64>,
        answers: &mut impl Answers,
    ) -> u64 {
        let before = self.read_exclusively(cpu, cell, order);
        let Some(after) = change(before.value) else {
            return before.value;
        };
        // Of an instruction that acquires and releases, what comes later waits for the store, too
        // (DDI 0487, B2.3: Barrier-ordered-before); of one that acquires, for the load alone.
        let whole = order.acquires() && order.releases() && !is_pair;
        let delay = if whole {
            (0, 0)
        } else {
            self.delay(Delay::Store, answers)
        };
        self.write_exclusively(cpu, cell, order, before, after, delay);
        if whole {
            let now = self.now;
            let view = &mut self.views[cpu];
            view.floor = view.floor.max(now);
        }
        before.value
    }

    /// Reads the newest value, and waits for what must come first.
    fn read_exclusively(&mut self, cpu: usize, cell: u16, order: AtomicOrder) -> Message {
        if self.reserved != 0 {
            self.let_reserved_leave(cpu, cell);
        }
        if self.has_buffered(cpu) {
            let line = self.line_of(cell);
            let per_line = self.cells_per_line;
            self.leave_while(cpu, |entry| {
                entry.what.is_maintenance() && usize::from(entry.cell) / per_line == line
                    || entry.what.is_store() && entry.cell == cell
                    || order.acquires() && entry.what == EntryKind::Release
            });
        }
        self.fill(self.line_of(cell));
        let message = self.cells[usize::from(cell)].coherent.newest();
        let known = self.known_at(cell, true, cpu);
        self.known[known] = self.known[known].max(message.at);
        let view = &mut self.views[cpu];
        view.loaded = view.loaded.max(message.at);
        if order.acquires() {
            view.floor = view.floor.max(message.at);
        }
        if let Some(races) = &mut self.races {
            races.loads(cpu, order.acquires(), message.tag);
        }
        if let Some(trace) = &mut self.trace {
            trace.push(Touch {
                cell,
                writes: false,
            });
        }
        message
    }

    fn write_exclusively(
        &mut self,
        cpu: usize,
        cell: u16,
        order: AtomicOrder,
        found: Message,
        value: u64,
        (left, asked): (u8, u32),
    ) {
        let what = if order.releases() {
            EntryKind::Release
        } else {
            EntryKind::Store
        };
        let tag = self
            .races
            .as_mut()
            .map_or(0, |races| races.stores(cpu, order.releases(), found.tag));
        self.reserved += 1;
        let entry = Entry::other(what, cell, left, asked);
        self.enter(
            cpu,
            Entry {
                value,
                tag,
                reserved: true,
                after: found.at,
                ..entry
            },
        );
    }

    /// Maintenance by address: `DC CVAC`, or with `invalidate` `DC CIVAC`.
    pub fn maintain(
        &mut self,
        cpu: usize,
        cell: u16,
        invalidate: bool,
        answers: &mut impl Answers,
    ) {
        let what = if invalidate {
            EntryKind::CleanInvalidate
        } else {
            EntryKind::Clean
        };
        let (left, asked) = self.delay(Delay::Maintenance, answers);
        self.enter(cpu, Entry::other(what, cell, left, asked));
    }
}
