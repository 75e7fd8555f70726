//! A shared word of the libraries, on whatever stands on the machine.

use cells::{Scalar, SharedWord};
use std::marker::PhantomData;
use stopwatt_explore::subject::{OnMachine, Order, make_word};

/// A shared word: the number under which the machine keeps it.
pub struct Word<T> {
    pub(crate) cell: u16,
    of: PhantomData<fn() -> T>,
}

impl<T> Word<T> {
    /// Another word, which holds `value` first.
    pub(crate) fn holding(value: u64) -> Self {
        Self { cell: make_word(value), of: PhantomData }
    }
}

impl<T: Scalar, P: OnMachine> SharedWord<T, P> for Word<T> {
    fn new(value: T) -> Self {
        Self::holding(value.to_word())
    }

    fn load(&self, on: &P) -> T {
        T::from_word(on.load_ordered(self.cell))
    }

    fn store(&self, on: &P, value: T) {
        on.machine().store(self.cell, value.to_word(), Order::Ordered);
    }

    fn fetch_add(&self, on: &P, value: T) -> T {
        T::from_word(on.machine().fetch_add(self.cell, value.to_word(), P::ATOMICS, |sum| T::from_word(sum).to_word()))
    }
}
