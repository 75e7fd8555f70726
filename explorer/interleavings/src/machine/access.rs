//! Loads and stores of shared words, as operations of the CPU that runs.

use super::cpu::{Cpu, Wait};
use super::state::Machine;
use super::step::Operation;
use crate::memory::{AddressStore, LoadResult, Newest, Order};

impl Machine {
    /// The order of a load that acquires and may go before an earlier store that releases: `LDAPR`
    /// where the core has it.
    pub fn acquiring(&self) -> Order {
        if self.settings.core.get().rcpc {
            Order::AcquirePc
        } else {
            Order::Ordered
        }
    }

    /// Loads a word. A CPU that loads the same value twice in a row waits for the word to change.
    pub fn load(&self, cell: u16, order: Order) -> u64 {
        self.load_with(cell, order, None, true)
    }

    /// As [`Machine::load`]; `through` is the store from which the CPU has the word's address. A load of what differs from run to run may not be late.
    pub(crate) fn load_with(
        &self,
        cell: u16,
        order: Order,
        through: Option<AddressStore>,
        may_be_late: bool,
    ) -> u64 {
        self.settle_word(cell);
        self.operate(Operation::Load { cell });
        let process = self.process();
        if order == Order::Relaxed && may_be_late && self.settings.late_loads.get() {
            match self.try_late(process, cell) {
                Some(value) => return value,
                None => self.follow_if_tried(process),
            }
        }
        let loaded = self.load_now(process, cell, order, through);
        if self.settings.spins.get() {
            self.note_spin(process, cell, loaded.value);
            return loaded.value;
        }
        let cpu = &self.cpus[process];
        let (last, value, times) = cpu.polled.get();
        if (last, value) == (cell, loaded.value) {
            cpu.polled.set((cell, value, times.saturating_add(1)));
            // It has looked twice, and would look for ever. What lies in memory it may find after
            // maintenance of its own; what lies in the caches of others, somebody else must bring.
            if times >= 1 && loaded.is_newest_here {
                match loaded.newest_elsewhere {
                    Some(_) if self.memory.borrow().is_coherent(process) => self.let_others_go(),
                    _ => self.block(Wait::Change(cell)),
                }
            }
        } else {
            cpu.polled.set((cell, loaded.value, 0));
        }
        loaded.value
    }

    fn load_now(
        &self,
        process: usize,
        cell: u16,
        order: Order,
        through: Option<AddressStore>,
    ) -> LoadResult {
        let after = through.map_or(0, |store| store.at);
        // To see an old value for ever would be unfair, and to see it a third time in a row shows
        // nothing that the second has not shown.
        let sees_the_newest = |cpu: &Cpu| {
            let (last, _, times) = cpu.polled.get();
            cpu.spin.borrow().old || self.settings.traces.get() && last == cell && times >= 1
        };
        let loaded = if self.cpus.get(process).is_some_and(sees_the_newest) {
            self.memory
                .borrow_mut()
                .load(process, cell, order, after, &mut Newest)
        } else {
            self.ask(process, |asked| {
                let mut memory = self.memory.borrow_mut();
                memory.load(process, cell, order, after, asked)
            })
        };
        self.mix(loaded.value);
        if let Some(store) = through
            && loaded.rests_on_address
            && self.settings.rests_on.borrow().is_none()
        {
            let name = self.names().cell(store.cell);
            self.settings.rests_on.replace(Some(name));
        }
        if self.settings.keeps_steps.get()
            && let Some(step) = self.record.log.borrow_mut().last_mut()
        {
            let cached = self.memory.borrow().is_coherent(process);
            let LoadResult {
                value,
                newest_elsewhere: newest,
                is_newest_here,
                ..
            } = loaded;
            step.did = Operation::Loaded {
                cell,
                value,
                newest,
                cached,
                early: !is_newest_here,
            };
        }
        loaded
    }

    /// Stores a word.
    pub fn store(&self, cell: u16, value: u64, order: Order) {
        if order == Order::Relaxed {
            self.settle_word(cell)
        } else {
            self.settle();
        }
        self.operate(Operation::Store { cell, value });
        self.cpu().forget_polled();
        self.mix_stored(value);
        self.ends_spin();
        self.with_memory(|memory, process, asked| {
            memory.store(process, cell, value, order, 0, asked)
        });
    }

    /// Takes a value that the process stores into account.
    #[inline(always)]
    pub(super) fn mix_stored(&self, value: u64) {
        self.mix(value);
        let process = self.process();
        if self.late.followed.get() >> process & 1 != 0 {
            self.follow(process, value, false);
        }
    }
}
