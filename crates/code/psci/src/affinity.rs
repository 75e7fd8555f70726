//! AFFINITY_INFO (PSCI DEN0022, 5.7).

use crate::error::Error;
use crate::platform::Platform;
use crate::psci::Psci;
use crate::storage::Affinity;
use crate::tree::{AFFINITY, names_a_cpu};

/// The affinity fields that stay when the lowest 0, 1, 2 or 3 of them are ignored.
const AFFINITY_MASKS: [u64; 4] = [AFFINITY, 0xff_00ff_ff00, 0xff_00ff_0000, 0xff_0000_0000];

impl<P: Platform> Psci<'_, P> {
    /// 0 (ON) if a CPU with these affinity fields is on, else 2 (ON_PENDING) if one is about to be,
    /// else 1 (OFF).
    ///
    /// Levels are affinity fields, not power levels. Level 0 costs one maintained load, a higher
    /// level one for each CPU of it until one is found that is on.
    #[inline]
    pub(crate) fn affinity_info(&self, affinity: u64, lowest_level: u32) -> Result<u64, Error> {
        names_a_cpu(affinity)?;
        if lowest_level == 0 {
            let (_, record) = self.target(affinity)?;
            return Ok(record.affinity.load(self.platform) as u64);
        }
        // A level that the tree lacks has no state.
        let kept = AFFINITY_MASKS
            .get(lowest_level as usize)
            .filter(|_| lowest_level <= u32::from(self.top));
        let kept = *kept.ok_or(Error::InvalidParameters)?;
        let mut result = None;
        for record in self
            .cpus
            .iter()
            .filter(|record| (record.mpidr ^ affinity) & kept == 0)
        {
            match record.affinity.load(self.platform) {
                Affinity::On => return Ok(Affinity::On as u64),
                Affinity::OnPending => result = Some(Affinity::OnPending),
                Affinity::Off => result = result.or(Some(Affinity::Off)),
            }
        }
        result
            .map(|info| info as u64)
            .ok_or(Error::InvalidParameters)
    }
}
