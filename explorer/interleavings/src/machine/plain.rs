//! Plain data that is watched for data races, and words that are made in the middle of a run.

use super::failure::Invariant;
use super::parts::Counting;
use super::state::Machine;
use std::panic::Location;

impl Machine {
    /// Another word, in the middle of a run.
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
        self.watch_plain(plain, true, place);
        plain
    }

    /// The process that runs accesses plain data at this place of the source: what it reads or
    /// leaves there may decide what others do. It is no operation.
    #[inline]
    pub fn watch_plain(&self, plain: u32, writes: bool, place: &'static Location<'static>) {
        let process = self.process();
        let operation = self.operation_of(process);
        self.record.plain.set(self.record.plain.get() + 1);
        let race = self
            .memory
            .borrow_mut()
            .access_plain(process, plain, writes, operation, place);
        if let Some(race) = race {
            self.record.race.set(Some(race.first));
            let names = self.settings.names.borrow().clone();
            self.fail(
                Invariant::DataRace,
                format!("{}: {}", (names.plain)(names.counts, plain), race.words),
            );
        }
    }
}
