//! The RCU library, explored: CPUs that read, replace, switch tasks, idle and go off, on a kernel
//! that is as small as can be.

mod acts;
mod compiled;
mod kernel;
mod library;
mod names;
mod oracle;
mod scenario;
mod session;
mod thread;

use engine::SplitMix64;
pub use scenario::{Action, KernelScenario, KernelScenarioError, Mode, Urgency};
use seeded::Fault;
use stopwatt_explore::subject::{Kinds, Limits, Narrator, Opens, Runs, Subject};

/// The RCU library, sound or with a fault.
#[derive(Clone, Debug)]
pub struct Rcu {
    /// Number of CPUs, 2 to [`crate::MOST_CPUS`].
    pub cpus: usize,
    /// The way in which RCU is configured, in turn. At least one.
    pub modes: Vec<Mode>,
    /// The fault that the library has, if any.
    pub fault: Option<&'static Fault>,
}

impl Subject for Rcu {
    const NAME: &'static str = "rcu";
}

impl Opens for Rcu {
    type Machine = Mode;
    type Script = KernelScenario;

    const ROUND: u64 = 64;

    fn machines(&self) -> &[Mode] {
        &self.modes
    }

    fn draw(&self, mode: Mode, script: &mut KernelScenario, random: &mut SplitMix64, _: &[u64]) {
        script.draw(mode, random, self.cpus);
    }

    fn kinds(&self) -> Kinds {
        Kinds { words: 0, actors: 0, places: rcu_faults::PLACES.len() }
    }

    fn open<R>(
        &self,
        mode: Mode,
        limits: Limits,
        watched: bool,
        use_it: impl FnOnce(&mut dyn Runs<KernelScenario>) -> R,
    ) -> R {
        seeded::set(self.fault);
        let result = session::with_session(self.cpus, mode, self.fault.is_some() || watched, limits, use_it);
        seeded::set(None);
        result
    }
}

/// The process that is no CPU.
pub const CLOCK: &str = "the clock";

impl Rcu {
    /// The limits of a run of a kernel: its clock passes through hundreds of jiffies.
    pub const LIMITS: Limits = Limits { steps: 200_000 };

    /// Puts a run of the library on this kernel into words.
    pub fn narrator(script: &KernelScenario, mode: Mode) -> Narrator<'_, KernelScenario> {
        Narrator::new(script, session::names(mode, script), 1, CLOCK)
    }
}
