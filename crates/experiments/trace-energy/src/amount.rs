//! Energy, work and time.

use crate::machine::Range;

/// Energy, work and time that belong together; of energy and work the least and the most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amount {
    /// Energy in units of power times nanoseconds.
    pub energy: [u128; 2],
    /// Work: capacity times nanoseconds.
    pub work: [u128; 2],
    /// Time of CPUs in nanoseconds.
    pub ns: u64,
}

impl Amount {
    /// The energy of a power over some nanoseconds.
    pub fn of(power: Range, ns: u64) -> Self {
        Self {
            energy: power.map(|power| u128::from(power) * u128::from(ns)),
            ..Self::default()
        }
    }

    /// Adds another amount.
    pub fn add(&mut self, other: &Self) {
        for end in 0..2 {
            self.energy[end] += other.energy[end];
            self.work[end] += other.work[end];
        }
        self.ns += other.ns;
    }
}
