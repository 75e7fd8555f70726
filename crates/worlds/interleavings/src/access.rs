//! Accesses of shared words, their maintenance, and events, as operations of the CPU that runs.

use crate::choice::Kind;
use crate::failure::Invariant;
use crate::machine::{LoggedAnswers, Machine, Waits};
use crate::memory::{Loaded, Memory, Order};
use crate::step::Did;

impl Machine {
    /// Loads a word. A CPU that loads the same value twice in a row waits for the word to change.
    pub fn load(&self, cell: u16, order: Order) -> u64 {
        self.operation(Did::Load { cell });
        let process = self.process();
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
        self.operation(Did::Store { cell, value });
        self.cpu().polled.set((u16::MAX, 0, 0));
        self.mix(value);
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
        self.memory.borrow_mut().barrier(self.process());
        self.wake_pollers();
    }

    /// An operation that is no access of memory.
    pub fn act(&self, did: Did) {
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
