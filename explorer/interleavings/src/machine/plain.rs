//! Plain data that is watched for data races, and words that are made in the middle of a run.

use super::failure::Invariant;
use super::parts::Counting;
use super::state::Machine;
use crate::memory::AddressStore;
use std::panic::Location;

impl Machine {
    /// A count that grows with each operation and each access of plain data.
    pub(crate) fn access_count(&self) -> u64 {
        u64::from(self.step_count()) + self.record.plain.get()
    }

    /// A test looks at a count of references: returns if these are words.
    pub(crate) fn count_references(&self) {
        let counts = &self.settings.counts;
        if counts.get() != Counting::Words {
            if counts.get() == Counting::Unseen {
                counts.set(Counting::Words);
            }
            self.cut();
            self.stay();
        }
    }

    /// Another word, in the middle of a run.
    pub(crate) fn make_word(&self, value: u64, place: &'static Location<'static>) -> u16 {
        self.record.places.borrow_mut().push(place);
        self.memory.borrow_mut().add_word(value)
    }

    /// The newest value of a word, for the one who has it to itself.
    pub(crate) fn value_of(&self, cell: u16) -> u64 {
        let mut memory = self.memory.borrow_mut();
        (0..self.cpus.len()).for_each(|cpu| memory.empty_buffer(cpu));
        memory.newest(cell)
    }

    /// Another piece of plain data, which the process that runs has written.
    pub(crate) fn make_plain(&self, place: &'static Location<'static>) -> u32 {
        let plain = self.memory.borrow_mut().make_plain();
        self.watch_plain(plain, true, place, None);
        plain
    }

    /// The process that runs accesses plain data at this place of the source: what it reads or
    /// leaves there may decide what others do. It is no operation. `through` is the store from which
    /// it has the address.
    #[inline]
    pub fn watch_plain(
        &self,
        plain: u32,
        writes: bool,
        place: &'static Location<'static>,
        through: Option<AddressStore>,
    ) {
        let process = self.process();
        let operation = self.operation_of(process);
        self.record.plain.set(self.record.plain.get() + 1);
        let race = self
            .memory
            .borrow_mut()
            .access_plain(process, plain, writes, operation, place, through);
        if let Some(race) = race {
            self.record.race.set(Some(race.first));
            let names = self.names();
            let mut what = format!("{}: {}", (names.plain)(names.counts, plain), race.words);
            if let Some(store) = through.filter(|_| race.by_address) {
                let from = names.cell(store.cell);
                what += &format!(
                    "; Arm orders them by the address, which was loaded from {from}, and Rust's model does not, unless that load acquires"
                );
            }
            self.fail(Invariant::DataRace, what);
        }
    }

    /// The process that runs has loaded an address from a word. What it does there comes after the
    /// store of the address (DDI 0487, B2.3: Dependency-ordered-before).
    pub(crate) fn note_pointer(&self, cell: u16, address: usize, bytes: usize) {
        let process = self.process();
        let store = self.memory.borrow().address_store(process, cell);
        let mut pointers = self.record.pointers.borrow_mut();
        pointers.insert((process, address), (bytes, store));
    }

    /// The store of the address of this, if the process that runs has loaded that. That it got
    /// there by another way is not known.
    #[inline]
    pub(crate) fn address_store<T: ?Sized>(&self, to: &T) -> Option<AddressStore> {
        let to = (self.process(), std::ptr::from_ref(to).addr());
        let pointers = self.record.pointers.borrow();
        if pointers.is_empty() {
            return None;
        }
        let (from, (bytes, store)) = pointers.range(..=to).next_back()?;
        (from.0 == to.0 && to.1 < from.1 + bytes).then_some(*store)
    }
}
