//! Barriers, maintenance and events, as operations of the CPU that runs.

use super::choice::Kind;
use super::cpu::Wait;
use super::state::Machine;
use super::step::{Fence, Operation};
use crate::memory::Signal;
use std::cell::Cell;

impl Machine {
    /// A barrier.
    pub fn fence(&self, fence: Fence) {
        if fence != Fence::Stores {
            self.settle();
        }
        self.operation(Operation::Fence { fence });
        let process = self.process();
        {
            let mut memory = self.memory.borrow_mut();
            match fence {
                Fence::Full => memory.full_barrier(process),
                Fence::Loads => memory.load_barrier(process),
                Fence::Stores => memory.store_barrier(process),
                Fence::Complete => memory.barrier(process),
                // Code has branched on what it loaded before it asks for that.
                Fence::Instructions => memory.load_barrier(process),
            }
        }
        self.wake_pollers();
    }

    /// Cleans the line of a word by address, and with `invalidate` takes it out of the caches.
    pub fn maintain(&self, cell: u16, invalidate: bool) {
        self.settle();
        self.operation(Operation::Maintain { cell, invalidate });
        self.with_memory(|memory, process, asked| {
            memory.maintain(process, cell, invalidate, asked)
        });
    }

    /// `DSB SY`.
    pub fn barrier_now(&self) {
        self.settle();
        self.memory.borrow_mut().barrier(self.process());
        self.wake_pollers();
    }

    /// A point at which another CPU may go first.
    pub fn pause(&self) {
        self.act(Operation::Own);
    }

    /// An operation that is no access of memory.
    pub fn act(&self, did: Operation) {
        if did != Operation::Own {
            self.settle();
        }
        self.operation(did);
        self.cpu().forget_polled();
    }

    /// Waits for an event. It may end without one.
    pub fn wait_for_an_event(&self) {
        self.act(Operation::WaitForEvent);
        let cpu = self.cpu();
        if self.answer(Kind::Spurious, 2) == 0 && !cpu.event.get() {
            self.block(Wait::Event);
        }
        let process = self.process();
        self.note_event();
        self.cpus[process].event.set(false);
        self.memory.borrow_mut().learn(process);
    }

    /// Sends an event to all CPUs.
    pub fn send_an_event(&self) {
        self.act(Operation::SendEvent);
        self.barrier_now();
        for (index, cpu) in self.cpus.iter().enumerate() {
            cpu.event.set(true);
            if cpu.waits() == Wait::Event {
                self.unblock(index);
            }
        }
    }

    /// The process tells others, outside memory, of all that it has seen and done: it hands
    /// something on under a lock that is not part of what is explored.
    pub fn tell(&self, signal: &Cell<Signal>) {
        self.settle();
        let process = self.process();
        let more = self.memory.borrow_mut().tell(process, signal.get());
        signal.set(more);
        self.wake_pollers();
    }

    /// The process hears what others have told, and sees what they had stored.
    pub fn hear(&self, signal: &Cell<Signal>) {
        let process = self.process();
        self.memory.borrow_mut().hear(process, signal.get());
    }
}
