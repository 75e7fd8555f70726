//! The PSCI library, explored: CPUs that turn each other on and off and suspend, on hardware that may refuse.

mod controller;
mod frame;
mod library;
mod platform;
mod scenario;
mod session;

use crate::options::{Limits, MachineOptions};
use crate::run::Runs;
use crate::subject::{Subject, sealed};
use engine::SplitMix64;
use library::{with_faults, with_sound};
pub use scenario::{Ask, Scenario, ScenarioError};
use seeded::Fault;
use session::with_session;

/// The PSCI library, sound or with a fault.
#[derive(Clone, Debug)]
pub struct Psci {
    /// Number of CPUs, 1 to [`crate::MOST_CPUS`].
    pub cpus: usize,
    /// How the machines are built on which it is tried, in turn. At least one.
    pub machines: Vec<MachineOptions>,
    /// The fault that the library has, if any.
    pub fault: Option<&'static Fault>,
}

impl Subject for Psci {
    const NAME: &'static str = "psci";
}

#[expect(private_bounds, reason = "as the trait says")]
impl sealed::Opens for Psci {
    type Machine = MachineOptions;
    type Script = Scenario;

    // A machine has to boot before its first run.
    const ROUND: u64 = 1024;

    fn machines(&self) -> &[MachineOptions] {
        &self.machines
    }

    fn draw(&self, _: MachineOptions, script: &mut Scenario, random: &mut SplitMix64) {
        script.draw(random, self.cpus);
    }

    fn open<R>(&self, machine: MachineOptions, limits: Limits, use_it: impl FnOnce(&mut dyn Runs<Scenario>) -> R) -> R {
        let mut options = machine;
        match self.fault.map(|fault| fault.name) {
            Some("outside-locks") => options.outside_locks = true,
            Some("shared-line") => options.cells_per_line = 2,
            _ => {}
        }
        seeded::set(self.fault);
        let result = match self.fault {
            None => with_sound(self.cpus, options, |machine, library| with_session(machine, library, limits, use_it)),
            Some(_) => {
                with_faults(self.cpus, options, |machine, library| with_session(machine, library, limits, use_it))
            }
        };
        seeded::set(None);
        result
    }
}
