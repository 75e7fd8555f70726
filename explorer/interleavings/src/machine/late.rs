//! Late loads: what their CPUs do until the value is stored.

use super::choice::Kind;
use super::cpu::Wait;
use super::parts::{LateLoad, Trail};
use super::state::Machine;
use super::step::Operation;

impl Machine {
    /// Follows the process from its present operation, a load, on.
    pub(crate) fn follow_from_here(&self, process: usize) {
        self.late.follows[process].set(Trail {
            load: self.operation_of(process),
            ..Trail::default()
        });
        self.late
            .followed
            .set(self.late.followed.get() | 1 << process);
    }

    /// Takes an operation, or a value that it stores, into account.
    #[cold]
    pub(crate) fn follow(&self, process: usize, what: u64, is_operation: bool) {
        let Trail { count, hash, load } = self.late.follows[process].get();
        let hash = (hash ^ what)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(23);
        let followed = Trail {
            count: count + u32::from(is_operation),
            hash,
            load,
        };
        self.late.follows[process].set(followed);
        if let Some((late, _)) = self.late.tried.get()
            && late.is_at(process, load)
            && late.followed == followed
        {
            self.late.tried.set(Some((late, true)));
            self.late
                .followed
                .set(self.late.followed.get() & !(1 << process));
        }
    }

    /// Late loads have got their value.
    #[cold]
    pub(super) fn note_paid(&self) {
        let paid = self.memory.borrow_mut().take_paid();
        for process in (0..self.cpus.len()).filter(|process| paid >> process & 1 != 0) {
            self.late.paid.borrow_mut().push(LateLoad {
                process,
                followed: self.late.follows[process].get(),
            });
            self.late
                .followed
                .set(self.late.followed.get() & !(1 << process));
            self.note_learns(process, self.process());
            if self.cpus[process].waits() == Wait::LateLoad {
                self.unblock(process);
            }
        }
    }

    /// Waits until a late load of this process has got its value; true if it had to wait.
    #[inline(always)]
    pub fn settle(&self) -> bool {
        self.late.followed.get() != 0 && self.settle_now()
    }

    #[cold]
    fn settle_now(&self) -> bool {
        let process = self.process();
        let waits = self.memory.borrow().owed(process).is_some();
        while self.memory.borrow().owed(process).is_some() {
            if !self.drain() {
                self.block(Wait::LateLoad);
            }
        }
        waits
    }

    /// The run is void: a late load has not got its value.
    pub(crate) fn is_void(&self) -> bool {
        self.memory.borrow().owes()
    }

    /// The value that a load returns before it is stored, if it is late.
    pub(super) fn try_late(&self, process: usize, cell: u16) -> Option<u64> {
        let operation = self.operation_of(process);
        let mut memory = self.memory.borrow_mut();
        if process >= self.cpus.len() || !memory.may_be_late(process, cell) {
            return None;
        }
        let newest = memory.newest(cell);
        let value = self.choices.chooser.borrow_mut().late(
            process,
            operation,
            cell,
            newest,
            memory.later_values(cell),
        )?;
        self.deviate(process, Kind::LoadLate, value);
        memory.owe(process, cell, value);
        drop(memory);
        self.late.has_any.set(true);
        self.follow_from_here(process);
        self.cpus[process].polled.set((cell, value, 0));
        self.mix(value);
        if self.settings.keeps_steps.get()
            && let Some(step) = self.record.log.borrow_mut().last_mut()
        {
            step.did = Operation::Loaded {
                cell,
                value,
                newest: None,
                cached: true,
                early: false,
            };
        }
        Some(value)
    }

    /// The load that is tried without being late is this one: what follows is compared.
    #[inline(always)]
    pub(super) fn follow_if_tried(&self, process: usize) {
        if let Some((late, _)) = self.late.tried.get()
            && late.is_at(process, self.operation_of(process))
        {
            self.follow_from_here(process);
        }
    }

    /// Waits for a late load of this word.
    #[inline(always)]
    pub(super) fn settle_word(&self, cell: u16) {
        if self.late.followed.get() != 0 && self.memory.borrow().owed(self.process()) == Some(cell)
        {
            self.settle();
        }
    }

    /// True if the run has had a late load.
    pub(crate) fn has_late(&self) -> bool {
        self.late.has_any.get()
    }

    /// The late loads of this run that have got their value.
    pub(crate) fn paid_loads(&self) -> Vec<LateLoad> {
        self.late.paid.borrow().clone()
    }

    /// Tries a load in the next run without being late.
    pub(crate) fn try_in_time(&self, late: LateLoad) {
        self.late.tried.set(Some((late, late.is_at_once())));
    }

    /// True if the CPU of the load that was tried in time has done the same.
    pub(crate) fn take_same(&self) -> bool {
        self.late.tried.take().is_some_and(|(_, same)| same)
    }
}
