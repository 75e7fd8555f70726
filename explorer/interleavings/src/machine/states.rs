//! Hashes of what a run has done.

use super::state::Machine;

impl Machine {
    /// The hash that distinguishes this run from another one: all operations with their values, in
    /// order.
    pub fn hash(&self) -> u64 {
        self.record.hash.get()
    }

    #[inline(always)]
    pub(crate) fn mix(&self, value: u64) {
        let mixed = (self.record.hash.get() ^ value)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(23);
        self.record.hash.set(mixed);
    }
}
