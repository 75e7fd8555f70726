//! A shared word of the library, as the machine keeps it.

use crate::machine::Machine;
use crate::memory::Order;
use std::cell::RefCell;
use std::marker::PhantomData;

thread_local! {
    /// The words that were made on this thread and that no machine has taken yet, with what they hold first.
    static MADE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A shared word: the number under which the machine keeps it.
pub struct Word<T> {
    pub(crate) cell: u16,
    of: PhantomData<fn() -> T>,
}

impl<T> Word<T> {
    /// Another word, which holds `value` first.
    pub(crate) fn holding(value: u64) -> Self {
        Self { cell: next(value), of: PhantomData }
    }
}

/// Makes words with `make`, and returns what they hold first, in order.
pub(crate) fn made_by<R>(make: impl FnOnce() -> R) -> (R, Vec<u64>) {
    MADE.take();
    let made = make();
    (made, MADE.take())
}

fn next(value: u64) -> u16 {
    MADE.with_borrow_mut(|made| {
        made.push(value);
        u16::try_from(made.len() - 1).expect("a machine has fewer than 65536 words")
    })
}

/// Implements the library's shared word for one of its two compilations.
macro_rules! shared_cell {
    ($library:ident) => {
        impl<T: $library::Scalar> $library::SharedCell<T, Machine> for Word<T> {
            fn new(value: T) -> Self {
                Self::holding(value.to_word())
            }

            fn load(&self, machine: &Machine) -> T {
                T::from_word(machine.load(self.cell, Order::Ordered))
            }

            fn store(&self, machine: &Machine, value: T) {
                machine.store(self.cell, value.to_word(), Order::Ordered);
            }

            fn load_relaxed(&self, machine: &Machine) -> T {
                T::from_word(machine.load(self.cell, Order::Relaxed))
            }

            fn store_relaxed(&self, machine: &Machine, value: T) {
                machine.store(self.cell, value.to_word(), Order::Relaxed);
            }

            fn fetch_add(&self, machine: &Machine, value: T) -> T {
                T::from_word(machine.fetch_add(self.cell, value.to_word(), |sum| T::from_word(sum).to_word()))
            }

            fn clean(&self, machine: &Machine) {
                machine.maintain(self.cell, false);
            }

            fn clean_invalidate(&self, machine: &Machine) {
                machine.maintain(self.cell, true);
            }
        }
    };
}

shared_cell!(psci);
shared_cell!(psci_faults);
