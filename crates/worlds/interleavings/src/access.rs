//! Accesses of shared words, their maintenance, and events, as operations of the CPU that runs.

use crate::choice::{Deviation, Kind};
use crate::failure::Invariant;
use crate::machine::{LoggedAnswers, Machine, Waits};
use crate::memory::{Loaded, Memory, Order};
use crate::step::Did;

impl Machine {
    /// Loads a word. A CPU that loads the same value twice in a row waits for the word to change.
    pub fn load(&self, cell: u16, order: Order) -> u64 {
        self.settle_word(cell);
        self.operation(Did::Load { cell });
        let process = self.process();
        if order == Order::Relaxed && self.late_loads.get() {
            match self.try_late(process, cell) {
                Some(value) => return value,
                None => self.follow_if_tried(process),
            }
        }
        let loaded = self.load_now(process, cell, order);
        let cpu = &self.cpus[process];
        let (last, value, times) = cpu.polled.get();
        if (last, value) == (cell, loaded.value) {
            cpu.polled.set((cell, value, times.saturating_add(1)));
            // It has looked twice, and would look for ever. What lies in memory it may find after
            // maintenance of its own; what lies in the caches of others, somebody else must bring.
            if times >= 1 && loaded.is_newest_here {
                match loaded.newest_elsewhere {
                    Some(_) if self.memory.borrow().is_coherent(process) => self.let_others_go(),
                    _ => self.block(Waits::Change(cell)),
                }
            }
        } else {
            cpu.polled.set((cell, loaded.value, 0));
        }
        loaded.value
    }

    /// The value that a load returns before it is stored, if it is late.
    fn try_late(&self, process: usize, cell: u16) -> Option<u64> {
        let operation = self.operations[process].get();
        let mut memory = self.memory.borrow_mut();
        if process >= self.cpus.len() || !memory.may_be_late(process, cell) {
            return None;
        }
        let newest = memory.newest(cell);
        let value = self.chooser.borrow_mut().late(process, operation, cell, newest, memory.later_values(cell))?;
        self.schedule.borrow_mut().push(Deviation { process: process as u8, operation, kind: Kind::LoadLate, value });
        memory.owe(process, cell, value);
        drop(memory);
        self.has_late.set(true);
        self.follow_from_here(process);
        self.cpus[process].polled.set((cell, value, 0));
        self.mix(value);
        if self.keeps_steps.get()
            && let Some(step) = self.log.borrow_mut().last_mut()
        {
            step.did = Did::Loaded { cell, value, newest: None, cached: true, early: false };
        }
        Some(value)
    }

    /// The load that is tried without being late is this one: what follows is compared.
    #[inline(always)]
    fn follow_if_tried(&self, process: usize) {
        if let Some((late, _)) = self.tried.get()
            && late.is_at(process, self.operations[process].get())
        {
            self.follow_from_here(process);
        }
    }

    /// Waits for a late load of this word.
    #[inline(always)]
    fn settle_word(&self, cell: u16) {
        if self.followed.get() != 0 && self.memory.borrow().owed(self.process()) == Some(cell) {
            self.settle();
        }
    }

    /// Takes a value that the process stores into account.
    #[inline(always)]
    fn mix_stored(&self, value: u64) {
        self.mix(value);
        let process = self.process();
        if self.followed.get() >> process & 1 != 0 {
            self.follow(process, value, false);
        }
    }

    fn load_now(&self, process: usize, cell: u16, order: Order) -> Loaded {
        let mut chooser = self.chooser.borrow_mut();
        let mut schedule = self.schedule.borrow_mut();
        let operation = self.operations[process].get();
        let mut asked = LoggedAnswers { chooser: &mut chooser, schedule: &mut schedule, process, operation };
        let loaded = self.memory.borrow_mut().load(process, cell, order, &mut asked);
        self.mix(loaded.value);
        if self.keeps_steps.get()
            && let Some(step) = self.log.borrow_mut().last_mut()
        {
            let cached = self.memory.borrow().is_coherent(process);
            let Loaded { value, newest_elsewhere: newest, is_newest_here, .. } = loaded;
            step.did = Did::Loaded { cell, value, newest, cached, early: !is_newest_here };
        }
        loaded
    }

    /// Stores a word.
    pub fn store(&self, cell: u16, value: u64, order: Order) {
        if order == Order::Relaxed {
            self.settle_word(cell)
        } else {
            self.settle()
        }
        self.operation(Did::Store { cell, value });
        self.cpu().polled.set((u16::MAX, 0, 0));
        self.mix_stored(value);
        self.with_memory(|memory, process, asked| memory.store(process, cell, value, order, asked));
    }

    /// Adds to a word; `wrap` cuts the sum to its width.
    pub fn fetch_add(&self, cell: u16, value: u64, wrap: impl Fn(u64) -> u64) -> u64 {
        self.operation(Did::FetchAdd { cell, value });
        self.atomic(cell, |before| Some(wrap(before.wrapping_add(value))))
    }

    /// Stores `value`, and returns what the word held.
    pub fn swap(&self, cell: u16, value: u64) -> u64 {
        self.operation(Did::Swap { cell, value });
        self.atomic(cell, |_| Some(value))
    }

    /// Stores `value` if the word holds `expected`; whether it did.
    pub fn compare_exchange(&self, cell: u16, expected: u64, value: u64) -> bool {
        self.operation(Did::CompareExchange { cell, value });
        self.atomic(cell, |before| (before == expected).then_some(value)) == expected
    }

    #[inline(always)]
    fn atomic(&self, cell: u16, change: impl FnOnce(u64) -> Option<u64>) -> u64 {
        self.settle();
        self.cpu().polled.set((u16::MAX, 0, 0));
        self.cpu().last_atomic.set(cell);
        let process = self.process();
        if !self.memory.borrow().is_coherent(process) {
            self.fail(
                Invariant::Atomic,
                "an atomic is used by a CPU that is not in coherency: nothing makes it one step for the others"
                    .to_owned(),
            );
        }
        let before = self.memory.borrow_mut().atomic(process, cell, change);
        self.mix(before);
        self.wake_pollers();
        before
    }

    /// Cleans the line of a word by address, and with `invalidate` takes it out of the caches.
    pub fn maintain(&self, cell: u16, invalidate: bool) {
        self.settle();
        self.operation(Did::Maintain { cell, invalidate });
        self.with_memory(|memory, process, asked| memory.maintain(process, cell, invalidate, asked));
    }

    #[inline(always)]
    fn with_memory(&self, act: impl FnOnce(&mut Memory, usize, &mut LoggedAnswers<'_>)) {
        let process = self.process();
        {
            let mut chooser = self.chooser.borrow_mut();
            let mut schedule = self.schedule.borrow_mut();
            let operation = self.operations[process].get();
            let mut asked = LoggedAnswers { chooser: &mut chooser, schedule: &mut schedule, process, operation };
            act(&mut self.memory.borrow_mut(), process, &mut asked);
        }
        self.wake_pollers();
    }

    /// `DSB SY`.
    pub fn barrier_now(&self) {
        self.settle();
        self.memory.borrow_mut().barrier(self.process());
        self.wake_pollers();
    }

    /// An operation that is no access of memory.
    pub fn act(&self, did: Did) {
        if did != Did::Own {
            self.settle();
        }
        self.operation(did);
        self.cpu().polled.set((u16::MAX, 0, 0));
    }

    /// Waits for an event. It may end without one.
    pub fn wait_for_an_event(&self) {
        self.act(Did::WaitForEvent);
        let cpu = self.cpu();
        if self.answer(Kind::Spurious, 2) == 0 && !cpu.event.get() {
            self.block(Waits::Event);
        }
        let process = self.process();
        self.cpus[process].event.set(false);
        self.memory.borrow_mut().learn(process);
    }

    /// Sends an event to all CPUs.
    pub fn send_an_event(&self) {
        self.act(Did::SendEvent);
        self.barrier_now();
        for (index, cpu) in self.cpus.iter().enumerate() {
            cpu.event.set(true);
            if cpu.waits.get() == Waits::Event {
                self.unblock(index);
            }
        }
    }
}
