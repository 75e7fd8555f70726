//! Late loads: a load returns a value that another CPU stores only afterwards.

use super::history::Message;
use super::state::{Debt, Memory};
use super::types::Touch;

/// Values of a word that are kept.
const MOST_STORED: usize = 8;

impl Memory {
    /// Forgets what other tests have stored.
    pub(crate) fn forget_stored(&mut self) {
        self.stored.clear();
        self.fit_words();
    }

    pub(super) fn forget_debts(&mut self) {
        self.debts.fill(None);
        (self.owing, self.paid, self.foresaw) = (0, 0, false);
        self.asked = 0;
        self.unheld.clear();
        self.worth_holding.clear();
    }

    /// The values that a load of the word may return although they are stored only afterwards; asks
    /// for them to be kept.
    pub(crate) fn later_values(&mut self, cell: u16) -> &[u64] {
        let stored = &mut self.stored[usize::from(cell)];
        stored.wanted = true;
        &stored.values
    }

    /// All values that were stored to words whose loads may be late; `None` if there were too many
    /// of one.
    pub(crate) fn all_later_values(&self) -> Option<Vec<Vec<u64>>> {
        self.stored
            .iter()
            .all(|stored| stored.count <= MOST_STORED)
            .then(|| {
                self.stored
                    .iter()
                    .map(|stored| stored.values.clone())
                    .collect()
            })
    }

    /// True if the CPU may load the word late: it is in coherency, and no store of its own to the
    /// word is on its way.
    pub(crate) fn may_be_late(&self, cpu: usize, cell: u16) -> bool {
        let view = &self.views[cpu];
        let mut own = view.entries().iter();
        view.coherent
            && self.debts[cpu].is_none()
            && !own.any(|entry| entry.what.is_store() && entry.cell == cell)
    }

    /// A load of the CPU has returned what somebody else has still to store.
    pub(crate) fn owe(&mut self, cpu: usize, cell: u16, value: u64) {
        self.debts[cpu] = Some(Debt { cell, value });
        self.owing += 1;
        self.foresaw = true;
    }

    /// The word whose load of this CPU is late.
    #[inline(always)]
    pub(crate) fn owed(&self, cpu: usize) -> Option<u16> {
        self.debts.get(cpu).copied().flatten().map(|debt| debt.cell)
    }

    /// True if some late load has not got its value.
    pub(crate) fn owes(&self) -> bool {
        self.owing != 0
    }

    /// True if a late load has got its value since the last [`Memory::take_paid`].
    #[inline(always)]
    pub(crate) fn has_paid(&self) -> bool {
        self.paid != 0
    }

    /// CPUs whose late load has got its value since the last call, as a set of bits.
    pub(crate) fn take_paid(&mut self) -> u64 {
        std::mem::take(&mut self.paid)
    }

    /// Late loads get the value that the newest store to the word has.
    #[cold]
    pub(super) fn pay(
        &mut self,
        writer: usize,
        cell: u16,
        Message { value, at, tag, .. }: Message,
    ) {
        for cpu in 0..self.debts.len() {
            if cpu != writer
                && self.debts[cpu].is_some_and(|debt| (debt.cell, debt.value) == (cell, value))
            {
                self.debts[cpu] = None;
                self.touch([Touch::debt(cpu, true)]);
                self.owing -= 1;
                self.paid |= 1 << cpu;
                let known = self.known_at(cell, true, cpu);
                self.known[known] = self.known[known].max(at);
                self.views[cpu].loaded = self.views[cpu].loaded.max(at);
                if let Some(races) = &mut self.races {
                    races.loads(cpu, false, tag);
                }
            }
        }
    }

    /// Keeps a value that a late load may return in a later run.
    #[inline(always)]
    pub(super) fn remember(&mut self, cell: u16, value: u64) {
        let stored = &mut self.stored[usize::from(cell)];
        if stored.wanted && !self.foresaw && !stored.values.contains(&value) {
            if stored.values.len() < MOST_STORED {
                stored.values.push(value)
            } else {
                stored.values[stored.count % MOST_STORED] = value
            }
            stored.count += 1;
        }
    }
}
