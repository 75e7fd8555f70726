//! Plain data that is watched for data races.

use super::races::{Race, Races};
use super::state::Memory;
use super::types::AddressStore;
use crate::operation::OperationIndex;
use std::panic::Location;

impl Memory {
    /// Watches this many pieces of plain data, which nobody has touched, for data races in the run
    /// that starts.
    pub fn watch_plain(&mut self, count: u32) {
        let processes = self.views.len() + 1;
        let races = self
            .races
            .get_or_insert_with(|| Box::new(Races::new(processes, "CPU")));
        (0..count).for_each(|_| _ = races.make_plain());
    }

    /// Watches all plain data for data races, from the next run on.
    pub(crate) fn watch_all_plain(&mut self) {
        self.races = Some(Box::new(Races::new(self.views.len() + 1, "thread")));
    }

    /// Another piece of plain data, in the middle of a run; 0 where none is watched.
    pub(crate) fn make_plain(&mut self) -> u32 {
        self.races.as_mut().map_or(0, |races| races.make_plain())
    }

    /// The store of the value that the CPU has loaded from a word, which is an address.
    pub(crate) fn address_store(&self, cpu: usize, cell: u16) -> AddressStore {
        let at = self.known[self.known_at(cell, true, cpu)];
        let stores = self.cells[usize::from(cell)].coherent.messages();
        let tag = stores
            .iter()
            .find(|store| store.at == at)
            .map_or(0, |store| store.tag);
        AddressStore { cell, at, tag }
    }

    /// The CPU accesses plain data at a place of the source: the race, if it is one.
    #[inline]
    pub(crate) fn access_plain(
        &mut self,
        cpu: usize,
        plain: u32,
        writes: bool,
        operation: OperationIndex,
        place: &'static Location<'static>,
        through: Option<AddressStore>,
    ) -> Option<Race> {
        let races = self.races.as_mut()?;
        let race = races.access(cpu, plain, writes, operation, place)?;
        // As if the load of the address had acquired.
        races.loads(cpu, true, through.map_or(0, |store| store.tag));
        let by_address = races.access(cpu, plain, writes, operation, place).is_none();
        Some(Race { by_address, ..race })
    }
}
