//! PSCI_STAT_RESIDENCY and PSCI_STAT_COUNT (PSCI DEN0022, 5.22).
//!
//! A stay counts when it ends in a wake-up: from the moment its state was coordinated until the
//! first CPU comes out of it. A power-down that was abandoned does not count.

use crate::platform::Platform;
use crate::psci::Psci;
use crate::state::CPU_LEVEL;

/// Which of the two numbers.
#[derive(Clone, Copy)]
pub(crate) enum Statistic {
    /// Microseconds.
    Residency,
    Count,
}

impl<P: Platform> Psci<'_, P> {
    /// The statistic of the highest domain that `power_state` asks for, seen from the CPU `mpidr`;
    /// 0 for arguments that mean nothing, as the calls have no error.
    pub(crate) fn statistic(&self, mpidr: u64, power_state: u32, which: Statistic) -> u64 {
        let Ok((_, record)) = self.target(mpidr) else {
            return 0;
        };
        let Ok(request) = self.decode(power_state) else {
            return 0;
        };
        let level = request.state.highest();
        let statistics = match level {
            CPU_LEVEL => &record.statistics,
            _ => match self.ancestor(record, level) {
                Some((_, domain)) => &domain.statistics,
                None => return 0,
            },
        };
        let slot = self.platform.stat_slot(level, request.state.at(level));
        let Some(slot) = slot.and_then(|slot| statistics.slots.get(slot)) else {
            return 0;
        };
        match which {
            Statistic::Count => slot.count.load(self.platform),
            Statistic::Residency => microseconds(
                slot.ticks.load(self.platform),
                self.platform.counter_frequency(),
            ),
        }
    }
}

/// Ticks as microseconds, without 128-bit division.
pub(crate) fn microseconds(ticks: u64, frequency: u64) -> u64 {
    if frequency == 0 {
        return 0;
    }
    let (seconds, rest) = (ticks / frequency, ticks % frequency);
    seconds
        .saturating_mul(1_000_000)
        .saturating_add(rest.saturating_mul(1_000_000) / frequency)
}
