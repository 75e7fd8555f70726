//! Loops that wait: their CPUs let others go until a word changes.

use super::choice::Kind;
use super::cpu::Wait;
use super::state::Machine;

/// The end of a wait for which nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// There is none.
    Never,
    /// A time, however long or short.
    Time,
}

impl Machine {
    /// Takes a load into account. A process that three times loads the same values of the same
    /// words, up to four of them, and does nothing else waits for one of them to change.
    pub(super) fn note_spin(&self, process: usize, cell: u16, value: u64) {
        let Some(cpu) = self.cpus.get(process) else {
            return;
        };
        let again = cpu.spin.borrow_mut().loaded(cell, value);
        if let Some(again) = again {
            self.spin(process, &again);
        }
    }

    /// Others go until one of these words changes, or until nobody else can go. If one of the
    /// values is an old one, it gets the newest from then on instead: to see an old one for ever
    /// would be unfair, and is nothing that hardware does.
    fn spin(&self, process: usize, looks_at: &[(u16, u64)]) {
        let is_newest = {
            let memory = self.memory.borrow();
            looks_at
                .iter()
                .all(|&(cell, value)| memory.newest(cell) == value)
        };
        if let (true, Some(&(cell, _))) = (is_newest, looks_at.last()) {
            if !self.settle() && !self.drain() {
                self.block(Wait::Spin(cell));
            }
        } else {
            self.settle();
            self.memory.borrow_mut().empty_buffer(process);
            self.wake_pollers();
            self.cpus[process].spin.borrow_mut().old = true;
        }
    }

    /// The process lets others go first. The first yield has no effect on who may run: it may be a
    /// hint and no loop. A second yield after the same loads, without a change, waits until one of
    /// these words changes. A second yield after a change waits until every process that could run
    /// since the first yield has run (Musuvathi and Qadeer, "Fair stateless model checking", 2008).
    pub(crate) fn yields(&self) {
        let process = self.process();
        let again = self
            .cpus
            .get(process)
            .and_then(|cpu| cpu.spin.borrow_mut().yields());
        if let Some(looks) = again {
            self.spin(process, &looks)
        } else if self.hold_back(process) || !self.settings.traces.get() {
            self.let_others_go()
        }
    }

    /// Takes a lock, or lets it go. To a thread that then waits for others that is a look at the
    /// lock's word: it has changed nothing, and waits until somebody else has.
    pub(crate) fn look_below<R>(&self, word: u16, access: impl FnOnce() -> R) -> R {
        let Some(cpu) = self.cpus.get(self.process()) else {
            return access();
        };
        cpu.spin.borrow_mut().below = true;
        let result = access();
        let mut spin = cpu.spin.borrow_mut();
        spin.below = false;
        spin.look(word, self.memory.borrow().newest(word));
        result
    }

    #[inline(always)]
    pub(super) fn ends_spin(&self) {
        if self.settings.spins.get() {
            self.cpu().spin.borrow_mut().ends();
        }
    }

    /// Waits until a word has another value than the one that was seen, or for as long as `limit`
    /// says: one of a time ends at the latest when nobody else can go on. False if it ended by its
    /// time.
    pub(crate) fn wait_for_change(&self, cell: u16, seen: u64, limit: Limit) -> bool {
        // Whatever lets others go may let the word change: then it is looked at again. It may have
        // changed already, while the process was taken for one that spins.
        let is_past = self.memory.borrow().newest(cell) != seen;
        if !is_past && !self.settle() && !self.drain() {
            self.block(if limit == Limit::Time {
                Wait::Spin(cell)
            } else {
                Wait::Change(cell)
            });
            return limit == Limit::Never || self.memory.borrow().newest(cell) != seen;
        }
        true
    }

    /// True if the time of a wait that is about to begin ends at once.
    pub(crate) fn times_out(&self, limit: Limit) -> bool {
        limit == Limit::Time && self.answer(Kind::TimesOut, 2) == 1
    }
}
