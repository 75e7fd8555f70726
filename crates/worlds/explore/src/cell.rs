//! A shared word of the libraries, on whatever stands on the machine.

use cells::{Scalar, SharedAtomic, SharedWord, Watch};
use interleavings::subject::{Did, OnMachine, Order, make_mark, make_word};
use std::marker::PhantomData;
use std::panic::Location;

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

/// A mark on plain data: its number among those of the machine.
pub struct Mark(u32);

impl<P: OnMachine> Watch<P> for Mark {
    fn new() -> Self {
        Self(make_mark())
    }

    #[track_caller]
    fn reads(&self, on: &P) {
        on.machine().watch_plain(self.0, false, Location::caller());
    }

    #[track_caller]
    fn writes(&self, on: &P) {
        on.machine().watch_plain(self.0, true, Location::caller());
    }
}
