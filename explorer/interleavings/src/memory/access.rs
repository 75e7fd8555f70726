//! Loads, stores, atomics, and the maintenance of lines.

use super::history::{Message, Moment};
use super::races::Tag;
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
    /// A load whose address depends on a value that came at `after`, 0 for none: it returns nothing
    /// that had been replaced by then.
    pub fn load(
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
        let own_floor = view.floor.max(released).max(self.known[known]);
        let floor = own_floor.max(after);
        let state = &self.cells[usize::from(cell)];
        let history = if coherent {
            &state.coherent
        } else {
            &state.memory
        };
        let newest = history.newest();
        let rests_on_address =
            after > own_floor && history.choices(own_floor) > history.choices(floor);
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
        self.loaded(cpu, cell, order != Order::Relaxed, message);
        LoadResult {
            value: message.value,
            newest_elsewhere,
            is_newest_here: message.at == newest.at,
            rests_on_address,
            at: message.at,
        }
    }

    /// A load returns a message of the history where the CPU looks.
    #[inline(always)]
    pub(super) fn loaded(&mut self, cpu: usize, cell: u16, acquires: bool, message: Message) {
        let Message { at, tag, .. } = message;
        let view = &mut self.views[cpu];
        let coherent = view.coherent;
        view.loaded = view.loaded.max(at);
        if acquires {
            view.raise_floor(at);
        }
        let known = self.known_at(cell, coherent, cpu);
        self.known[known] = self.known[known].max(at);
        if let Some(races) = &mut self.races {
            races.loads(cpu, acquires, tag);
        }
        self.touch([Touch {
            cell,
            writes: false,
        }]);
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
            self.views[cpu].raise_floor(after);
        }
        Some(LoadResult {
            value,
            newest_elsewhere: None,
            is_newest_here: true,
            rests_on_address: false,
            at: after,
        })
    }

    /// A store whose address or data depends on a value that came at `after`, 0 for none.
    pub fn store(
        &mut self,
        cpu: usize,
        cell: u16,
        value: u64,
        order: Order,
        after: Moment,
        answers: &mut impl Answers,
    ) {
        let (left, asked) = self.delay(Delay::Store, answers);
        let store = Entry {
            cell,
            value,
            left,
            after,
            asked,
            ..Entry::default()
        };
        self.enter_store(cpu, order != Order::Relaxed, 0, store);
    }

    /// A store enters the buffer; `found` is the clock of what it replaces in one step.
    fn enter_store(&mut self, cpu: usize, releases: bool, found: Tag, store: Entry) {
        let what = if releases {
            EntryKind::Release
        } else {
            EntryKind::Store
        };
        let tag = self
            .races
            .as_mut()
            .map_or(0, |races| races.stores(cpu, releases, found));
        self.enter(cpu, Entry { what, tag, ..store });
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
        let (left, asked) = if whole {
            (0, 0)
        } else {
            self.delay(Delay::Store, answers)
        };
        self.reserved += 1;
        let store = Entry {
            cell,
            value: after,
            left,
            reserved: true,
            after: before.at,
            asked,
            ..Entry::default()
        };
        self.enter_store(cpu, order.releases(), before.tag, store);
        if whole {
            self.views[cpu].raise_floor(self.now);
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
        self.loaded(cpu, cell, order.acquires(), message);
        message
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
        let maintenance = Entry {
            what,
            cell,
            left,
            asked,
            ..Entry::default()
        };
        self.enter(cpu, maintenance);
    }
}
