//! A shared word, as the machine keeps it.

use crate::machine::Machine;
use crate::memory::{AtomicOrder, Order};
use crate::step::Did;
use cells::{Scalar, SharedAtomic, SharedWord};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

thread_local! {
    /// The words that were made on this thread and that no machine has taken yet, with what they
    /// hold first.
    static MADE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// The number of marks on plain data.
    static MARKED: Cell<u32> = const { Cell::new(0) };
}

/// A shared word: the number under which the machine keeps it.
pub struct Word<T> {
    cell: u16,
    of: PhantomData<fn() -> T>,
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

/// Makes a mark on plain data that is there before anybody runs, and returns its number: within
/// [`made_by`] they are numbered from 0.
pub fn make_mark() -> u32 {
    MARKED.replace(MARKED.get() + 1)
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

impl<T: Scalar, P: OnMachine> SharedWord<T, P> for Word<T> {
    fn new(value: T) -> Self {
        Self { cell: make_word(value.to_word()), of: PhantomData }
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

impl<T: Scalar, P: OnMachine> SharedAtomic<T, P> for Word<T> {
    fn swap(&self, on: &P, value: T) -> T {
        T::from_word(on.machine().swap(self.cell, value.to_word(), P::ATOMICS))
    }

    fn compare_exchange(&self, on: &P, current: T, new: T) -> Result<T, T> {
        let (expected, value) = (current.to_word(), new.to_word());
        let did = Did::CompareExchange { cell: self.cell, value };
        let change = |before| (before == expected).then_some(value);
        let before = on.machine().update(self.cell, P::ATOMICS, did, value, change);
        if before == expected { Ok(current) } else { Err(T::from_word(before)) }
    }

    fn fetch_or(&self, on: &P, bits: T) -> T {
        let value = bits.to_word();
        let did = Did::Update { cell: self.cell, what: "sets bits of", value };
        T::from_word(on.machine().update(self.cell, P::ATOMICS, did, value, |before| Some(before | value)))
    }

    fn fetch_and(&self, on: &P, bits: T) -> T {
        let value = bits.to_word();
        let did = Did::Update { cell: self.cell, what: "masks", value };
        T::from_word(on.machine().update(self.cell, P::ATOMICS, did, value, |before| Some(before & value)))
    }

    fn load_acquire(&self, on: &P) -> T {
        T::from_word(on.machine().load(self.cell, on.machine().acquiring()))
    }
}

impl<T: Scalar> Word<T> {
    /// Reads the word in no order with other accesses, as `LDR` does.
    pub fn load_relaxed(&self, on: &impl OnMachine) -> T {
        T::from_word(on.machine().load(self.cell, Order::Relaxed))
    }

    /// Writes the word in no order with other accesses, as `STR` does.
    pub fn store_relaxed(&self, on: &impl OnMachine, value: T) {
        on.machine().store(self.cell, value.to_word(), Order::Relaxed);
    }

    /// The newest value, once all CPUs are done.
    pub fn load_at_the_end(&self, on: &impl OnMachine) -> T {
        T::from_word(on.machine().memory.borrow().newest(self.cell))
    }
}
