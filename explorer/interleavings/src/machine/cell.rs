//! A shared word, as the machine keeps it.

use super::state::Machine;
use crate::memory::{AtomicOrder, Order};
use cells::Watch;
use std::cell::{Cell, RefCell};
use std::panic::Location;

// `SharedWord::new` has no machine: libraries make their words before there is one.
thread_local! {
    /// The words that were made on this thread and that no machine has taken yet, with what they
    /// hold first.
    static MADE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// The number of marks on plain data.
    static MARKED: Cell<u32> = const { Cell::new(0) };
}

/// Makes words with `make`, and returns what they hold first, in order.
pub fn made_by<R>(make: impl FnOnce() -> R) -> (R, Vec<u64>) {
    MADE.take();
    MARKED.set(0);
    let made = make();
    (made, MADE.take())
}

/// The number of marks that the last [`made_by`] has made.
pub fn marks_made() -> u32 {
    MARKED.get()
}

/// Makes a word that holds `value` first, and returns its number.
pub fn make_word(value: u64) -> u16 {
    MADE.with_borrow_mut(|made| {
        made.push(value);
        u16::try_from(made.len() - 1).expect("a machine has fewer than 65536 words")
    })
}

/// A platform on the machine, which keeps its shared words.
pub trait OnMachine {
    /// The order of the library's read-modify-writes.
    const ATOMICS: AtomicOrder = AtomicOrder::AcquireRelease;

    /// The machine.
    fn machine(&self) -> &Machine;

    /// Loads a word in order with other accesses.
    #[inline(always)]
    fn load_ordered(&self, cell: u16) -> u64 {
        self.machine().load(cell, Order::Ordered)
    }
}

impl OnMachine for Machine {
    #[inline(always)]
    fn machine(&self) -> &Machine {
        self
    }
}

/// Defines a shared word: the number under which the machine keeps it. A crate defines its own to
/// implement a library's traits for it.
#[doc(hidden)]
#[macro_export]
macro_rules! shared_word {
    ($(#[$about:meta])* $word:ident) => {
        $(#[$about])*
        pub struct $word<T> {
            cell: u16,
            of: std::marker::PhantomData<fn() -> T>,
        }

        impl<T> $word<T> {
            /// A word that holds `value` first, as the machine stores it.
            pub fn holding(value: u64) -> Self {
                Self { cell: $crate::subject::make_word(value), of: std::marker::PhantomData }
            }

            /// The number under which the machine keeps the word.
            pub fn number(&self) -> u16 {
                self.cell
            }
        }

        impl<T: $crate::subject::cells::Scalar, P: $crate::subject::OnMachine> $crate::subject::cells::SharedWord<T, P> for $word<T> {
            fn new(value: T) -> Self {
                Self::holding(value.to_word())
            }

            fn load(&self, on: &P) -> T {
                T::from_word(on.load_ordered(self.cell))
            }

            fn store(&self, on: &P, value: T) {
                on.machine().store(self.cell, value.to_word(), $crate::subject::Order::Ordered);
            }

            fn fetch_add(&self, on: &P, value: T) -> T {
                T::from_word(on.machine().fetch_add(self.cell, value.to_word(), P::ATOMICS, |sum| T::from_word(sum).to_word()))
            }
        }

        impl<T: $crate::subject::cells::Scalar, P: $crate::subject::OnMachine> $crate::subject::cells::SharedAtomic<T, P> for $word<T> {
            fn swap(&self, on: &P, value: T) -> T {
                T::from_word(on.machine().swap(self.cell, value.to_word(), P::ATOMICS))
            }

            fn compare_exchange(&self, on: &P, current: T, new: T) -> Result<T, T> {
                let (expected, value) = (current.to_word(), new.to_word());
                let before = on.machine().compare_exchange(self.cell, expected, value, P::ATOMICS);
                before.map(T::from_word).map_err(T::from_word)
            }

            fn fetch_or(&self, on: &P, bits: T) -> T {
                let value = bits.to_word();
                T::from_word(on.machine().update(self.cell, P::ATOMICS, "sets bits of", value, &|before| Some(before | value)))
            }

            fn fetch_and(&self, on: &P, bits: T) -> T {
                let value = bits.to_word();
                T::from_word(on.machine().update(self.cell, P::ATOMICS, "masks", value, &|before| Some(before & value)))
            }

            fn load_acquire(&self, on: &P) -> T {
                T::from_word(on.machine().load(self.cell, on.machine().acquiring()))
            }
        }
    };
}

crate::shared_word! {
    /// A shared word: the number under which the machine keeps it.
    Word
}

/// A mark on plain data that is there before anybody runs: its number among those of the machine,
/// within [`made_by`] from 0.
pub struct Mark(u32);

impl<P: OnMachine> Watch<P> for Mark {
    fn new() -> Self {
        Self(MARKED.replace(MARKED.get() + 1))
    }

    #[track_caller]
    fn reads(&self, on: &P) {
        on.machine()
            .watch_plain(self.0, false, Location::caller(), None);
    }

    #[track_caller]
    fn writes(&self, on: &P) {
        on.machine()
            .watch_plain(self.0, true, Location::caller(), None);
    }
}
