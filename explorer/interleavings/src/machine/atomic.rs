//! Read-modify-writes of shared words, as operations of the CPU that runs.

use super::choice::Kind;
use super::failure::Invariant;
use super::state::Machine;
use super::step::{Fence, Operation};
use crate::memory::AtomicOrder;

/// What a compare-and-swap does.
pub const COMPARES: &str = "puts another value, if the one expected is there, in the place of";

impl Machine {
    /// Adds to a word; `wrap` cuts the sum to its width. The value before.
    pub fn fetch_add(
        &self,
        cell: u16,
        value: u64,
        order: AtomicOrder,
        wrap: impl Fn(u64) -> u64,
    ) -> u64 {
        let change = |before: u64| Some(wrap(before.wrapping_add(value)));
        self.update(cell, order, "adds to", value, &change)
    }

    /// Stores `value`, and returns what the word held.
    pub fn swap(&self, cell: u16, value: u64, order: AtomicOrder) -> u64 {
        let what = "puts another value in the place of";
        self.update(cell, order, what, value, &|_| Some(value))
    }

    /// Stores `value` if the word holds `expected`, and returns what it held.
    ///
    /// # Errors
    /// It holds another value, which is returned.
    pub fn compare_exchange(
        &self,
        cell: u16,
        expected: u64,
        value: u64,
        order: AtomicOrder,
    ) -> Result<u64, u64> {
        let change = |before| (before == expected).then_some(value);
        let before = self.update(cell, order, COMPARES, value, &change);
        if before == expected {
            Ok(before)
        } else {
            Err(before)
        }
    }

    /// Changes a word in one step: `change` makes the new value of the present one, or leaves it.
    /// The value before. `what` is the change, as in "sets bits of", and `with` its operand.
    ///
    /// A core without LSE does it with exclusives, again until the store succeeds. An attempt that
    /// fails changes nothing, and none is tried: others may go between load and store, and what is
    /// stored may come late, which is the same.
    pub fn update(
        &self,
        cell: u16,
        order: AtomicOrder,
        what: &'static str,
        with: u64,
        change: &dyn Fn(u64) -> Option<u64>,
    ) -> u64 {
        self.start_atomic(cell, order, what, with);
        self.change(cell, order, change)
    }

    /// A single attempt, which may fail for no reason on a core without LSE.
    ///
    /// # Errors
    /// It failed: the value that the word holds.
    pub fn try_update(
        &self,
        cell: u16,
        order: AtomicOrder,
        what: &'static str,
        with: u64,
        change: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        self.start_atomic(cell, order, what, with);
        let would_store = change(self.memory.borrow().newest(cell)).is_some();
        let fails = !self.settings.core.get().lse
            && would_store
            && self.answer(Kind::ExclusiveFails, 2) == 1;
        let before = self.change(cell, order, &|before| change(before).filter(|_| !fails));
        if fails { Err(before) } else { Ok(before) }
    }

    fn change(&self, cell: u16, order: AtomicOrder, change: &dyn Fn(u64) -> Option<u64>) -> u64 {
        let is_pair = !self.settings.core.get().lse;
        // As Linux has it: the barrier is only behind what was stored.
        let (order, fences) = match order {
            AtomicOrder::Full if is_pair => (AtomicOrder::Release, true),
            order => (order, false),
        };
        let (mut before, mut after) = (0, None);
        let change = |before| {
            after = change(before);
            after
        };
        self.with_memory(|memory, process, asked| {
            before = memory.atomic(process, cell, order, is_pair, change, asked)
        });
        self.mix(before);
        self.note_update(cell, before, after.is_some_and(|after| after != before));
        if fences && after.is_some() {
            self.fence(Fence::Full);
        }
        before
    }

    fn start_atomic(&self, cell: u16, order: AtomicOrder, what: &'static str, value: u64) {
        if order.releases() {
            self.settle();
        } else {
            self.settle_word(cell)
        }
        self.operation(Operation::Update { cell, what, value });
        self.mix_stored(value);
        let process = self.process();
        if process < self.cpus.len() {
            self.cpus[process].forget_polled();
            self.cpus[process].last_atomic.set(cell);
        }
        if !self.memory.borrow().is_coherent(process) {
            self.fail(
                Invariant::Atomic,
                "an atomic is used by a CPU that is not in coherency: nothing makes it one step for the others"
                    .to_owned(),
            );
        }
    }

    /// To a loop that waits, a read-modify-write that leaves its word's value as it is, is a load.
    fn note_update(&self, cell: u16, before: u64, changed: bool) {
        if changed {
            self.ends_spin();
        } else if self.settings.spins.get() {
            self.note_spin(self.process(), cell, before);
        }
    }
}
