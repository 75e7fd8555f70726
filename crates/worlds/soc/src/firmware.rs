//! The software of the machine: PSCI at EL3 and a procedure in the normal world.

use crate::Soc;
use crate::cpu::CpuState;
use crate::entry::Entry;
use crate::normal_world::SimWorld;
use psci::{Outcome, Psci};
use psci_cases::Case;

/// The software of the machine: PSCI at EL3 and a procedure in the normal world.
pub(crate) struct Firmware<'a> {
    pub(crate) soc: &'a Soc,
    pub(crate) psci: &'a Psci<'a, Soc>,
    /// The procedure of the normal world, and how often it is repeated.
    pub(crate) case: Case,
    pub(crate) iterations: u32,
    /// The CPU that leads the procedure.
    pub(crate) lead: usize,
}

impl Firmware<'_> {
    /// Runs a frame of a process: hardware, firmware or normal world, as `entry` says.
    pub(crate) fn run_frame(&self, process: usize, entry: Entry) {
        let soc = self.soc;
        match entry {
            Entry::Service if process == soc.timer_process() => soc.run_timer(),
            Entry::Service => soc.run_channel(process - soc.cpus.len()),
            Entry::ColdBoot => {
                soc.cpus[process].caches_on.set(true);
                soc.domains_on[soc.machine.platform.topology.cpus[process].domain].set(true);
                soc.enter_state(process, CpuState::Running);
                self.psci.boot();
                self.procedure(true);
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
                    self.procedure(false);
                }
            }
        }
    }

    fn smc(&self, cpu: usize) {
        let this = &self.soc.cpus[cpu];
        let Some(call) = this.call.take() else { return };
        self.soc.advance(this.costs.smc);
        match self.psci.handle_smc(call) {
            Outcome::Return(registers) => this.result.set(Some(registers)),
            Outcome::Enter(_) => unreachable!("the SCP completes every power-down that it takes"),
        }
    }

    fn procedure(&self, leads: bool) {
        let soc = self.soc;
        let world = SimWorld { soc, lead: self.lead };
        let result = if leads {
            (0..self.iterations).try_for_each(|iteration| {
                soc.begin_iteration(iteration);
                psci_cases::lead(&world, self.case)
            })
        } else {
            psci_cases::secondary(&world, self.case)
        };
        match result {
            Ok(()) => soc.finished.set(true),
            Err(failure) => {
                soc.failure.borrow_mut().get_or_insert(failure);
            }
        }
    }
}
