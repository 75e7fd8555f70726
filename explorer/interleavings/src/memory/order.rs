//! Barriers, and order that comes from outside memory.

use super::history::Moment;
use super::state::Memory;
use super::types::Signal;
use super::view::{Entry, EntryKind};

impl Memory {
    /// `DSB SY`.
    pub fn barrier(&mut self, cpu: usize) {
        self.empty_buffer(cpu);
        let view = &mut self.views[cpu];
        view.raise_floor(view.loaded.max(view.stored).max(view.maintained));
        self.fence(cpu, true, true);
    }

    /// `DMB SY`: as `DSB SY`, and maintenance may still be on its way.
    pub fn full_barrier(&mut self, cpu: usize) {
        self.leave_while(cpu, |entry| entry.what.is_store());
        let view = &mut self.views[cpu];
        view.raise_floor(view.loaded.max(view.stored));
        self.fence(cpu, true, true);
    }

    fn fence(&mut self, cpu: usize, acquires: bool, releases: bool) {
        if let Some(races) = &mut self.races {
            races.fence(cpu, acquires, releases);
        }
    }

    /// `DMB LD`.
    pub fn load_barrier(&mut self, cpu: usize) {
        let view = &mut self.views[cpu];
        view.raise_floor(view.loaded);
        self.fence(cpu, true, false);
    }

    /// `DMB ST`.
    pub fn store_barrier(&mut self, cpu: usize) {
        if self.views[cpu].buffered != 0 {
            let barrier = Entry {
                what: EntryKind::StoreBarrier,
                left: u8::MAX,
                ..Entry::default()
            };
            self.enter(cpu, barrier);
        }
        self.unheld.retain(|(other, _)| *other != cpu);
    }

    /// `ISB` after a branch that depends on a value which came at `after`.
    pub fn synchronise(&mut self, cpu: usize, after: Moment) {
        self.views[cpu].raise_floor(after);
    }

    /// The CPU tells others outside memory, as a lock of the kernel's does, of what it has seen and
    /// done. What was told before is still there.
    pub(crate) fn tell(&mut self, cpu: usize, signal: Signal) -> Signal {
        self.hear(cpu, signal);
        self.barrier(cpu);
        let tag = self.races.as_mut().map_or(0, |races| races.tells(cpu));
        Signal {
            at: self.views[cpu].floor,
            tag,
        }
    }

    /// The CPU hears what others have told.
    pub(crate) fn hear(&mut self, cpu: usize, signal: Signal) {
        self.views[cpu].raise_floor(signal.at);
        if let Some(races) = &mut self.races {
            races.loads(cpu, true, signal.tag);
        }
    }

    /// The CPU has learnt from outside memory what others had done before: an event, power, a
    /// message.
    pub fn learn(&mut self, cpu: usize) {
        self.views[cpu].floor = self.now;
        if let Some(races) = &mut self.races {
            (0..self.views.len())
                .filter(|&other| other != cpu)
                .for_each(|other| races.learns_from(cpu, other));
        }
    }

    /// A process learns all that another one has seen and done: that started it, or has ended.
    pub(crate) fn inherit(&mut self, cpu: usize, from: usize) {
        self.empty_buffer(from);
        let view = &self.views[from];
        let floor = view.floor.max(view.loaded).max(view.stored);
        self.views[cpu].raise_floor(floor);
        let count = self.views.len();
        for words in self.known.chunks_exact_mut(count) {
            words[cpu] = words[cpu].max(words[from]);
        }
        if let Some(races) = &mut self.races {
            races.learns_from(cpu, from);
        }
    }
}
