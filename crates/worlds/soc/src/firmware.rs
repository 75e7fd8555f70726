//! The software of the machine: PSCI at EL3, and whatever runs in the normal world.

use crate::Soc;
use crate::cpu::CpuState;
use crate::entry::Entry;
use psci::{Outcome, Psci};

/// The software of the machine.
pub struct Firmware<'a> {
    pub(crate) soc: &'a Soc,
    pub(crate) psci: &'a Psci<'a, Soc>,
    /// The code of a CPU that enters the normal world: the one that the machine starts with, or
    /// another.
    pub(crate) world: &'a dyn Fn(bool),
}

impl Firmware<'_> {
    /// Runs a frame of a process: hardware, firmware or normal world, as `entry` says.
    pub fn run_frame(&self, process: usize, entry: Entry) {
        let soc = self.soc;
        match entry {
            Entry::Service if process == soc.timer_process() => soc.run_timer(),
            Entry::Service if process > soc.timer_process() => {
                soc.run_power_unit(process - soc.unit_process(0))
            }
            Entry::Service => soc.run_channel(process - soc.cpus.len()),
            Entry::ColdBoot => {
                soc.cpus[process].caches_on.set(true);
                soc.domains_on[soc.machine.platform.topology.cpus[process].domain].set(true);
                soc.enter_state(process, CpuState::Running);
                self.psci.boot();
                (self.world)(true);
            }
            Entry::Smc => self.smc(process),
            Entry::Down => {
                let resumes = soc.cpus[process].state.get() == CpuState::Suspended;
                soc.run_powered_down();
                let _entry_point = self.psci.warm_boot();
                if resumes {
                    // The frame below is the normal world, whose suspend now returns.
                    soc.cpus[process].result.set(Some([0; 4]));
                } else {
                    (self.world)(false);
                }
            }
        }
    }

    fn smc(&self, cpu: usize) {
        let this = &self.soc.cpus[cpu];
        let Some(call) = this.call.take() else { return };
        // The first call after a power-up finds its code in no cache.
        let warm = self
            .soc
            .machine
            .costs
            .smc_warm
            .filter(|_| this.has_called.replace(true));
        self.soc.advance(warm.unwrap_or(this.costs.smc));
        match self.psci.handle_smc(call) {
            Outcome::Return(registers) => this.result.set(Some(registers)),
            Outcome::Enter(_) => unreachable!("the SCP completes every power-down that it takes"),
        }
    }
}
