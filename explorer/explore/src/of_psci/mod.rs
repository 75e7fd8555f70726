//! The PSCI library, explored: CPUs that turn each other on and off and suspend, on hardware that
//! may refuse.

mod acts;
mod board;
mod controller;
mod frame;
mod hook;
mod layout;
mod ledger;
mod library;
mod names;
mod options;
mod passed;
mod platform;
mod port;
mod reached;
mod scenario;
mod session;

pub use board::{About, Board, HooksFile, Port};
use engine::SplitMix64;
pub use hook::Hook;
use interleavings::subject::{Counter, Kinds, Limits, Names, Runs, Subject};
pub use layout::Own;
use library::with_library;
pub use options::MachineOptions;
pub use scenario::{Ask, Scenario};
use seeded::Fault;
use session::with_session;

/// The PSCI library, sound or with a fault.
#[derive(Clone, Debug)]
pub struct Psci {
    /// Number of CPUs, 1 to [`crate::MOST_CPUS`].
    pub cpus: usize,
    /// Machines on which the library is tried, in turn; at least one.
    pub machines: Vec<MachineOptions>,
    /// The fault that the library has, if any.
    pub fault: Option<&'static Fault>,
    /// The port whose hooks its board has, if any.
    pub port: Option<&'static dyn Port>,
}

impl Subject for Psci {
    type Machine = MachineOptions;
    type Script = Scenario;

    const NAME: &'static str = "psci";
    const LAST: &'static str = "the power controller";
    // A machine has to boot before its first run.
    const ROUND: u64 = 1024;

    fn machines(&self) -> &[MachineOptions] {
        &self.machines
    }

    fn draw(&self, _: MachineOptions, script: &mut Scenario, random: &mut SplitMix64) {
        script.draw(random, self.cpus);
    }

    fn counted(&self) -> Vec<Counter> {
        reached::counted()
    }

    fn kinds(&self) -> Kinds {
        Kinds {
            words: names::KINDS as u16,
            actors: reached::ACTORS,
            places: psci_faults::PLACES.len(),
        }
    }

    fn open<R>(
        &self,
        machine: MachineOptions,
        limits: Limits,
        use_it: impl FnOnce(&mut dyn Runs<Scenario>) -> R,
    ) -> R {
        let mut options = machine;
        match self.fault.map(|fault| fault.name) {
            Some("outside-locks") => options.outside_locks = true,
            Some("shared-line") => options.cells_per_line = 2,
            _ => {}
        }
        seeded::set(self.fault);
        // What an earlier machine has reached is not this one's.
        seeded::take_reached(psci_faults::PLACES.len(), &mut |_| ());
        let result = with_library(self.cpus, options, self.port, |board, library| {
            with_session(board, library, limits, use_it)
        });
        seeded::set(None);
        result
    }

    fn names(&self, machine: MachineOptions, script: &Scenario) -> (Names, u16) {
        let names = names::names(
            board::shape_of(script.cpus.len(), self.port),
            board::variables_of(self.port),
        );
        (names, machine.cells_per_line as u16)
    }
}
