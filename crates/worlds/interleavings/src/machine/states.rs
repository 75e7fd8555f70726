//! Hashes of what a run has done, and states from which all was tried.

use super::state::Machine;
use std::cell::Cell;
use std::collections::HashSet;

impl Machine {
    /// The hash that distinguishes this run from another one: all operations with their values, in
    /// order.
    pub fn hash(&self) -> u64 {
        self.states.hash.get()
    }

    /// The version of plain data that the process reads, or another one that it writes: what it
    /// does next may depend on it.
    pub(crate) fn mix_plain(&self, plain: u32, writes: bool) {
        let mut versions = self.states.versions.borrow_mut();
        if versions.len() <= plain as usize {
            versions.resize(plain as usize + 1, 0);
        }
        self.mix(versions[plain as usize]);
        if writes {
            versions[plain as usize] = self.states.own_hashes[self.process()].get();
        }
    }

    #[inline(always)]
    pub(crate) fn mix(&self, value: u64) {
        let mixed = |hash: u64| (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        self.states.hash.set(mixed(self.states.hash.get()));
        let own = &self.states.own_hashes[self.process()];
        own.set(mixed(own.get()));
    }

    /// Ends the run if it has come, by choices that are new, to a state from which all was tried.
    #[cold]
    pub(super) fn prune(&self, process: usize) {
        let Some((preemptions, acts)) = self.choices.chooser.borrow().left_at_a_new_choice() else { return };
        let mut state = vec![process as u64, u64::from(preemptions) << 32 | u64::from(acts), self.turns.awake.get()];
        state.extend(self.states.own_hashes.iter().map(Cell::get));
        state.extend(self.states.versions.borrow().iter());
        state.extend(self.cpus.iter().map(|cpu| u64::from(cpu.event.get())));
        self.memory.borrow().state(&mut state);
        if !self.states.known.borrow_mut().as_mut().is_none_or(|known| known.insert(state)) {
            self.cut();
        }
    }

    /// Forgets all states from which all was tried.
    pub(crate) fn forget_known(&self) {
        self.states.known.borrow_mut().iter_mut().for_each(HashSet::clear);
    }

    /// Ends each run where it comes to a state from which all was tried, or does not.
    pub(crate) fn keep_known(&self, keep: bool) {
        self.states.known.replace(keep.then(HashSet::new));
    }
}
