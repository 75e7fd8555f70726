//! CPU_ON, CPU_OFF and CPU_FREEZE (PSCI DEN0022, 5.6, 5.5 and 5.17).

use crate::error::Error;
use crate::platform::Platform;
use crate::points::psci as point;
use crate::power_down::Abandonment;
use crate::psci::Psci;
use crate::state::{CPU_LEVEL, CompositeState};
use crate::storage::{Affinity, Sleep};
use crate::transition::PowerDown;
use crate::tree::{Caller, names_a_cpu};
use crate::trusted_os::TrustedOs;

impl<'a, P: Platform> Psci<'a, P> {
    /// CPU_ON. Until the target's state allows it nothing is written; and the slot that is written
    /// then is not the one through which a suspended CPU resumes.
    pub(crate) fn cpu_on(
        &self,
        me: Caller<'a, P>,
        mpidr: u64,
        entry: (u64, u64),
    ) -> Result<(), Error> {
        names_a_cpu(mpidr)?;
        let (cpu, target) = self.target(mpidr)?;
        if !self.platform.is_valid_entry_point(entry.0) {
            return Err(Error::InvalidAddress);
        }
        let lock = self.cpu_lock(cpu, target);
        lock.acquire(self.platform, me.cpu);
        let result = match target.affinity.load(self.platform) {
            Affinity::On => Err(Error::AlreadyOn),
            Affinity::OnPending => Err(Error::OnPending),
            Affinity::Off => {
                target.on_entry.store(self.platform, entry);
                // Before the message: the target may be in its warm boot path before the message
                // returns.
                target.affinity.store(self.platform, Affinity::OnPending);
                if self.platform.coherent_power_down() {
                    // Without cache maintenance no barrier has completed the store above yet.
                    self.platform.barrier();
                }
                points::detail(self.platform, point::POWER_ON_BEGIN, u32::from(cpu.0));
                let result = self.platform.power_on(cpu);
                points::detail(self.platform, point::POWER_ON_END, u32::from(cpu.0));
                if result.is_err() {
                    target.affinity.store(self.platform, Affinity::Off);
                }
                result
            }
        };
        lock.release(self.platform, me.cpu);
        result
    }

    /// CPU_OFF, which locks up to the top, since the last CPU of any domain may take it down; and
    /// CPU_FREEZE: off to everybody who asks, until a CPU_ON, but the CPU keeps its power, and so
    /// do its ancestors, which never hear of it. Returns only where the CPU did not go down.
    pub(crate) fn turn_off(&self, me: Caller<'a, P>, freezes: bool) -> Result<Abandonment, Error> {
        let (request, top) = match freezes {
            true => (CompositeState::RUN, CPU_LEVEL),
            false => (self.platform.off_state(), self.top),
        };
        let resident = match self.platform.trusted_os() {
            TrustedOs::Migratable(home) | TrustedOs::Fixed(home) => home == me.cpu,
            TrustedOs::Absent => false,
        };
        if resident || !self.platform.power_down_allowed(&request, PowerDown::Off) {
            return Err(Error::Denied);
        }
        self.lock_ancestors(me, top);
        let state = self.coordinate(me, &request, top);
        self.commit(me, &state, top, Sleep::Other);
        Ok(self.power_down(me, &state, top, PowerDown::Off))
    }
}
