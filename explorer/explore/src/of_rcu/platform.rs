//! The kernel's words as the RCU library sees them.

use super::kernel::Kernel;
use crate::Word;
use interleavings::subject::{AtomicOrder, Order};
use rcu_faults::{Scalar, SharedCell};

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
