//! The kernel as the RCU library sees it.

use super::kernel::Kernel;
use super::oracle::StallReport;
use crate::Word;
use interleavings::subject::{AtomicOrder, Fence, Mark, Order};
use rcu_faults::{Callback, Platform, RcuTimer, Scalar, SharedCell, Stall, Thread};

impl<T: Scalar> SharedCell<T, Kernel> for Word<T> {
    fn compare_exchange(
        &self,
        kernel: &Kernel,
        current: T,
        new: T,
        order: rcu_faults::Order,
    ) -> bool {
        let order = match order {
            rcu_faults::Order::Relaxed => AtomicOrder::Relaxed,
            rcu_faults::Order::Acquire => AtomicOrder::Acquire,
            rcu_faults::Order::Full => AtomicOrder::Full,
        };
        let number = self.number();
        let stored = kernel
            .compare_exchange(number, current.to_word(), new.to_word(), order)
            .is_ok();
        if stored {
            kernel.note_lock(number.into(), true);
        }
        stored
    }

    fn store_release(&self, kernel: &Kernel, value: T) {
        kernel.store(self.number(), value.to_word(), Order::Ordered);
        kernel.note_lock(self.number().into(), false);
    }

    fn load_relaxed(&self, kernel: &Kernel) -> T {
        T::from_word(kernel.load(self.number(), Order::Relaxed))
    }

    fn store_relaxed(&self, kernel: &Kernel, value: T) {
        kernel.store(self.number(), value.to_word(), Order::Relaxed);
        kernel.note_lock(self.number().into(), false);
    }
}

impl Platform for Kernel {
    type Shared<T: Scalar> = Word<T>;
    type Watch = Mark;

    fn barrier(&self) {
        self.fence(Fence::Full);
    }

    fn this_cpu(&self) -> usize {
        self.process()
    }

    fn jiffies(&self) -> u64 {
        self.jiffies.get()
    }

    fn raise_softirq(&self) {
        self.raise();
    }

    fn wake(&self, thread: Thread) {
        self.wake_thread(thread);
    }

    fn resched(&self, cpu: usize) {
        self.interrupt_to_switch(cpu);
    }

    fn set_timer(&self, timer: RcuTimer, at_jiffy: u64) {
        Kernel::set_timer(self, timer.group, at_jiffy);
    }

    fn cancel_timer(&self, timer: RcuTimer) {
        self.timers.borrow_mut().remove(&timer.group);
    }

    fn invoke(&self, callback: Callback) {
        self.invoked(callback.argument as usize);
    }

    fn stall(&self, stall: &Stall) {
        self.stalled(StallReport {
            number: stall.grace_period,
            age: stall.age,
            started: stall.started,
        });
    }

    fn may_wake(&self) -> bool {
        self.caller_may_wake()
    }

    fn lock_wait(&self, _: u32) {
        self.wait_for_lock();
    }
}
