//! The RCU library, explored: CPUs that read, replace, switch tasks, idle and go off, on a kernel
//! that is as small as can be.

mod acts;
mod kernel;
mod library;
mod names;
mod oracle;
mod platform;
mod scenario;
mod session;
mod thread;

use engine::SplitMix64;
use interleavings::subject::{Counter, Kinds, Limits, Names, Runs, Subject};
pub use scenario::{Action, Idle, KernelScenario, Mode, Urgency};
use seeded::Fault;

/// The RCU library, sound or with a fault.
#[derive(Clone, Debug)]
pub struct Rcu {
    /// Number of CPUs, 2 to [`crate::MOST_CPUS`].
    pub cpus: usize,
    /// Configurations of RCU, in turn; at least one.
    pub modes: Vec<Mode>,
    /// The fault that the library has, if any.
    pub fault: Option<&'static Fault>,
}

impl Subject for Rcu {
    type Machine = Mode;
    type Script = KernelScenario;

    const NAME: &'static str = "rcu";
    const LAST: &'static str = names::CLOCK;
    const ROUND: u64 = 64;

    fn machines(&self) -> &[Mode] {
        &self.modes
    }

    fn draw(&self, mode: Mode, script: &mut KernelScenario, random: &mut SplitMix64) {
        script.draw(mode, random, self.cpus);
    }

    fn counted(&self) -> Vec<Counter> {
        library::counted()
    }

    fn kinds(&self) -> Kinds {
        let (words, actors) = (names::KINDS as u16, 2 * Action::KINDS);
        Kinds {
            words,
            actors,
            places: rcu_faults::PLACES.len(),
        }
    }

    fn open<R>(
        &self,
        mode: Mode,
        limits: Limits,
        use_it: impl FnOnce(&mut dyn Runs<KernelScenario>) -> R,
    ) -> R {
        seeded::set(self.fault);
        // What an earlier machine has reached is not this one's.
        seeded::take_reached(rcu_faults::PLACES.len(), &mut |_| ());
        let result = session::with_session(self.cpus, mode, limits, use_it);
        seeded::set(None);
        result
    }

    fn names(&self, mode: Mode, script: &KernelScenario) -> (Names, u16) {
        (session::names(mode, script), 1)
    }
}

impl Rcu {
    /// The limits of a run of a kernel: its clock passes through hundreds of jiffies.
    pub const LIMITS: Limits = Limits { steps: 200_000 };
}
